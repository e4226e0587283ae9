"""SVG elements as safe markup. Colours and fonts come from style sheet classes, so plots follow the theme."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from markupsafe import Markup, escape

from episodic_absa.reports.bilingual import LANGUAGES, Bilingual, Language

Words = str | Bilingual
"""A name or a number, or words in both languages."""
Attribute = str | float | None
Row = TypeVar("Row")
INTERVAL: Final[Mapping[Language, str]] = {"en": "95 % interval", "ko": "95 % 신뢰구간"}


def element(tag: str, *children: Markup | str, **attributes: Attribute) -> Markup:
    """Return one element.

    Args:
        tag: the element's name.
        children: markup, or text that is escaped.
        attributes: `class_` is written as class, other underscores as hyphens; None omits the attribute.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    inner = "".join(str(escape(child)) for child in children)
    return Markup(f"<{tag}{written}>{inner}</{tag}>")  # noqa: S704 - all parts are escaped above


def group(children: Iterable[Markup], **attributes: Attribute) -> Markup:
    """Return a group of elements."""
    return element("g", *children, **attributes)


def figure(width: float, height: float, title: Words, *children: Markup, description: Words = "") -> Markup:
    """Return a picture with a title and a description for screen readers."""
    parts = [_hidden_words("title", title)]
    if description:
        parts.append(_hidden_words("desc", description))
    return element(
        "svg",
        *parts,
        *children,
        viewBox=f"0 0 {_text(width)} {_text(height)}",
        width=width,
        height=height,
        role="img",
        class_="plot",
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, content: Words, class_: str, anchor: str | None = None) -> Markup:
    """Return a text at a position; `anchor` is SVG's text-anchor."""
    if isinstance(content, str):
        return element("text", content, x=x, y=y, class_=class_, text_anchor=anchor)
    return Markup("").join(
        element("text", words, x=x, y=y, class_=f"{class_} {language}", text_anchor=anchor, lang=language)
        for language, words in (("en", content.en), ("ko", content.ko))
    )


def english(words: Words) -> str:
    """Return words in English."""
    return words if isinstance(words, str) else words.en


def korean(words: Words) -> str:
    """Return words in Korean; a name or a number as it is."""
    return words if isinstance(words, str) else words.ko


def in_words(rows: Iterable[Row], described: Callable[[Row, Language], str]) -> Bilingual:
    """Return what a picture shows, row by row, for readers who do not see it."""
    listed = list(rows)
    return Bilingual(*("; ".join(described(row, language) for row in listed) for language in LANGUAGES))


def _hidden_words(tag: str, words: Words) -> Markup:
    # A title cannot be hidden by a style sheet: the script swaps it when the language changes.
    return element(tag, english(words), data_ko=None if isinstance(words, str) else words.ko)


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{round(value, 2):g}"
