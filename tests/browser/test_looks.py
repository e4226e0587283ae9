"""The page on a desk, in the dark, on a phone and on paper. Pictures are kept for people to look at.

EPISODIC_ABSA_SCREENSHOTS=docs/images makes the README's pictures anew, from the quickstart grid.
"""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.reports.grid_making import SHIPPED, run

from episodic_absa.analysis import load_run
from episodic_absa.reports.run_report import REPORT, write_pages
from episodic_absa.verification import verify

if TYPE_CHECKING:
    from playwright.sync_api import Page

Reader = Any
_LARGEST_PICTURE = 400_000
_KEPT = ("report.png", "report_dark.png", "report_sample.png", "report_phone.png")
_SCREENSHOTS = os.environ.get("EPISODIC_ABSA_SCREENSHOTS")
_SECTIONS = ("top", "samples", "quality", "cost", "errors", "comparisons", "rq1", "rq2", "rq3", "memory", "efficiency")


_CUT_CELLS = """() => [...document.querySelectorAll("td, tbody th")]
  .filter((cell) => cell.getClientRects().length)
  .filter((cell) => {
    const at = cell.getBoundingClientRect();
    return at.left < 0 || at.right > innerWidth + 1 || cell.scrollWidth > cell.clientWidth + 1;
  })
  .map((cell) => cell.textContent.slice(0, 40))"""
"""Cells of tables that leave the screen or whose content leaves the cell."""
_ENGLISH_WORDS = r"""() => {
  const known = /\b(Stage1|Stage2|RQ[123]|EPM|TAN|CJ|EV|CI|USD|F1|micro|macro|Holm|McNemar|uid)\b/g;
  const codes = /[\w@.]*[_:-][\w@.:-]+/g;
  const quotations = "code, bdi, [translate=no], .snippet, .review, .uid, h1, svg .label";
  const left = new Set();
  const look = (text) => {
    const words = text.replace(codes, "").replace(known, "");
    if (/[A-Za-z]{3}/.test(words) && !/[가-힣]/.test(text)) left.add(text.trim());
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (owner.getClientRects().length && !owner.closest(`script, style, ${quotations}`)) look(node.textContent);
  }
  for (const name of ["title", "placeholder", "aria-label"]) {
    for (const node of document.querySelectorAll(`[${name}]`)) {
      if (node.getClientRects().length) look(node.getAttribute(name));
    }
  }
  return [...left];
}"""
"""What stays English outside of names, codes and quotations."""
_WEAK_WORDS = """() => {
  const rgb = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
  const light = (colour) => rgb(colour).map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!colour.endsWith(", 0)")) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const weak = new Set();
  for (const node of document.querySelectorAll("main *, .topbar *")) {
    if (![...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim())) continue;
    if (!node.getClientRects().length || node.closest("svg, [disabled], option")) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) weak.add(`${node.tagName}.${node.className} ${ratio} ${node.textContent.slice(0, 30)}`);
  }
  return [...weak];
}"""
"""Words whose colour contrasts less than WCAG AA asks with what is behind them."""


