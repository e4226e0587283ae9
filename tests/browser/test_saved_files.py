"""Figures and tables saved by the buttons of a page that was opened from a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.reports.grid_making import PageParser

if TYPE_CHECKING:
    from playwright.sync_api import Page

Reader = Any


def saved(page: "Page", name: str, kind: str) -> tuple[str, str]:
    """Return the name and the content of what a button saves."""
    with page.expect_download() as download:
        page.locator(f"[data-save='{name}'][data-kind={kind}]").click()
    return download.value.suggested_filename, download.value.path().read_text("utf-8")


def test_buttons_save_the_files_of_the_page_without_network(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    files = PageParser(report.read_text("utf-8")).files()
    for kind in ("svg", "csv", "tex"):
        assert saved(page, "difference_by_arm", kind) == (
            f"difference_by_arm.{kind}",
            files[f"difference_by_arm.{kind}"],
        )
    page.click("#language")
    assert saved(page, "difference_by_arm", "svg")[1] == files["difference_by_arm.ko.svg"]
    # An SVG that is not well-formed would show an error, not a picture; the reader notices every error.
    page.goto("data:image/svg+xml;charset=utf-8," + files["difference_by_arm.svg"].replace("#", "%23"))
    assert page.evaluate("document.documentElement.tagName") == "svg"
    assert page.evaluate("document.querySelectorAll('parsererror').length") == 0


def test_the_first_picture_shows_every_arm_within_the_first_screen(reader: Reader, v3_report: Path) -> None:
    page = reader.open(v3_report, width=1280, height=900)
    box = page.locator(".arms .wide svg").bounding_box()
    assert box["y"] + box["height"] < 900
    texts = page.locator(".arms .wide svg text.label").all_text_contents()
    assert texts == ["C2", "adaptive", "one_call"]
    assert page.locator(".arms .narrow").is_hidden()
