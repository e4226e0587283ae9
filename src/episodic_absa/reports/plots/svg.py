"""SVG elements as safe markup. Colours and fonts come from style sheet classes, so plots follow the theme."""

from collections.abc import Iterable

from markupsafe import Markup, escape

Attribute = str | float | None


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


def figure(width: float, height: float, title: str, *children: Markup, description: str = "") -> Markup:
    """Return a picture with a title and a description for screen readers."""
    parts = [element("title", title)]
    if description:
        parts.append(element("desc", description))
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


def text(x: float, y: float, content: str, class_: str, anchor: str | None = None) -> Markup:
    """Return a text at a position; `anchor` is SVG's text-anchor."""
    return element("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{round(value, 2):g}"