@pytest.fixture(scope="session")
def shown(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small grid; for pictures that are kept, the whole quickstart."""
    if _SCREENSHOTS is None:
        return report
    folder = tmp_path_factory.mktemp("quickstart")
    shutil.copytree(SHIPPED, folder / "experiments")
    run(folder / "experiments" / "quickstart.yaml")
    verify(folder / "results" / "quickstart")
    write_pages(load_run(folder / "results" / "quickstart"))
    return folder / "results" / "quickstart" / REPORT


def open_differing(page: "Page") -> None:
    page.locator("[data-filter=differs]").click()
    page.locator("#sample-list button").first.click()
    page.wait_for_selector(".part")


def no_sideways_scroll(page: "Page") -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def picture(page: "Page", path: Path) -> None:
    page.screenshot(path=path)
    assert path.stat().st_size < _LARGEST_PICTURE
    if _SCREENSHOTS is not None and path.name in _KEPT:
        shutil.copyfile(path, Path(_SCREENSHOTS) / path.name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_desk(reader: Reader, shown: Path, screenshots: Path, scheme: str) -> None:
    page = reader.open(shown, scheme=scheme, height=960)
    suffix = "" if scheme == "light" else "_dark"
    picture(page, screenshots / f"report{suffix}.png")
    open_differing(page)
    page.evaluate("document.getElementById('filters').scrollIntoView()")
    picture(page, screenshots / f"report_sample{suffix}.png")
    assert no_sideways_scroll(page)
    for name in _SECTIONS:
        assert page.locator(f"#{name}").is_visible()


def test_on_a_phone_nothing_scrolls_sideways(reader: Reader, shown: Path, screenshots: Path) -> None:
    page = reader.open(shown, width=390, height=844, has_touch=True, is_mobile=True)
    assert no_sideways_scroll(page)
    picture(page, screenshots / "report_phone.png")
    for details in page.locator("details").all():
        details.evaluate("(node) => { node.open = true; }")
    assert no_sideways_scroll(page)
    assert page.evaluate(_CUT_CELLS) == []
    open_differing(page)
    assert no_sideways_scroll(page)
    assert page.evaluate(_CUT_CELLS) == []
    assert page.locator("#sample-list").is_hidden()
    picture(page, screenshots / "report_phone_sample.png")
    page.click("#back-to-list")
    assert page.locator("#sample-list").is_visible()


def test_on_paper_it_is_dark_on_white_without_controls(reader: Reader, shown: Path, tmp_path: Path) -> None:
    page = reader.open(shown, scheme="dark", width=794, height=1123)
    page.emulate_media(media="print")
    for gone in (".topbar", "#filters", "#sample-list"):
        assert page.locator(gone).is_hidden()
    shade = "getComputedStyle(document.body).{}.match(/[0-9]+/g).slice(0, 3).map(Number)"
    assert min(page.evaluate(shade.format("backgroundColor"))) > 240
    assert max(page.evaluate(shade.format("color"))) < 60
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 20_000


def test_a_report_opens_in_the_language_of_the_browser_until_the_reader_chooses(reader: Reader, shown: Path) -> None:
    page = reader.open(shown, locale="ko-KR")
    assert page.evaluate("document.documentElement.lang") == "ko"
    page.click("#language")
    page.reload()
    assert page.evaluate("document.documentElement.lang") == "en"
    assert reader.open(shown, locale="de-DE").evaluate("document.documentElement.lang") == "en"


def test_every_word_can_be_korean_and_english_again(reader: Reader, shown: Path, screenshots: Path) -> None:
    page = reader.open(shown)
    page.click("#language")
    headline = page.inner_text("h1")
    assert "알 수 없습니다" in headline  # 24 reviews decide nothing
    assert page.evaluate("getComputedStyle(document.querySelector('h1 .ko')).wordBreak") == "keep-all"
    picture(page, screenshots / "report_korean.png")
    for details in page.locator("details").all():
        details.evaluate("(node) => { node.open = true; }")
    page.locator("[data-filter=injected]").click()
    page.locator("#sample-list button").first.click()
    page.locator("#sample .advice").first.wait_for()
    assert page.evaluate(_ENGLISH_WORDS) == []
    page.click("#language")
    assert page.inner_text("#samples h2") == "Samples"
    reader.expect(page.locator(".part h4").first).to_contain_text("Stage1, final, gold")


def test_words_contrast_with_what_they_stand_on(reader: Reader, shown: Path) -> None:
    """WCAG AA: 4.5 to 1 for every colour that words are written in, in both themes."""
    for scheme in ("light", "dark"):
        page = reader.open(shown, scheme=scheme)
        open_differing(page)
        assert page.evaluate(_WEAK_WORDS) == []


def test_a_page_of_rules_v3_fits_a_phone_and_can_be_korean(reader: Reader, v3_report: Path, screenshots: Path) -> None:
    page = reader.open(v3_report, width=390, height=844, scheme="dark", has_touch=True, is_mobile=True)
    page.click("#language")
    # Memory changes no result of the embedded engine here.
    assert "리뷰 3건만으로 알 수 없습니다(모든 리뷰에서 차이가 0)" in page.inner_text("h1")
    assert page.locator(".card .rules").all_inner_texts() == [
        "규칙 v3",
        "규칙 v3",
        "규칙 v3, 작업량 adaptive",
        "규칙 v3, 작업량 one_call",
    ]
    for details in page.locator("details").all():
        details.evaluate("(node) => { node.open = true; }")
    page.select_option("#pick-a", "adaptive")
    page.select_option("#pick-b", "one_call")
    page.locator("[data-uid=v3-0]").click()
    for other, title in (("one_call", "Stage1, 최종, 정답≠ 다름"), ("", "Stage1, 최종, 정답")):
        page.select_option("#pick-b", other)
        reader.expect(page.locator(".part h4").first).to_have_text(title)
        assert no_sideways_scroll(page)
        assert page.evaluate(_CUT_CELLS) == []
        assert set(page.evaluate(_ENGLISH_WORDS)) <= {"adaptive", "one_call"}  # the names of conditions
        assert page.evaluate(_WEAK_WORDS) == []
        picture(page, screenshots / f"report_phone_v3{other}.png")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.select_option("#pick-b", "one_call")
    reader.expect(page.locator(".differing").first).to_be_visible()
    assert no_sideways_scroll(page)
    # In half a page no column of a table is scrolled away.
    cut = "(tables) => tables.filter((table) => table.scrollWidth > table.clientWidth + 1).length"
    assert page.locator(".beside .scroll").evaluate_all(cut) == 0
