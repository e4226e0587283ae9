"""Time of a sample's calls by condition, without waiting.

Median as a mark, 25 to 75 % as a bar, 5 to 95 % as a line; log scale.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from episodic_absa.reports.bilingual import Bilingual, Language
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis, shortened, tick_text

_ROW: Final = 28
_LEFT: Final = 104
_RIGHT: Final = 74
_TOP: Final = 6
_LEAST_MS: Final = 0.001


class LatencyRow(NamedTuple):
    """How long the calls of one sample took together, in milliseconds, without waiting."""

    condition: str
    colour: int
    quantiles: tuple[float, float, float, float, float]
    """5, 25, 50, 75, 95 %."""
    calls: int
    cached_calls: int


def latency_plot(rows: Sequence[LatencyRow]) -> Markup:
    """Draw one row per condition on a shared axis."""
    lowest = max(_LEAST_MS, min(row.quantiles[0] for row in rows))
    highest = max(lowest * 1.5, max(row.quantiles[-1] for row in rows))
    axis = Axis(lowest / 1.15, highest * 1.15, _LEFT, WIDTH - _RIGHT, is_log=True)
    bottom = _TOP + _ROW * len(rows)
    ticks = axis.ticks(4) or (lowest, highest)
    parts = [svg.line(axis.at(tick), _TOP, axis.at(tick), bottom, "grid") for tick in ticks]
    parts += [svg.text(axis.at(tick), bottom + 15, milliseconds(tick), "tick", "middle") for tick in ticks]
    parts += [_row(row, axis, _TOP + _ROW * (place + 0.5)) for place, row in enumerate(rows)]
    title = Bilingual(en="Time of a sample's calls, without waiting", ko="샘플의 호출 시간(대기 제외)")
    return svg.figure(WIDTH, bottom + 22, title, *parts, description=svg.in_words(rows, _described))


def milliseconds(value: float) -> str:
    """Return a duration in ms, or in s from 1,000 ms upwards."""
    if value >= 1000:
        return f"{tick_text(float(f'{value / 1000:.3g}'))} s"
    return f"{tick_text(float(f'{value:.3g}'))} ms"


def _row(row: LatencyRow, axis: Axis, y: float) -> Markup:
    ends = [axis.at(value) for value in row.quantiles]
    return svg.group(
        [
            svg.text(_LEFT - 10, y + 4, shortened(row.condition), "label", "end"),
            svg.line(ends[0], y, ends[4], y, "whisker"),
            svg.element("rect", x=ends[1], y=y - 5, width=max(ends[3] - ends[1], 1), height=10, class_="bar"),
            svg.line(ends[2], y - 8, ends[2], y + 8, "median"),
            svg.text(WIDTH - 2, y + 4, milliseconds(row.quantiles[2]), "value", "end"),
        ],
        class_=f"c{row.colour}",
    )


def _described(row: LatencyRow, language: Language) -> str:
    median, most = milliseconds(row.quantiles[2]), milliseconds(row.quantiles[4])
    if language == "ko":
        return f"{row.condition}: 중앙값 {median}, 95 %가 {most} 이내"
    return f"{row.condition}: median {median}, 95 % within {most}"
