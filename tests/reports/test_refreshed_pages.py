"""What `verify` does to a report that lies beside the files it checks."""

from pathlib import Path

from episodic_absa.analysis import load_run
from episodic_absa.reports.run_report import REPORT, is_without_text, write_pages
from episodic_absa.reports.written_results import refresh_pages
from episodic_absa.verification import verify


def test_verify_refreshes_the_stamp_of_the_pages_and_says_why_if_it_cannot(grid: Path) -> None:
    for path in grid.rglob("integrity.json"):
        path.unlink()
    write_pages(load_run(grid), with_text=False)
    assert "not verified yet" in (grid / REPORT).read_text("utf-8")
    cell = grid / "C2__seed42"
    verify(cell)
    assert refresh_pages(cell).pages[-1] == grid.resolve() / REPORT  # the page of the grid shows its cells, too
    assert "checks hold, 5 directories not verified" not in (cell / REPORT).read_text("utf-8")
    assert ", 6 directories not verified" in (grid / REPORT).read_text("utf-8")
    assert is_without_text(grid)

    (cell / "samples.jsonl").write_text("no record\n", "utf-8")
    before = (grid / REPORT).read_bytes()
    pages, problem = refresh_pages(grid)
    assert not pages
    assert "samples.jsonl, line 1" in problem
    assert (grid / REPORT).read_bytes() == before


def test_a_run_without_a_report_gets_none_from_verify(grid: Path) -> None:
    for path in grid.rglob(REPORT):
        path.unlink()
    assert refresh_pages(grid) == ((), "")
    assert not list(grid.rglob(REPORT))
