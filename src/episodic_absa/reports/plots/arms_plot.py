"""The paired difference of every arm against the baseline on one axis, zoomed to the differences."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from markupsafe import Markup

from episodic_absa.reports import number_format
from episodic_absa.reports.data.arm_views import ArmRow, ArmsView
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis, shortened, tick_text

_ROW: Final = 34
_TOP: Final = 22
_FOOT: Final = 40
_FARTHEST: Final = 4.0
"""An arm whose interval reaches this many times farther than the others leaves the axis; an arrow marks it."""
_MARGIN: Final = 0.08
_EXPLORATORY: Final = Bilingual(en="exploratory", ko="탐색적")
_SAME: Final = Bilingual(en="no variation", ko="변동 없음")
_NO_VALUE: Final = Bilingual(en="no value", ko="값 없음")


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


def arms_plot(view: ArmsView, layout: Layout) -> Markup:
    """Draw one row per arm: a full dot if the interval excludes 0, else a ring; a band marks the smallest effect."""
    low, high = zoomed(view)
    axis = Axis(low, high, layout.left, layout.width - layout.right)
    bottom = _TOP + _ROW * len(view.rows)
    band = view.smallest_effect
    parts = [
        svg.element(
            "rect", x=axis.at(-band), y=_TOP, width=axis.at(band) - axis.at(-band), height=bottom - _TOP, class_="band"
        ),
        *_ticks(axis, bottom, layout),
        svg.line(axis.at(0), _TOP - 6, axis.at(0), bottom, "zero"),
        *_directions(axis.at(0), view.baseline),
        svg.text((axis.start + axis.end) / 2, bottom + 34, _axis_title(view), "tick", "middle"),
    ]
    parts += [_row(row, axis, _TOP + _ROW * (place + 0.5), layout) for place, row in enumerate(view.rows)]
    title = Bilingual(
        en=f"Paired difference of every arm against {view.baseline}", ko=f"{view.baseline} 대비 각 조건의 짝지은 차이"
    )
    return svg.figure(layout.width, bottom + _FOOT, title, *parts, description=_in_words(view.rows))


def _directions(zero: float, baseline: str) -> list[Markup]:
    below = Bilingual(en=f"← below {baseline}", ko=f"← {baseline}보다 낮음")
    above = Bilingual(en=f"above {baseline} →", ko=f"{baseline}보다 높음 →")
    return [svg.text(zero - 6, 12, below, "tick", "end"), svg.text(zero + 6, 12, above, "tick")]


def zoomed(view: ArmsView) -> tuple[float, float]:
    """Return the ends of the axis: 0, the smallest effect, and the intervals of all arms that are not far away."""
    reaches = [max(map(abs, _ends(row)), default=0.0) for row in view.rows]
    asked = [reach for row, reach in zip(view.rows, reaches, strict=True) if row.is_asked]
    usual = max(view.smallest_effect, median(reaches), *asked)
    shown = [
        end for row, reach in zip(view.rows, reaches, strict=True) if reach <= _FARTHEST * usual for end in _ends(row)
    ]
    low = min(-view.smallest_effect, *shown)
    high = max(view.smallest_effect, *shown)
    margin = _MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def leaves_axis(view: ArmsView) -> bool:
    """Return whether an arm lies so far away that an arrow stands for it."""
    low, high = zoomed(view)
    return any(end < low or end > high for row in view.rows for end in _ends(row))


def _ends(row: ArmRow) -> list[float]:
    return [end for end in (row.ci_low, row.difference, row.ci_high) if end is not None]


def _ticks(axis: Axis, bottom: float, layout: Layout) -> list[Markup]:
    parts = []
    for tick in axis.ticks(layout.ticks):
        parts.append(svg.line(axis.at(tick), _TOP, axis.at(tick), bottom, "grid"))
        sign = "+" if tick > 0 else ""
        parts.append(svg.text(axis.at(tick), bottom + 16, f"{sign}{tick_text(tick)}", "tick", "middle"))
    return parts


def _axis_title(view: ArmsView) -> Bilingual:
    size = f"{view.smallest_effect:g}"
    return Bilingual(
        en=f"{view.metric}, arm minus {view.baseline}; band: ±{size}",
        ko=f"{view.metric}, 조건 − {view.baseline}; 띠: ±{size}",
    )


def _row(row: ArmRow, axis: Axis, y: float, layout: Layout) -> Markup:
    name = svg.text(layout.left - 12, y + (0 if row.exploratory else 4), shortened(row.condition, layout.label_limit),
                    "label asked" if row.is_asked else "label", "end")  # fmt: skip
    parts = [name]
    if row.exploratory:
        parts.append(svg.text(layout.left - 12, y + 13, _EXPLORATORY, "tick", "end"))
    parts += _mark(row, axis, y)
    parts += _numbers(row, y, layout)
    return svg.group(parts, class_=f"c{row.colour}")


def _mark(row: ArmRow, axis: Axis, y: float) -> list[Markup]:
    if row.difference is None:
        return []
    parts = []
    if row.ci_low is not None and row.ci_high is not None:
        class_ = "whisker dashed" if row.exploratory else "whisker"
        parts.append(svg.line(axis.at(row.ci_low), y, axis.at(row.ci_high), y, class_))
        parts += [
            _arrow(axis.at(end), y, 1 if end > axis.high else -1)
            if not axis.low <= end <= axis.high
            else svg.line(axis.at(end), y - 5, axis.at(end), y + 5, "whisker")
            for end in (row.ci_low, row.ci_high)
        ]
    if axis.low <= row.difference <= axis.high:
        parts.append(
            svg.element("circle", cx=axis.at(row.difference), cy=y, r=5, class_="dot" if row.excludes_zero else "ring")
        )
    return parts


def _arrow(x: float, y: float, direction: int) -> Markup:
    return svg.element("path", d=f"M{x - 7 * direction:g} {y - 5:g}L{x:g} {y:g}L{x - 7 * direction:g} {y + 5:g}z",
                       class_="dot")  # fmt: skip


def _numbers(row: ArmRow, y: float, layout: Layout) -> list[Markup]:
    if row.difference is None:
        return [svg.text(layout.width - 2, y + 4, _NO_VALUE, "tick", "end")]
    if not layout.has_intervals:
        return [svg.text(layout.width - 2, y + 4, number_format.signed(row.difference), "value", "end")]
    x = layout.width - layout.right + 14
    interval = number_format.interval(row.ci_low, row.ci_high, sign=True) if row.variation else _SAME
    return [
        svg.text(x + 46, y + 4, number_format.signed(row.difference), "value", "end"),
        svg.text(x + 56, y + 4, interval, "tick"),
    ]


def _in_words(rows: Sequence[ArmRow]) -> Bilingual:
    def described(row: ArmRow, interval_words: str) -> str:
        interval = number_format.interval(row.ci_low, row.ci_high, sign=True)
        return f"{row.condition} {number_format.signed(row.difference)} ({interval_words} {interval})"

    return Bilingual(
        en="; ".join(described(row, "95 % interval") for row in rows),
        ko="; ".join(described(row, "95 % 신뢰구간") for row in rows),
    )
