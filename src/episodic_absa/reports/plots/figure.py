"""A figure of the page, and the same as an SVG file of its own."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final
from xml.etree.ElementTree import Element, tostring

from markupsafe import Markup

from episodic_absa.reports.bilingual import Bilingual, Language

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
    section: str = ""
    """What the page groups its figures by."""
    caption: Bilingual | None = None
    """What stands above it, where the template does not say it."""
    narrow: Markup | None = None
    """The picture for a phone, if that needs another one."""
    leaves_axis: bool = False
    """Whether an arrow stands for a value beyond the axis."""


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
