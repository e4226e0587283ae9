"""Renders a report, and holds the words that its templates share."""

import re
from typing import Final

from markupsafe import Markup

from episodic_absa.reports.data.report_data import ReportData
from episodic_absa.reports.page.explorer_blocks import build_blocks
from episodic_absa.reports.page.html_page import joined_scripts, joined_styles, packed, render_page
from episodic_absa.reports.saved_files import export_texts
from episodic_absa.serialization.canonical_json import canonical_json

_STYLES: Final = ("report.css",)
_SCRIPTS: Final = (
    "dom.js",
    "words.js",
    "page.js",
    "save_file.js",
    "sample_data.js",
    "exports.js",
    "sample_filters.js",
    "sample_view.js",
    "sample_page.js",
    "explorer.js",
    "start.js",
)
WITHOUT_TEXT: Final = '<meta name="review-text" content="left out">'
"""The mark in the head of a page without review text."""
_INTERVAL: Final = re.compile(r"(\[[^\],]+), ")
_BOUND: Final = (" = ", " % ", "CI [", "Holm p")


def render_report(data: ReportData) -> str:
    """Return the HTML page of a report; equal data give equal bytes."""
    return render_page(
        "report.html.jinja",
        _STYLES,
        _SCRIPTS,
        data=data,
        text_mark="" if data.with_text else Markup(WITHOUT_TEXT),  # noqa: S704 - a constant
        unbroken=_unbroken,
        files=packed(canonical_json(export_texts(data))),
        blocks=build_blocks(data.explorer, with_text=data.with_text),
    )


def style_sheet() -> str:
    """Return the style sheet of the page."""
    return joined_styles(*_STYLES)


def page_script() -> str:
    """Return the script of the page."""
    return joined_scripts(*_SCRIPTS)


def _unbroken(sentence: str) -> str:
    """Return the sentence with no-break spaces inside `p = 0.031` and `95 % CI [+0.005, +0.045]`."""
    sentence = _INTERVAL.sub("\\1,\u00a0", sentence)
    for bound in _BOUND:
        sentence = sentence.replace(bound, bound.replace(" ", "\u00a0"))
    return sentence
