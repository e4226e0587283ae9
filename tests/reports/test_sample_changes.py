"""The sample view lists the changes of rules v2 with their witnesses; without text it quotes nothing."""

from pathlib import Path
from typing import Any, get_args

import pytest
from tests.reports.grid_making import PageParser, run_v2

import episodic_absa
from episodic_absa.analysis.finished_run import load_run
from episodic_absa.reports.run_report import REPORT, write_pages
from episodic_absa.schemas.run_files.change_record import ChangeReason

WORDS = Path(episodic_absa.__file__).parent / "reports" / "assets" / "words.js"


@pytest.fixture(scope="module")
def v2_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_v2(tmp_path_factory.mktemp("v2"))


def changes_on(path: Path) -> list[Any]:
    """Return the changes that the data of a page hold, one list per analysis."""
    lists: list[Any] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if "changes" in value:
                lists.append(value["changes"])
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                collect(item)

    collect(PageParser(path.read_text("utf-8")).unpacked())
    return lists


# CHECKLIST 239
def test_a_change_stands_on_the_page_with_its_decision_and_witnesses(v2_grid: Path) -> None:
    write_pages(load_run(v2_grid))
    changes = changes_on(v2_grid / REPORT)
    assert [] in changes
    (change,) = next(listed for listed in changes if listed)
    kind, term, old, new, new_term, adopted, reason, witnesses = change
    assert (kind, term, old, new, new_term) == ("drop", "water", "neutral", None, "")
    assert (adopted, reason) == (True, "adopted")
    assert {who for who, stance, *_ in witnesses if stance == "for"} == {"tan", "judge"}
    assert "silent" not in {stance for _, stance, *_ in witnesses}


# CHECKLIST 228
def test_without_text_a_change_names_no_term_and_quotes_nothing(v2_grid: Path) -> None:
    write_pages(load_run(v2_grid), with_text=False)
    (change,) = next(listed for listed in changes_on(v2_grid / REPORT) if listed)
    assert change[1].startswith("aspect ")
    assert {quote for _, _, quote, *_ in change[-1]} == {""}


def test_a_page_of_seed_rules_holds_no_changes(reported: Path) -> None:
    assert changes_on(reported / REPORT) == []


def test_every_reason_of_a_refusal_has_its_words_on_the_page() -> None:
    words = WORDS.read_text("utf-8")
    assert [reason for reason in get_args(ChangeReason) if reason != "adopted" and f"{reason}: " not in words] == []
