"""The page of 1,200 reviews under two conditions opens, filters and turns its pages."""

from pathlib import Path
from statistics import median
from typing import Any

import pytest
from tests.reports.grid_making import multiply

from episodic_absa.analysis import load_run
from episodic_absa.reports.data import SampleReader
from episodic_absa.reports.page import render_report
from episodic_absa.reports.run_report import REPORT, build_report

REVIEWS = 1200
Reader = Any


@pytest.fixture(scope="session")
def large(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = multiply(report.parent, tmp_path_factory.mktemp("large"), ("C1__seed42", "C2__seed42"), REVIEWS)
    run = load_run(folder)
    samples = SampleReader(with_text=True)
    data = build_report(run, {cell.path: samples.read(cell) for cell in run.cells})
    (folder / REPORT).write_text(render_report(data), "utf-8")
    return folder / REPORT


def test_a_large_grid_opens_and_filters_with_a_short_list(reader: Reader, large: Path, record_property: Any) -> None:
    size = large.stat().st_size
    assert size < 5_000 * REVIEWS
    page = reader.open(large)
    loaded, ready = page.evaluate(
        "[performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,"
        " performance.getEntriesByName('explorer-ready')[0].startTime]"
    )
    assert f"{REVIEWS:,} of {REVIEWS:,} samples" in page.inner_text("#found")
    # How long it takes depends on the machine and is printed below. That the list stays short keeps it quick.
    assert page.locator("#sample-list button").count() <= 50
    for name in ("changed", "injected", "differs", "failed"):
        page.locator(f"[data-filter={name}]").click()
        page.locator(f"[data-filter={name}]").click()
    page.select_option("#pick-language", "ko")
    page.fill("#search", "배터리")
    page.fill("#search", "")
    page.select_option("#pick-a", "C1")
    times = page.evaluate("performance.getEntriesByName('filter').map((one) => one.duration)")[1:]
    assert len(times) >= 12  # the first one is the list that the page opens with
    assert page.locator("#sample-list button").count() <= 50
    page.click("#page-on")
    assert page.inner_text("#page-number").startswith("2 / ")
    page.locator("#sample-list button").nth(5).click()
    page.wait_for_selector(".part")
    figures = {
        "bytes": size,
        "loaded_ms": round(loaded),
        "ready_ms": round(ready),
        "median_filter_ms": round(median(times)),
    }
    record_property("large_grid", figures)
    print(figures)  # noqa: T201 - `pytest -s` tells the figures
