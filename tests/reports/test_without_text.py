"""A report without text contains no review text: no texts, terms, evidence or words that quote them."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.reports.grid_making import PageParser, read_lines
from tests.run_copies import copied

import episodic_absa
from episodic_absa.analysis import load_run
from episodic_absa.reports.run_report import REPORT, write_pages

RUN = 8
PACKAGE = Path(episodic_absa.__file__).parent


def runs_of(texts: Iterable[str]) -> set[str]:
    return {text[start : start + RUN] for text in texts for start in range(len(text) - RUN + 1)}


def everything_on(path: Path) -> str:
    page = path.read_text("utf-8")
    return page + str(PageParser(page).unpacked())


def texts_of(grid: Path) -> set[str]:
    return {line["text"] for path in grid.glob("*/traces.jsonl") for line in read_lines(path)}


def terms_of(grid: Path) -> set[str]:
    cards = [card for path in grid.glob("*/scorecards.jsonl") for card in read_lines(path)]
    tuples = [item for card in cards for name in ("stage1_tuples", "final_tuples") for item in card[name]]
    gold = [gold_tuple for card in cards for gold_tuple in card["gold_tuples"] or ()]
    return {gold_tuple["aspect_term"] for gold_tuple in [*tuples, *gold] if len(gold_tuple["aspect_term"]) >= 2}


@pytest.fixture(scope="session")
def ours(reported: Path) -> str:
    """The text of the package's own sources, which a review may share (`of the `), and uids and domains."""
    places = [
        *(PACKAGE / "reports").rglob("*.*"),
        *(PACKAGE / "metrics").rglob("*.*"),
        *(PACKAGE / "analysis").rglob("*.*"),
        *(PACKAGE / "verification").rglob("*.*"),
        PACKAGE / "memory" / "advice" / "principles.yaml",
    ]
    texts = [path.read_text("utf-8") for path in places if path.suffix in (".py", ".js", ".css", ".jinja", ".yaml")]
    cards = [card for path in reported.glob("*/scorecards.jsonl") for card in read_lines(path)]
    names = [card[name] for card in cards for name in ("uid", "domain_id", "case_type")]
    return " ".join(" ".join(text.split()) for text in (*texts, *names))


@pytest.fixture(scope="session")
def hostile_page(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of unrelated reviews, without text."""
    grid = copied(hostile, tmp_path_factory.mktemp("others"))
    write_pages(load_run(grid), with_text=False)
    return everything_on(grid / REPORT)


def test_no_eight_characters_of_any_review_stand_on_a_page_without_text(grid: Path, ours: str) -> None:
    runs = runs_of(texts_of(grid))
    assert any(run in everything_on(grid / REPORT) for run in runs)  # with text they do
    write_pages(load_run(grid), with_text=False)
    for path in (grid / REPORT, grid / "C2__seed42" / REPORT, grid / "build__seed42" / REPORT):
        shown = everything_on(path)
        assert sorted(run for run in runs if run in shown and run not in ours) == []


def test_no_korean_aspect_term_stands_on_a_page_without_text(grid: Path, ours: str) -> None:
    write_pages(load_run(grid), with_text=False)
    shown = everything_on(grid / REPORT)
    korean = {term for term in terms_of(grid) if not term.isascii()}
    assert korean
    assert sorted(term for term in korean if term in shown and term not in ours) == []


def test_the_page_says_that_it_is_without_text_and_numbers_the_aspects(grid: Path) -> None:
    write_pages(load_run(grid), with_text=False)
    parser = PageParser((grid / REPORT).read_text("utf-8"))
    assert "Made without review text" in parser.text
    index, *blocks = parser.unpacked()
    assert {row[1] for row in index["rows"]} == {""}
    assert {item["t"] for block in blocks for review in block for item in review["gold"]} >= {
        "aspect 1",
        "aspect 2",
    }


def test_a_hostile_review_leaves_nothing_on_a_page_without_text(hostile: Path, hostile_page: str) -> None:
    for text in texts_of(hostile):
        assert text not in hostile_page
    assert "owned" not in hostile_page
    assert "مطعم" not in hostile_page
