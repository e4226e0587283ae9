"""The sample view lists the candidates of rules v3 with their witnesses; without text it quotes nothing."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.reports.grid_making import PageParser
from tests.run_copies import copied

import episodic_absa
from episodic_absa.analysis import load_run
from episodic_absa.reports.run_report import REPORT, write_pages
from episodic_absa.schemas.absa import ModeratorOutput
from episodic_absa.schemas.run_files.candidate_record import WITNESSES, CandidateReason
from episodic_absa.vocabulary import POLARITIES, ModeratorRule, Reach

WORDS = Path(episodic_absa.__file__).parent / "reports" / "assets" / "words.js"


def values_on(path: Path, key: str) -> list[Any]:
    """Return the values that the data of a page hold for a key, one per analysis that has it."""
    lists: list[Any] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if key in value:
                lists.append(value[key])
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                collect(item)

    collect(PageParser(path.read_text("utf-8")).unpacked())
    return lists


def test_a_candidate_stands_on_the_page_with_its_decision_and_witnesses(default_grid: Path) -> None:
    listed = values_on(default_grid / REPORT, "candidates")
    dropped = [pair for pairs in listed for pair in pairs if pair[3] and not pair[4]]
    assert dropped
    term, polarity, p, _, _, reason, witnesses = dropped[0]
    assert (term, reason) == ("주민센터", "unlikely")
    assert polarity in POLARITIES
    assert 0 <= p <= 1
    assert {who for who, stance, *_ in witnesses if stance == "against"} >= {"tan", "judge"}


def test_without_text_a_candidate_names_no_term_and_quotes_nothing(default_grid: Path, tmp_path: Path) -> None:
    grid = copied(default_grid, tmp_path)
    write_pages(load_run(grid), with_text=False)
    pairs = [pair for listed in values_on(grid / REPORT, "candidates") for pair in listed]
    assert pairs
    assert all(pair[0].startswith("aspect ") for pair in pairs if pair[0])
    assert {quote for pair in pairs for _, _, quote, _ in pair[-1]} == {""}


def test_the_page_tells_how_far_an_adaptive_pipeline_asked(default_grid: Path) -> None:
    assert set(values_on(default_grid / REPORT, "reach")) <= {"reader", "stage1", "full"}
    assert values_on(default_grid / REPORT, "reach")


def test_a_page_of_seed_rules_holds_no_candidates(reported: Path) -> None:
    assert values_on(reported / REPORT, "candidates") == values_on(reported / REPORT, "reach") == []


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("source", get_args(ModeratorOutput.model_fields["label_source"].annotation)),
        ("rule", get_args(ModeratorRule)),
        ("candidate", get_args(CandidateReason)),
        ("witness", WITNESSES),
        ("reach", get_args(Reach)),
    ],
)
def test_every_code_has_its_words_in_both_languages(kind: str, codes: tuple[str, ...]) -> None:
    block = re.search(rf"\n  {kind}: {{(.*?)\n  }},", WORDS.read_text("utf-8"), re.DOTALL)
    assert block
    assert codes
    assert set(re.findall(r'(\w+): \["[^"]+", "[^"]+"\]', block[1])) == set(codes)
