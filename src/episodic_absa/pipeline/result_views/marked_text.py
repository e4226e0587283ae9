"""A review as HTML for notebooks: terms coloured by polarity, evidence underlined, everything escaped.

Colours are translucent and inherit the notebook's text colour, so that they read on light and dark pages. A sign
stands beside each term: nobody needs the colours to read the page.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final, NamedTuple

from episodic_absa.language import nearest_occurrence
from episodic_absa.pipeline.result_views.aspects import Aspect
from episodic_absa.vocabulary import Polarity, ResultLabel

_SIGN: Final[dict[ResultLabel, str]] = {
    "positive": "+",
    "negative": "\N{MINUS SIGN}",
    "neutral": "○",
    "mixed": "±",
    "none": "–",
    "": "–",
}
_COLOUR: Final[dict[ResultLabel, str]] = {
    "positive": "46,160,67",
    "negative": "218,54,51",
    "neutral": "140,140,140",
    "mixed": "163,113,247",
    "none": "140,140,140",
    "": "140,140,140",
}
_BOX: Final = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.7;max-width:60em"


class _Mark(NamedTuple):
    start: int
    end: int
    polarity: Polarity
    is_term: bool


def marked_text(text: str, label: ResultLabel, aspects: Sequence[Aspect]) -> str:
    """Return the review with its terms and evidence marked, and below it the label and the list of aspects."""
    body = "".join(_segments(text, list(_marks(text, aspects))))
    rows = "".join(f"<li>{_row(aspect)}</li>" for aspect in aspects)
    aspect_list = f'<ul style="margin:0.3em 0;padding-left:1.4em">{rows}</ul>' if rows else ""
    return (
        f'<div class="episodic-absa"><div dir="auto" style="{_BOX}">{body}</div>'
        f'<div style="margin-top:0.4em">label: {_chip(label, label or "not read")}</div>{aspect_list}</div>'
    )


def _marks(text: str, aspects: Sequence[Aspect]) -> Iterator[_Mark]:
    for aspect in aspects:
        if aspect.span is not None:
            yield _Mark(*aspect.span, aspect.polarity, is_term=True)
        place = nearest_occurrence(aspect.evidence, text, aspect.span[0] if aspect.span else 0)
        if place is not None:
            yield _Mark(*place, aspect.polarity, is_term=False)


def _segments(text: str, marks: Sequence[_Mark]) -> Iterator[str]:
    """Yield the text piece by piece: marks may overlap, tags may not."""
    edges = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    for start, end in pairwise(edges):
        over = [mark for mark in marks if mark.start <= start and end <= mark.end]
        term = next((mark for mark in over if mark.is_term), None)
        quote = next((mark for mark in over if not mark.is_term), None)
        piece = escape(text[start:end])
        if quote is not None:
            line = f"underline 2px rgba({_COLOUR[quote.polarity]},0.9)"
            piece = f'<span style="text-decoration:{line};text-underline-offset:3px">{piece}</span>'
        if term is not None:
            sign = f"<sup>{_SIGN[term.polarity]}</sup>" if end == term.end else ""
            style = f"background:rgba({_COLOUR[term.polarity]},0.3);border-radius:3px;font-weight:600"
            piece = f'<span style="{style}" title="{term.polarity}">{piece}{sign}</span>'
        yield piece


def _row(aspect: Aspect) -> str:
    term = f"<b>{escape(aspect.term)}</b>" if aspect.term else "<i>(implicit)</i>"
    evidence = f" “{escape(aspect.evidence)}”" if aspect.evidence else ""
    return f"<bdi>{term}</bdi> {_chip(aspect.polarity, aspect.polarity)} {aspect.confidence:.2f}<bdi>{evidence}</bdi>"


def _chip(label: ResultLabel, words: str) -> str:
    style = f"background:rgba({_COLOUR[label]},0.3);border-radius:3px;padding:0 0.3em"
    return f'<span style="{style}">{_SIGN[label]} {words}</span>'
