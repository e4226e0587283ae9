"""The reliability plot: share of right pairs over confidence, one panel per group. It brings its own colours."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from markupsafe import Markup
from reliability import Bin

from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import Axis, tick_text

_SIDE: Final = 260
_LEFT: Final = 56
_TOP: Final = 40
_BOTTOM: Final = 48
_GAP: Final = 64
_RIGHT: Final = 20
_TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_STYLE: Final = """
.paper { fill: #fdfdfc; } text { fill: #1c2024; font: 12px system-ui, sans-serif; }
.tick { fill: #565d66; font-size: 11px; } .heading { font-weight: 600; font-size: 13px; }
.grid { stroke: #dfe0dc; } .exact { stroke: #565d66; stroke-dasharray: 4 4; }
.whisker { stroke: #0b5c96; stroke-width: 1.5; } .dot { fill: #0b5c96; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #15181c; } text { fill: #e8e9ea; } .tick { fill: #a5acb5; }
  .grid { stroke: #31363d; } .exact { stroke: #a5acb5; } .whisker { stroke: #7fbdf0; } .dot { fill: #7fbdf0; }
}
"""


class Panel(NamedTuple):
    """One group of pairs."""

    name: str
    n: int
    ece: float
    bins: tuple[Bin, ...]


def reliability_plot(panels: Sequence[Panel]) -> Markup:
    """Return a picture that stands alone: an image of a page gets no style sheet from it."""
    width = _LEFT + len(panels) * _SIDE + (len(panels) - 1) * _GAP + _RIGHT
    height = _TOP + _SIDE + _BOTTOM
    drawn = [_panel(panel, _LEFT + number * (_SIDE + _GAP)) for number, panel in enumerate(panels)]
    figure = svg.figure(width, height, "Reliability of the confidence", *drawn, description=_in_words(panels))
    paper = svg.element("rect", width=width, height=height, class_="paper")
    style = svg.element("style", Markup(_STYLE))  # noqa: S704 - a constant
    return svg.element(
        "svg",
        style,
        paper,
        figure,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def _panel(panel: Panel, left: float) -> Markup:
    across, up = Axis(0.0, 1.0, left, left + _SIDE), Axis(0.0, 1.0, _TOP + _SIDE, _TOP)
    parts: list[Markup] = [svg.text(left, _TOP - 16, _heading(panel), "heading")]
    for tick in _TICKS:
        parts.append(svg.line(left, up.at(tick), left + _SIDE, up.at(tick), "grid"))
        parts.append(svg.line(across.at(tick), _TOP, across.at(tick), _TOP + _SIDE, "grid"))
        parts.append(svg.text(left - 6, up.at(tick) + 4, tick_text(tick), "tick", "end"))
        parts.append(svg.text(across.at(tick), _TOP + _SIDE + 16, tick_text(tick), "tick", "middle"))
    parts.append(svg.line(across.at(0.0), up.at(0.0), across.at(1.0), up.at(1.0), "exact"))
    most = max((place.n for place in panel.bins), default=1)
    for place in panel.bins:
        x, ends = across.at(place.mean_confidence), [up.at(end) for end in place.interval]
        parts.append(svg.line(x, ends[0], x, ends[1], "whisker"))
        # The area of a dot grows with its pairs.
        radius = 2.0 + 5.0 * (place.n / most) ** 0.5
        parts.append(svg.element("circle", cx=x, cy=up.at(place.share_right), r=radius, class_="dot"))
    parts.append(svg.text(left + _SIDE / 2, _TOP + _SIDE + 36, "confidence", "tick", "middle"))
    middle = _TOP + _SIDE / 2
    parts.append(
        svg.element(
            "text",
            "share of right pairs",
            x=left - 38,
            y=middle,
            class_="tick",
            text_anchor="middle",
            transform=f"rotate(-90 {left - 38} {middle})",
        )
    )
    return svg.group(parts)


def _heading(panel: Panel) -> str:
    return f"{panel.name}: {panel.n:,} pairs, error {panel.ece:.3f}"


def _in_words(panels: Sequence[Panel]) -> str:
    return "; ".join(
        f"{_heading(panel)}: "
        + ", ".join(f"{place.mean_confidence:.2f} is right {place.share_right:.2f} of the time" for place in panel.bins)
        for panel in panels
    )
