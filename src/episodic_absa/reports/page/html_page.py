"""Renders HTML files that load nothing and run only their own script."""

import base64
import gzip
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from episodic_absa.reports import number_format
from episodic_absa.reports.tables.table import file_stem, shown_text

if TYPE_CHECKING:
    from jinja2 import Environment

_LEVEL: Final = 9


def render_page(template: str, styles: Sequence[str], scripts: Sequence[str], **values: Any) -> str:
    """Return the page of a template; equal values give equal bytes.

    Args:
        template: its name.
        styles: the names of its style sheets.
        scripts: the names of the parts of its script, in order.
        values: what the template shows.
    """
    css, script = joined_styles(*styles), joined_scripts(*scripts)
    return (
        environment()
        .get_template(template)
        .render(
            css=Markup(css),  # noqa: S704 - files of this package
            script=Markup(script),  # noqa: S704 - files of this package
            # The policy allows this style sheet and this script only, and no network access.
            csp=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(css)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'",
            **values,
        )
    )


def packed(text: str) -> Markup:
    """Return a text compressed as base64 gzip; equal texts give equal bytes (the gzip header has no time stamp)."""
    data = gzip.compress(text.encode("utf-8", "surrogatepass"), compresslevel=_LEVEL, mtime=0)
    return Markup(base64.b64encode(data).decode("ascii"))  # noqa: S704 - base64 holds no markup


@cache
def joined_styles(*names: str) -> str:
    """Return style sheets as one."""
    return "\n".join(map(_asset, names))


@cache
def joined_scripts(*names: str) -> str:
    """Return scripts inside one function that keeps their names out of the window."""
    return f'(() => {{\n"use strict";\n{joined_styles(*names)}}})();\n'


def _asset(name: str) -> str:
    return (files("episodic_absa.reports") / "assets" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def environment() -> "Environment":
    """Return the templates and what they may call."""
    # Imported here to keep `--help` fast: it needs no template engine.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("episodic_absa.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals.update(
        plain=number_format.plain,
        amount=number_format.amount,
        p_value=number_format.p_value,
        percent=number_format.percent,
        shown=lambda value, is_count: number_format.metric(value, is_count=is_count),
        stem=file_stem,
        text=shown_text,
    )
    return templates
