"""One metric by condition: a point with its whiskers, Stage1 as a ring, the majority baseline as a dashed line."""

from typing import Final, NamedTuple

from markupsafe import Markup

from episodic_absa.reports import number_format
from episodic_absa.reports.bilingual import Bilingual, Language
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis, shortened, tick_text

_ROW: Final = 26
_LEFT: Final = 104
_RIGHT: Final = 52
_TOP: Final = 8
_FOOT: Final = 24
_BASELINE: Final = Bilingual(en="baseline", ko="기준선")


class PlotRow(NamedTuple):
    """One point with whiskers."""

    label: str
    colour: int | None
    """Place in the palette; the baseline has none."""
    value: float | None
    low: float | None = None
    high: float | None = None
    before: float | None = None
    """The same metric over Stage1."""


class QualityPanel(NamedTuple):
    """One quality metric by condition."""

    metric: str
    rows: tuple[PlotRow, ...]
    baseline: float | None


def interval_plot(panel: QualityPanel) -> Markup:
    """Draw one row per condition; the axis always runs from 0 to 1, so that panels can be compared."""
    height = _TOP + _ROW * len(panel.rows) + _FOOT
    axis = Axis(0.0, 1.0, _LEFT, WIDTH - _RIGHT)
    bottom = _TOP + _ROW * len(panel.rows)
    parts = [svg.line(axis.at(tick), _TOP, axis.at(tick), bottom, "grid") for tick in (0, 0.25, 0.5, 0.75, 1)]
    parts += [svg.text(axis.at(tick), bottom + 16, tick_text(tick), "tick", "middle") for tick in (0, 0.5, 1)]
    if panel.baseline is not None:
        parts.append(svg.line(axis.at(panel.baseline), _TOP, axis.at(panel.baseline), bottom, "baseline"))
    parts += [_row(row, axis, _TOP + _ROW * (place + 0.5)) for place, row in enumerate(panel.rows)]
    title = Bilingual(en=f"{panel.metric} by condition", ko=f"조건별 {panel.metric}")
    return svg.figure(WIDTH, height, title, *parts, description=svg.in_words(panel.rows, _described))


def _row(row: PlotRow, axis: Axis, y: float) -> Markup:
    label = _BASELINE if row.colour is None else shortened(row.label)
    parts = [svg.text(_LEFT - 10, y + 4, label, "label", "end")]
    if row.value is None:
        parts.append(svg.text(_LEFT + 6, y + 4, Bilingual(en="no value", ko="값 없음"), "tick"))
        return svg.group(parts)
    if row.low is not None and row.high is not None:
        low, high = axis.at(row.low), axis.at(row.high)
        parts += [
            svg.line(low, y, high, y, "whisker"),
            svg.line(low, y - 4, low, y + 4, "whisker"),
            svg.line(high, y - 4, high, y + 4, "whisker"),
        ]
    if row.before is not None:
        parts.append(svg.element("circle", cx=axis.at(row.before), cy=y, r=4.5, class_="ring"))
    if row.colour is None:
        x = axis.at(row.value)
        parts.append(svg.element("path", d=f"M{x - 4:g} {y:g}l4 -4l4 4l-4 4z", class_="diamond"))
    else:
        parts.append(svg.element("circle", cx=axis.at(row.value), cy=y, r=4, class_="dot"))
    parts.append(svg.text(WIDTH - 2, y + 4, number_format.plain(row.value), "value", "end"))
    return svg.group(parts, class_=None if row.colour is None else f"c{row.colour}")


def _described(row: PlotRow, language: Language) -> str:
    interval = number_format.interval(row.low, row.high)
    bounds = f" ({svg.INTERVAL[language]} {interval})" if row.low is not None else ""
    return f"{row.label} {number_format.plain(row.value)}{bounds}"
