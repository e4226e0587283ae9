"""Every figure of a report by its name, and as an SVG file of its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final
from xml.etree.ElementTree import Element, tostring

from markupsafe import Markup

from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.report_data import MemoryFlow, ReportData
from episodic_absa.reports.export.export_table import file_stem
from episodic_absa.reports.export.latex_table import Language
from episodic_absa.reports.plots.cost_plot import cost_plot
from episodic_absa.reports.plots.count_bars import count_bars
from episodic_absa.reports.plots.forest_plot import WIDE, Forest, forest_plot
from episodic_absa.reports.plots.forests import arms_forest, effects_forest, strata_forest
from episodic_absa.reports.plots.growth_plot import growth_plot
from episodic_absa.reports.plots.interval_plot import interval_plot
from episodic_absa.reports.plots.latency_plot import latency_plot

_MARGIN: Final = 8
_SVG: Final = "http://www.w3.org/2000/svg"
_COLOUR: Final = re.compile(r"(--[\w-]+): light-dark\((#\w+), #\w+\)")
_RULE: Final = re.compile(r"(?:^|(?<=[}]))\s*((?:\.plot(?![\w-])|\.c\d|\.curve)[^{}]*)\{([^}]*)\}", re.MULTILINE)
_FONTS: Final = '"Helvetica Neue", Arial, "Noto Sans KR", "Noto Sans CJK KR", sans-serif'


@dataclass(frozen=True)
class Figure:
    """A picture of the page."""

    name: str
    """The stem of its files."""
    drawn: Markup
    saved: Markup | None = None
    """The picture in its file, if it needs more there than on the page."""


def figures_of(data: ReportData) -> dict[str, Figure]:
    """Return the figures of a page by name."""
    return {figure.name: figure for figure in _figures(data)}


def standalone_svg(figure: Figure, language: Language) -> str:
    """Return the figure as a file that needs no style sheet: words of one language, the colours of the light theme."""
    # Imported here: only who renders a page needs it.
    from defusedxml.ElementTree import fromstring

    root: Element = fromstring(str(figure.saved or figure.drawn))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == "text" and child.get("lang") not in (None, language):
                parent.remove(child)
    for words in root.findall("./*[@data-ko]"):
        korean = words.attrib.pop("data-ko")
        words.text = korean if language == "ko" else words.text
    width, height = (float(root.attrib[side]) + 2 * _MARGIN for side in ("width", "height"))
    box = f"{-_MARGIN} {-_MARGIN} {width:g} {height:g}"
    root.attrib = {"xmlns": _SVG, **root.attrib, "viewBox": box, "width": f"{width:g}", "height": f"{height:g}"}
    paper = Element("rect", x=str(-_MARGIN), y=str(-_MARGIN), width="100%", height="100%", fill="#ffffff")
    style = Element("style")
    style.text = _plot_style()
    root[0:0] = [style, paper]
    return tostring(root, encoding="unicode") + "\n"


@cache
def _plot_style() -> str:
    """Return the rules of the style sheet that plots use, with the light colours in place of variables."""
    css = (files("episodic_absa.reports") / "assets" / "report.css").read_text("utf-8")
    colours = dict(_COLOUR.findall(css))
    rules = [f"{selector.strip()} {{ {rule.strip()} }}" for selector, rule in _RULE.findall(css)]
    style = f".plot {{ font-family: {_FONTS}; }}\n" + "\n".join(rules)
    return re.sub(r"var\((--[\w-]+)\)", lambda match: colours[match[1]], style)


def _figures(data: ReportData) -> Iterator[Figure]:
    if data.arms:
        yield Figure("difference_by_arm", forest_plot(arms_forest(data.arms), WIDE))
    for panel in data.panels:
        yield Figure(file_stem("quality", panel.metric), interval_plot(panel))
    if data.views.cost:
        yield Figure("quality_over_cost_micro", cost_plot(data.views.cost, "micro"))
        yield Figure("quality_over_cost_macro", cost_plot(data.views.cost, "macro"))
    for strata in data.strata:
        yield _forest(strata.name, strata_forest(strata))
    for effects in data.effects:
        yield _forest(effects.name, effects_forest(effects))
    for flow in data.flows:
        yield from _flow_figures(flow)
    for growth in data.growth:
        yield Figure(
            file_stem("along_the_run", growth.title.en.lower()), growth_plot(growth), growth_plot(growth, with_key=True)
        )
    if data.latency:
        yield Figure("time_without_waiting", latency_plot(data.latency))


def _forest(name: str, forest: Forest) -> Figure:
    """Return a picture that fits beside its table; its file has room for the intervals as numbers."""
    return Figure(file_stem(name), forest_plot(forest), saved=forest_plot(forest, WIDE))


def _flow_figures(flow: MemoryFlow) -> Iterator[Figure]:
    name = flow.condition
    words = Bilingual(en=f"Memory in {name}", ko=f"{name}의 메모리")
    yield Figure(file_stem("memory", name), count_bars(words, flow.steps, flow.colour))
    if flow.debate_gate:
        words = Bilingual(en=f"Debate gate in {name}", ko=f"{name}의 토론 게이트")
        yield Figure(file_stem("debate_gate", name), count_bars(words, flow.debate_gate, flow.colour))
        words = Bilingual(en=f"Stage2 gate in {name}", ko=f"{name}의 Stage2 게이트")
        yield Figure(file_stem("stage2_gate", name), count_bars(words, flow.stage2_gate, flow.colour))
