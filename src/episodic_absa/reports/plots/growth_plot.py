"""One figure along the run: a thin line per seed, each condition with its own dash as well as its colour."""

from typing import Final

from markupsafe import Markup

from episodic_absa.reports.data.report_data import GrowthLine, GrowthPanel
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis, tick_text

_HEIGHT: Final = 190
_LEFT: Final = 38
_RIGHT: Final = 12
_TOP: Final = 12
_BOTTOM: Final = 30
_MOST_POINTS: Final = 120


def growth_plot(panel: GrowthPanel) -> Markup:
    """Draw a panel."""
    points = [point for one in panel.lines for point in one.points]
    if not points:
        return svg.figure(WIDTH, 40, panel.title.en, svg.text(4, 24, "no values", "tick"))
    last = max(x for x, _ in points)
    first = min(x for x, _ in points)
    high = 1.0 if panel.is_rate else max(max(y for _, y in points), 1e-9) * 1.05
    low = 0.0 if panel.is_rate else min(0.0, min(y for _, y in points))
    across = Axis(first, last, _LEFT, WIDTH - _RIGHT)
    up = Axis(low, high, _HEIGHT - _BOTTOM, _TOP)
    parts: list[Markup] = []
    for tick in up.ticks(4):
        parts.append(svg.line(_LEFT, up.at(tick), WIDTH - _RIGHT, up.at(tick), "grid"))
        parts.append(svg.text(_LEFT - 6, up.at(tick) + 4, tick_text(tick), "tick", "end"))
    parts += [
        svg.text(across.at(tick), _HEIGHT - 12, tick_text(tick), "tick", "middle")
        for tick in across.ticks(4)
        if float(tick).is_integer()
    ]
    parts += [_line(one, across, up) for one in panel.lines if one.points]
    return svg.figure(WIDTH, _HEIGHT, panel.title.en, *parts, description=_in_words(panel))


def _line(one: GrowthLine, across: Axis, up: Axis) -> Markup:
    points = thinned(one.points)
    if len(points) == 1:
        return svg.element(
            "circle", cx=across.at(points[0][0]), cy=up.at(points[0][1]), r=3, class_=f"dot c{one.colour}"
        )
    path = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
    return svg.element("polyline", points=path, class_=f"curve c{one.colour}")


def thinned(points: tuple[tuple[int, float], ...]) -> tuple[tuple[int, float], ...]:
    """Keep evenly spaced points, the first and the last among them: more than pixels cannot be seen."""
    if len(points) <= _MOST_POINTS:
        return points
    step = (len(points) - 1) / (_MOST_POINTS - 1)
    return tuple(points[round(place * step)] for place in range(_MOST_POINTS))


def _in_words(panel: GrowthPanel) -> str:
    return "; ".join(
        f"{one.condition}, seed {one.seed}: from {one.points[0][1]:.3g} to {one.points[-1][1]:.3g}"
        for one in panel.lines
        if one.points
    )
