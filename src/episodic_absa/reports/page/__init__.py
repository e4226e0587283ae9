"""Renders report data as one HTML page. Nothing here reads a run or computes a metric."""

from episodic_absa.reports.page.explorer_blocks import REVIEWS_PER_BLOCK, build_blocks
from episodic_absa.reports.page.html_page import packed
from episodic_absa.reports.page.html_report import page_script, render_report, style_sheet

__all__ = [
    "REVIEWS_PER_BLOCK",
    "build_blocks",
    "packed",
    "page_script",
    "render_report",
    "style_sheet",
]
