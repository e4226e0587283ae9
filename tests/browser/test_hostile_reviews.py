"""A review with markup, script, long words, emoji, right-to-left text or NUL changes nothing but its own text."""

from pathlib import Path
from typing import Any

from tests.reports.grid_making import HOSTILE_REVIEWS

Reader = Any


def test_hostile_reviews_are_shown_as_they_are_written(reader: Reader, hostile_report: Path) -> None:
    page = reader.open(hostile_report)
    elements = page.evaluate("document.querySelectorAll('script, img, iframe, [onload]').length")
    title = page.title()
    for uid, text in HOSTILE_REVIEWS.items():
        page.locator("#sample-list button").nth(list(HOSTILE_REVIEWS).index(uid)).click()
        reader.expect(page.locator("#sample-title")).to_have_text(f"{uid}-1")
        signs = "for (const one of document.querySelectorAll('.review .sign, .review .sr')) one.remove()"
        if len(text) > 5000:
            page.locator(".text-box button", has_text=f"show all {len(text):,} characters").click()
        page.evaluate(signs)
        assert page.evaluate("document.querySelector('.review').textContent") == text
        assert page.evaluate("document.querySelector('.review').dir") == "auto"
    assert page.title() == title
    assert page.evaluate("document.querySelectorAll('script, img, iframe, [onload]').length") == elements


def test_a_word_without_end_widens_no_page(reader: Reader, hostile_report: Path) -> None:
    for width in (1280, 390):
        page = reader.open(hostile_report, width=width)
        page.locator("#sample-list button").nth(3).click()
        page.wait_for_selector(".part")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_word_of_100_000_letters_adds_little_to_the_page(reader: Reader, hostile_report: Path) -> None:
    page = reader.open(hostile_report)
    page.locator("#sample-list button").nth(list(HOSTILE_REVIEWS).index("short")).click()
    reader.expect(page.locator("#sample-title")).to_have_text("short-1")
    before = page.evaluate("document.body.innerText.length")
    page.locator("#sample-list button").nth(list(HOSTILE_REVIEWS).index("endless")).click()
    reader.expect(page.locator("#sample-title")).to_have_text("endless-1")
    page.wait_for_selector(".part")
    assert page.evaluate("document.body.innerText.length") < before + 20_000
    assert (
        page.evaluate("Math.max(...[...document.querySelectorAll('bdi')].map((node) => node.innerText.length))") < 500
    )
    assert "… (100,000)" in page.inner_text(".tuples")


def test_marks_stand_at_their_code_points_behind_emoji(reader: Reader, hostile_report: Path) -> None:
    page = reader.open(hostile_report)
    page.fill("#search", "emoji-1")
    page.locator("#sample-list button").first.click()
    page.wait_for_selector(".part")
    page.evaluate("for (const one of document.querySelectorAll('.review .sign, .review .sr')) one.remove()")
    marked = page.locator(".review mark").all_inner_texts()
    assert "배터리" in marked
    assert set(marked) <= set(page.locator(".tuples bdi").all_inner_texts())
