"""One value along the run: a thin line per order and seed; each condition has its own colour and dash."""

from typing import Final, NamedTuple

from markupsafe import Markup

from episodic_absa.reports.bilingual import Bilingual, Language
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import WIDTH, Axis, tick_text

_HEIGHT: Final = 190
_LEFT: Final = 38
_RIGHT: Final = 12
_TOP: Final = 12
_BOTTOM: Final = 30
_KEY_ROW: Final = 18
_MOST_POINTS: Final = 120


class GrowthLine(NamedTuple):
    """One figure along the run, window by window."""

    condition: str
    colour: int
    order: int | None
    """None where the run names no orders."""
    seed: int
    points: tuple[tuple[int, float], ...]
    """(last sample of the window, value); windows without a value are left out."""


class GrowthPanel(NamedTuple):
    """One figure of every condition along the run."""

    title: Bilingual
    is_rate: bool
    lines: tuple[GrowthLine, ...]


def growth_plot(panel: GrowthPanel, *, with_key: bool = False) -> Markup:
    """Draw the lines of a panel; the axis of a rate runs from 0 to 1.

    Args:
        panel: the lines.
        with_key: whether the names of the conditions stand below; the page has one key for all panels.
    """
    points = [point for line in panel.lines for point in line.points]
    if not points:
        return svg.figure(WIDTH, 40, panel.title, svg.text(4, 24, Bilingual(en="no values", ko="값 없음"), "tick"))
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
    parts += [_line(line, across, up) for line in panel.lines if line.points]
    key = _key(panel) if with_key else []
    described = svg.in_words((line for line in panel.lines if line.points), _described)
    return svg.figure(WIDTH, _HEIGHT + _KEY_ROW * len(key), panel.title, *parts, *key, description=described)


def _key(panel: GrowthPanel) -> list[Markup]:
    colours = {line.condition: line.colour for line in panel.lines}
    return [
        svg.group(
            [
                svg.line(_LEFT, y, _LEFT + 26, y, f"curve c{colour}"),
                svg.text(_LEFT + 34, y + 4, condition, "label"),
            ]
        )
        for place, (condition, colour) in enumerate(colours.items())
        for y in (_HEIGHT + _KEY_ROW * (place + 0.5),)
    ]


def _line(line: GrowthLine, across: Axis, up: Axis) -> Markup:
    points = thinned(line.points)
    if len(points) == 1:
        return svg.element(
            "circle", cx=across.at(points[0][0]), cy=up.at(points[0][1]), r=3, class_=f"dot c{line.colour}"
        )
    path = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
    return svg.element("polyline", points=path, class_=f"curve c{line.colour}")


def thinned(points: tuple[tuple[int, float], ...]) -> tuple[tuple[int, float], ...]:
    """Return at most 120 evenly spaced points, with the first and the last; more points than pixels are invisible."""
    if len(points) <= _MOST_POINTS:
        return points
    step = (len(points) - 1) / (_MOST_POINTS - 1)
    return tuple(points[round(index * step)] for index in range(_MOST_POINTS))


def _described(line: GrowthLine, language: Language) -> str:
    first, last = (f"{line.points[place][1]:.3g}" for place in (0, -1))
    if language == "ko":
        order = "" if line.order is None else f"순서 {line.order}, "
        return f"{line.condition}, {order}시드 {line.seed}: {first}에서 {last}"
    order = "" if line.order is None else f"order {line.order}, "
    return f"{line.condition}, {order}seed {line.seed}: from {first} to {last}"
