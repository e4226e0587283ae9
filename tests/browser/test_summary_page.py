"""The summary of a table of reviews in a real browser: read, searched, exported, in both languages, on a phone."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from tests.reports.summary.review_making import hostile_reviews, make_review

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.reports.summary import summarise, write_summary

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_OVERLAPS = """(selector) => {
  const area = document.querySelector(selector).getBoundingClientRect();
  const labels = [...document.querySelectorAll(`${selector} text`)]
    .map((node) => ({ text: node.textContent, box: node.getBoundingClientRect() }));
  const wrong = labels.filter(({ box }) => box.left < area.left - 2 || box.right > area.right + 2);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  labels.forEach((label, place) => {
    wrong.push(...labels.slice(place + 1).filter((other) => meet(label.box, other.box)));
  });
  return wrong.map((label) => label.text);
}"""
_UNTRANSLATED = """(foreign) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (node.closest("script, style, noscript, bdi, #language, #column-name, .review-facts, .rule")) continue;
    if (new RegExp(foreign).test(walker.currentNode.data)) found.push(walker.currentNode.data.trim());
  }
  for (const node of document.querySelectorAll("[aria-label], [placeholder]")) {
    const text = `${node.getAttribute("aria-label")} ${node.getAttribute("placeholder")}`;
    if (!node.closest("#column-chart") && new RegExp(foreign).test(text.replaceAll("null", ""))) found.push(text);
  }
  return found;
}"""


def ordinary_reviews() -> list[AnalysedReview]:
    reviews = []
    for number in range(60):
        columns = {"date": f"2026-{number % 12 + 1:02}-{number % 27 + 1:02}", "제품": f"모델 {number % 4}"}
        if number % 3:
            reviews.append(make_review(f"{number}번 숙소는 방이 넓어요.", ("방", "positive"), language="ko", **columns))
        else:
            text = f"리뷰 {number}: 직원들이 불친절했고 방은 좁았어요."
            reviews.append(make_review(text, ("직원들", "negative"), ("방", "negative"), language="ko", **columns))
    reviews.append(make_review("직원이 그냥 그래요.", ("직원", "neutral"), language="ko", date="2026-07-07"))
    return reviews


@pytest.fixture(scope="module")
def summary_page(tmp_path_factory: pytest.TempPathFactory, chromium_path: str) -> Path:  # noqa: ARG001 - skips before
    path = tmp_path_factory.mktemp("summary") / "page.html"
    write_summary(summarise([*ordinary_reviews(), *hostile_reviews()], source="숙소.csv", failed_n=2), path)
    return path


@contextmanager
def opened(browser: "Browser", path: Path, width: int, **context: Any) -> "Iterator[Page]":
    """Open the page; it must stay quiet and ask for nothing but itself."""
    errors: list[str] = []
    made = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", **context)
    page = made.new_page()
    page.set_default_timeout(15_000)
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: errors.append(request.url) if "page.html" not in request.url else None)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    yield page
    made.close()
    assert [error for error in errors if not error.startswith("blob:")] == []


def test_large_and_lopsided_counts_stay_inside(chromium: "Browser", tmp_path: Path) -> None:
    name = "the lamp beside the bed in the second room of the old house"
    reviews = [make_review("the lamp", ("lamp", "negative"), rating=str(number % 5)) for number in range(3000)]
    write_summary(summarise([*reviews, make_review(name, (name, "positive"), rating="5")]), tmp_path / "page.html")
    with opened(chromium, tmp_path / "page.html", 390) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for chart in ("#aspect-key", "#aspect-0 .aspect-bars", "#aspect-1 .aspect-bars", "#column-chart"):
            assert page.evaluate(_OVERLAPS, chart) == [], chart


def saved(page: "Page", button: str) -> str:
    with page.expect_download() as download:
        page.click(button)
    text: str = download.value.path().read_text("utf-8")
    return text


def test_a_click_on_an_aspect_shows_marked_quotes_and_its_reviews(chromium: "Browser", summary_page: Path) -> None:
    with opened(chromium, summary_page, 1280) as page:
        assert page.inner_text("#aspect-0 .aspect-name") == "방"
        page.focus("#aspect-1")
        page.keyboard.press("Enter")
        assert page.get_attribute("#aspect-1", "aria-expanded") == "true"
        assert page.evaluate("document.activeElement.id") == "aspect-1"
        assert page.inner_text("#quotes-1 .grouped") == "묶은 표현: 직원들 (20), 직원 (1)"
        assert page.locator("#quotes-1 .neg blockquote").count() == 3
        assert page.locator("#quotes-1 .neg mark").first.text_content() == "−부정: 직원들"
        page.click("#quotes-1 .quotes-foot button")
        assert page.inner_text("#found") == "리뷰 21건"
        page.fill("#search", "그냥 그래요")
        assert page.inner_text("#found") == "리뷰 1건"
        assert page.locator("#review-list mark.neu").count() == 1
        page.fill("#search", "없는 말")
        assert page.locator("#review-list li").count() == 0


def test_a_word_of_100_000_letters_is_cut(chromium: "Browser", summary_page: Path) -> None:
    with opened(chromium, summary_page, 1280) as page:
        assert page.evaluate("document.body.innerText.length") < 40_000
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_tables_and_charts_are_saved_safely(chromium: "Browser", summary_page: Path) -> None:
    with opened(chromium, summary_page, 1280) as page:
        aspects = list(csv.reader(io.StringIO(saved(page, "#aspects-csv").removeprefix("\ufeff"))))
        assert aspects[0] == ["aspect", "spellings", "positive", "negative", "neutral", "mentions", "share_positive"]
        assert aspects[1] == ["방", "방", "40", "20", "0", "60", "0.6667"]
        texts = [row[4] for row in csv.reader(io.StringIO(saved(page, "#reviews-csv")))]
        assert "'=HYPERLINK(1) works" in texts
        page.select_option("#time-aspect", "1")
        months = list(csv.reader(io.StringIO(saved(page, "#time-csv"))))
        assert sum(int(row[3]) for row in months[1:]) == 60
        values = list(csv.reader(io.StringIO(saved(page, "#columns-csv").removeprefix("\ufeff"))))
        assert values[1][:4] == ["모델 0", "전체 항목", "15", "20"]
        for button in ("#labels-svg", "#aspects-svg", "#time-svg", "#columns-svg"):
            picture = saved(page, button)
            assert ET.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own file
            assert "var(--" not in picture
            assert "#0b5c96" in picture


def test_the_button_translates_everything(chromium: "Browser", tmp_path: Path) -> None:
    write_summary(summarise(ordinary_reviews(), source="숙소.csv", failed_n=2), tmp_path / "page.html")
    with opened(chromium, tmp_path / "page.html", 1280) as page:
        page.click("#aspect-0")
        page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        assert page.evaluate("document.documentElement.lang") == "ko"
        allowed = "(?:CSV|SVG|Wilson|JavaScript|episodic|absa|date|page|csv)"
        assert page.evaluate(_UNTRANSLATED, rf"(?<![A-Za-z.])(?!{allowed})[A-Za-z]{{3,}}") == []
        page.click("#language")
        assert page.evaluate("document.documentElement.lang") == "en"
        shown = page.evaluate(_UNTRANSLATED, "[가-힣]")
        # Names and terms of the reviews stay as they are.
        names = ("방", "직원", "숙소", "제품", "모델")
        assert [text for text in shown if not any(name in text for name in names)] == []
        assert page.title() == "Review summary · 숙소.csv"
        assert page.get_attribute("#aspect-0", "aria-expanded") == "true"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_no_label_overlaps_and_nothing_scrolls_sideways(
    chromium: "Browser", summary_page: Path, width: int, scheme: Any
) -> None:
    with opened(chromium, summary_page, width, color_scheme=scheme, is_mobile=width < 400) as page:
        page.evaluate(
            "document.querySelectorAll('.aspect').forEach(({ id }) => { document.getElementById(id).click(); })"
        )
        page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        page.fill("#search", "www")
        assert page.locator("#review-list li").count() > 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelectorAll('img').length") == 0
        for chart in ("#labels-chart", "#aspect-key", "#time-chart", "#column-chart", "#aspect-0 .aspect-bars"):
            assert page.evaluate(_OVERLAPS, chart) == [], chart
        page.locator("#time-chart svg").hover()
        assert "언급" in page.inner_text("#time-readout")
