"""A page makes no claim that its intervals do not support."""

from pathlib import Path

import pytest
from tests.reports.grid_making import PageParser
from tests.run_copies import Line, change_samples, no_predictions

from episodic_absa.analysis import load_run
from episodic_absa.metrics.statistics import find_unsupported_claims
from episodic_absa.reports.run_report import REPORT, write_pages


def words_of(grid: Path) -> str:
    return PageParser((grid / REPORT).read_text("utf-8")).own_words


def test_a_page_without_a_clear_difference_holds_no_claim_word_in_vain(reported: Path) -> None:
    for path in (reported, reported / "C2__seed42", reported / "build__seed42"):
        assert find_unsupported_claims(words_of(path)) == ()


def stores_nothing(record: Line, _: Line) -> None:
    record["analysis"]["kept"]["store_decision"] = "skipped"
    record["analysis"]["kept"].pop("stored", None)


@pytest.mark.parametrize(("loser", "verb", "word"), [("C1", "raised", "better"), ("C2", "lowered", "worse")])
def test_a_clear_difference_is_called_by_its_name_beside_its_interval(
    grid: Path, loser: str, verb: str, word: str
) -> None:
    for cell in grid.glob(f"{loser}__seed*"):
        change_samples(cell, no_predictions)
    # Two orders of a memory that grows support no claim, however clear; those of a frozen one count as one.
    for cell in grid.glob("C2__seed*"):
        change_samples(cell, stores_nothing)
    write_pages(load_run(grid))
    words = words_of(grid)
    assert f"C2 {verb} mean F1 (tuple_f1_explicit) compared with C1" in words.replace("\u00a0", " ")
    assert f"C2 significantly {word}" in words.replace("\u00a0", " ")
    assert find_unsupported_claims(words) == ()
    assert "유의" in words  # the same in Korean, under the same condition
