"""Differences with their intervals, one row each, on an axis that is zoomed to them."""

from dataclasses import dataclass
from statistics import median
from typing import Final

from markupsafe import Markup

from episodic_absa.reports import number_format
from episodic_absa.reports.bilingual import Bilingual, Language
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis, shortened, tick_text

_ROW: Final = 34
_TOP: Final = 22
_FOOT: Final = 40
_FARTHEST: Final = 4.0
"""A row whose interval reaches this many times farther than the others leaves the axis; an arrow marks it."""
_MARGIN: Final = 0.08


@dataclass(frozen=True)
class ForestRow:
    """One difference."""

    label: str
    difference: float | None
    low: float | None
    high: float | None
    without_interval: Bilingual
    """What stands in place of the interval if there is none."""
    colour: int = 1
    tag: Bilingual | None = None
    """A remark below the label."""
    is_first: bool = False
    """Whether the row is emphasised and always on the axis."""
    is_dashed: bool = False

    @property
    def ends(self) -> list[float]:
        """The values that the row shows."""
        return [end for end in (self.low, self.difference, self.high) if end is not None]

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and 0 lies outside it."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True)
class Forest:
    """All rows and the words around them."""

    rows: tuple[ForestRow, ...]
    title: Bilingual
    below: Bilingual
    """What a value left of zero means."""
    above: Bilingual
    axis_title: Bilingual
    band: float = 0.0
    """Differences up to this size are of no interest; 0 draws no band."""


@dataclass(frozen=True)
class Layout:
    """The widths of the picture's columns."""

    width: float
    left: float
    right: float
    label_limit: int
    ticks: int
    has_intervals: bool
    """Whether the intervals stand beside the differences as numbers."""


WIDE: Final = Layout(width=720, left=150, right=190, label_limit=20, ticks=6, has_intervals=True)
NARROW: Final = Layout(width=WIDTH, left=100, right=62, label_limit=13, ticks=4, has_intervals=False)


def forest_plot(forest: Forest, layout: Layout = NARROW) -> Markup:
    """Draw one row per difference: a full dot if the interval excludes 0, else a ring."""
    low, high = zoomed(forest)
    axis = Axis(low, high, layout.left, layout.width - layout.right)
    bottom = _TOP + _ROW * len(forest.rows)
    zero = axis.at(0)
    parts = [
        *_band(forest.band, axis, bottom),
        *_ticks(axis, bottom, layout),
        svg.line(zero, _TOP - 6, zero, bottom, "zero"),
        svg.text(zero - 6, 12, forest.below, "tick", "end"),
        svg.text(zero + 6, 12, forest.above, "tick"),
        svg.text((axis.start + axis.end) / 2, bottom + 34, forest.axis_title, "tick", "middle"),
    ]
    parts += [_row(row, axis, _TOP + _ROW * (place + 0.5), layout) for place, row in enumerate(forest.rows)]
    return svg.figure(
        layout.width, bottom + _FOOT, forest.title, *parts, description=svg.in_words(forest.rows, _described)
    )


def zoomed(forest: Forest) -> tuple[float, float]:
    """Return the ends of the axis: 0, the band, and the intervals of all rows that are not far away."""
    # A value without an interval may lie anywhere: it stretches the axis only if there is nothing else to show.
    rows = [row for row in forest.rows if row.low is not None] or forest.rows
    reaches = [max(map(abs, row.ends), default=0.0) for row in rows]
    first = [reach for row, reach in zip(rows, reaches, strict=True) if row.is_first]
    usual = max(forest.band, median(reaches or [0.0]), *first, 0.0)
    near = [row for row, reach in zip(rows, reaches, strict=True) if reach <= _FARTHEST * usual]
    shown = [0.0, forest.band, -forest.band, *(end for row in near for end in row.ends)]
    margin = _MARGIN * (max(shown) - min(shown)) or 1.0
    return min(shown) - margin, max(shown) + margin


def leaves_axis(forest: Forest) -> bool:
    """Return whether a row lies so far away that an arrow stands for it."""
    low, high = zoomed(forest)
    return any(end < low or end > high for row in forest.rows for end in row.ends)


def _band(size: float, axis: Axis, bottom: float) -> list[Markup]:
    if not size:
        return []
    start, end = axis.at(-size), axis.at(size)
    return [svg.element("rect", x=start, y=_TOP, width=end - start, height=bottom - _TOP, class_="band")]


def _ticks(axis: Axis, bottom: float, layout: Layout) -> list[Markup]:
    parts = []
    for tick in axis.ticks(layout.ticks):
        parts.append(svg.line(axis.at(tick), _TOP, axis.at(tick), bottom, "grid"))
        sign = "+" if tick > 0 else ""
        parts.append(svg.text(axis.at(tick), bottom + 16, f"{sign}{tick_text(tick)}", "tick", "middle"))
    return parts


def _row(row: ForestRow, axis: Axis, y: float, layout: Layout) -> Markup:
    label_y = y if row.tag else y + 4
    label = shortened(row.label, layout.label_limit)
    parts = [svg.text(layout.left - 12, label_y, label, "label asked" if row.is_first else "label", "end")]
    if row.tag:
        parts.append(svg.text(layout.left - 12, y + 13, row.tag, "tick", "end"))
    return svg.group([*parts, *_mark(row, axis, y), *_numbers(row, y, layout)], class_=f"c{row.colour}")


def _mark(row: ForestRow, axis: Axis, y: float) -> list[Markup]:
    parts: list[Markup] = []
    if row.difference is None:
        return parts
    if row.low is not None and row.high is not None:
        class_ = "whisker dashed" if row.is_dashed else "whisker"
        parts.append(svg.line(axis.at(row.low), y, axis.at(row.high), y, class_))
        parts += [_end(end, axis, y) for end in (row.low, row.high)]
    if axis.low <= row.difference <= axis.high:
        class_ = "dot" if row.excludes_zero else "ring"
        parts.append(svg.element("circle", cx=axis.at(row.difference), cy=y, r=5, class_=class_))
    return parts


def _end(end: float, axis: Axis, y: float) -> Markup:
    x = axis.at(end)
    if axis.low <= end <= axis.high:
        return svg.line(x, y - 5, x, y + 5, "whisker")
    back = x - 7 if end > axis.high else x + 7
    return svg.element("path", d=f"M{back:g} {y - 5:g}L{x:g} {y:g}L{back:g} {y + 5:g}z", class_="dot")


def _numbers(row: ForestRow, y: float, layout: Layout) -> list[Markup]:
    difference = number_format.signed(row.difference)
    if not layout.has_intervals:
        return [svg.text(layout.width - 2, y + 4, difference, "value", "end")]
    x = layout.width - layout.right + 14
    has_interval = row.low is not None and row.high is not None
    interval = number_format.interval(row.low, row.high, sign=True) if has_interval else row.without_interval
    return [svg.text(x + 46, y + 4, difference, "value", "end"), svg.text(x + 56, y + 4, interval, "tick")]


def _described(row: ForestRow, language: Language) -> str:
    interval = number_format.interval(row.low, row.high, sign=True)
    return f"{row.label} {number_format.signed(row.difference)} ({svg.INTERVAL[language]} {interval})"
