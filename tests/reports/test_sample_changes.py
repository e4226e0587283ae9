"""The sample view lists the changes of rules v3 with their witnesses; without text it quotes nothing."""

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
from episodic_absa.schemas.run_files.change_record import ChangeReason
from episodic_absa.vocabulary import Look, ModeratorRule, Stake

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


def test_a_change_stands_on_the_page_with_its_decision_and_witnesses(default_grid: Path) -> None:
    changes = values_on(default_grid / REPORT, "changes")
    assert [] in changes
    (change,) = next(listed for listed in changes if listed and listed[0][5])
    kind, term, old, new, new_term, adopted, reason, witnesses = change
    assert (kind, term, old, new, new_term) == ("drop", "등본", "positive", None, "")
    assert (adopted, reason) == (True, "adopted")
    assert {who for who, stance, *_ in witnesses if stance == "for"} == {"tan", "judge"}
    assert "silent" not in {stance for _, stance, *_ in witnesses}


def test_without_text_a_change_names_no_term_and_quotes_nothing(default_grid: Path, tmp_path: Path) -> None:
    grid = copied(default_grid, tmp_path)
    write_pages(load_run(grid), with_text=False)
    lists = [listed for listed in values_on(grid / REPORT, "changes") if listed]
    assert lists
    for (change,) in lists:
        assert change[1].startswith("aspect ")
        assert {quote for _, _, quote, *_ in change[-1]} == {""}


def test_the_page_tells_how_closely_an_adaptive_pipeline_looked(default_grid: Path) -> None:
    looks = values_on(default_grid / REPORT, "look")
    assert ["none", []] in looks
    assert ["targets", ["doubted_target"]] in looks


def test_a_page_of_seed_rules_holds_no_changes(reported: Path) -> None:
    assert values_on(reported / REPORT, "changes") == values_on(reported / REPORT, "look") == []


def test_every_reason_of_a_refusal_has_its_words_on_the_page() -> None:
    words = WORDS.read_text("utf-8")
    assert [reason for reason in get_args(ChangeReason) if reason != "adopted" and f"{reason}: " not in words] == []


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("source", get_args(ModeratorOutput.model_fields["label_source"].annotation)),
        ("rule", get_args(ModeratorRule)),
        ("look", get_args(Look)),
        ("stake", get_args(Stake)),
    ],
)
def test_every_code_has_its_words_in_both_languages(kind: str, codes: tuple[str, ...]) -> None:
    block = re.search(rf"\n  {kind}: {{(.*?)\n  }},", WORDS.read_text("utf-8"), re.DOTALL)
    assert block
    assert codes
    assert set(re.findall(r'(\w+): \["[^"]+", "[^"]+"\]', block[1])) == set(codes)
