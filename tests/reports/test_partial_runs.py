"""A run that failed, stopped or has no results still gives a page that says so."""

import itertools
import json
from pathlib import Path

import pytest
from tests.reports.grid_making import PageParser, run_reviews
from tests.run_copies import change_samples, failed, keep_first
from tests.runs.sealed_files import write_sealed

from episodic_absa.analysis import load_run
from episodic_absa.reports.run_report import REPORT, write_pages


def words_of(directory: Path) -> str:
    write_pages(load_run(directory))
    return PageParser((directory / REPORT).read_text("utf-8")).text


def stop_after(cell: Path, n: int) -> None:
    keep_first(cell, n)
    manifest = json.loads((cell / "manifest.json").read_text("utf-8"))
    write_sealed(cell / "manifest.json", {**manifest, "completed": False})


def test_an_unfinished_cell_is_named_with_how_far_it_came(grid: Path) -> None:
    stop_after(grid / "C2__seed123", 5)
    words = words_of(grid)
    assert "Not finished: 1 of 6 cells (C2__seed123), 5 of 24 samples there." in words
    assert "C2 minus C1" in words


def test_a_cell_that_has_only_begun_has_a_page(grid: Path) -> None:
    stop_after(grid / "C2__seed123", 0)
    assert "No sample has been analysed yet." in words_of(grid / "C2__seed123")


def test_a_grid_of_failures_says_so_and_shows_no_number_it_does_not_have(grid: Path) -> None:
    for cell in grid.glob("*__seed*"):
        change_samples(cell, lambda record, _: failed(record, "timeout"))
    words = words_of(grid)
    assert "samples failed; they are left out of every rate" in words
    first = words.index("samples failed, more than half of those of C1__seed")
    assert first < words.index("Reviews"), "it stands before the facts of the run"
    assert "No review has a value of" in words
    assert "nan" not in words.lower().split()


def test_lost_times_leave_the_figures_standing(grid: Path) -> None:
    for path in grid.glob("*/timings.jsonl"):
        path.unlink()
    words = words_of(grid)
    assert "tuple_f1_explicit" in words
    assert "Time of all calls" not in words


REVIEWS = [{"uid": f"r{place}", "text": f"The food was good, but bill number {place} was not."} for place in range(3)]


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        (["C1"], "Without gold nothing can be said about quality; samples changed after review: C1 "),
        (["C1", "C2"], "No gold: quality, corrections and the baseline have no value."),
    ],
)
def test_a_run_without_gold_speaks_of_changes_only(tmp_path: Path, conditions: list[str], sentence: str) -> None:
    words = words_of(run_reviews(tmp_path, REVIEWS, conditions=conditions))
    assert sentence in words
    assert "There is no gold, so there are no quality values." in words


def test_one_condition_with_gold_is_told_without_a_comparison(tmp_path: Path) -> None:
    gold = [{"uid": row["uid"], "gold_tuples": [{"aspect_term": "food", "polarity": "positive"}]} for row in REVIEWS]
    words = words_of(run_reviews(tmp_path, REVIEWS, gold, conditions=["C1"]))
    assert "No comparison is made here." in words
    assert "No comparison: the page has a single condition" in words


def test_an_integrity_file_that_is_none_counts_as_not_verified(grid: Path) -> None:
    texts = itertools.cycle(("[", '[1, {"check": "x"}]', '[{"check": ["a"], "result": "pass"}]'))
    for path, text in zip(grid.rglob("integrity.json"), texts, strict=False):
        path.write_text(text, "utf-8")
    assert "Not verified yet" in words_of(grid)
