"""Counts out of a total, as bars with their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from episodic_absa.reports.bilingual import Bilingual, Language
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis

_ROW: Final = 24
_LEFT: Final = 176
_RIGHT: Final = 82


@dataclass(frozen=True)
class CountBar:
    """A count out of a whole."""

    label: Bilingual
    count: int
    total: int


def count_bars(title: svg.Words, bars: Sequence[CountBar], colour: int) -> Markup:
    """Draw one bar per count; the pale track is the total."""
    parts: list[Markup] = []
    for place, bar in enumerate(bars):
        y = place * _ROW + 5
        axis = Axis(0, max(bar.total, 1), _LEFT, WIDTH - _RIGHT)
        parts += [
            svg.text(_LEFT - 10, y + 11, bar.label, "label", "end"),
            svg.element("rect", x=_LEFT, y=y + 2, width=WIDTH - _RIGHT - _LEFT, height=10, class_="track"),
            svg.element("rect", x=_LEFT, y=y + 2, width=axis.at(bar.count) - _LEFT, height=10, class_="bar"),
            svg.text(WIDTH - 2, y + 11, f"{bar.count:,} / {bar.total:,}", "value", "end"),
        ]
    described = svg.in_words(bars, _described)
    picture = svg.group(parts, class_=f"c{colour}")
    return svg.figure(WIDTH, len(bars) * _ROW + 8, title, picture, description=described)


def _described(bar: CountBar, language: Language) -> str:
    if language == "ko":
        return f"{bar.label.ko} {bar.total}개 중 {bar.count}개"
    return f"{bar.label.en} {bar.count} of {bar.total}"
