"""Renders a summary as one HTML page that loads nothing and runs only its own script."""

from datetime import date
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from episodic_absa.errors import ConfigError
from episodic_absa.reports.number_format import percent
from episodic_absa.reports.page.embedded_data import packed
from episodic_absa.reports.page.html_report import content_security_policy
from episodic_absa.reports.summary.headline import headline
from episodic_absa.reports.summary.page_words import PageLanguage, page_words, said, sentence
from episodic_absa.reports.summary.searched_reviews import LONGEST_SEARCHED
from episodic_absa.reports.summary.summary import AspectGroup, Quote, SearchedReview, Summary, Tally
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import draft_of

if TYPE_CHECKING:
    from jinja2 import Environment

_STYLES: Final = ("report.css", "summary/summary.css")
_SCRIPTS: Final = (
    "dom.js",
    "save_file.js",
    "summary/words.js",
    "summary/export.js",
    "summary/charts.js",
    "summary/aspects.js",
    "summary/splits.js",
    "summary/reviews.js",
    "summary/start.js",
)


def write_summary(summary: Summary, path: Path) -> None:
    """Write the page; a file of that name is replaced when the new page is complete.

    Raises:
        ConfigError: the file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from episodic_absa.reports.summary import summarise, write_summary
        >>> with TemporaryDirectory() as folder:
        ...     write_summary(summarise([]), Path(folder) / "page.html")
        ...     (Path(folder) / "page.html").exists()
        True
    """
    draft = draft_of(path)
    try:
        try:
            draft.write_bytes(render_summary(summary).encode())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = "it is a directory" if path.is_dir() else error.strerror
        message = f"cannot write the summary {path}: {reason}; choose another file"
        raise ConfigError(message, path=path, key="summary") from error


def render_summary(summary: Summary) -> str:
    """Return the page; equal summaries give equal bytes."""
    language: PageLanguage = "ko" if summary.is_korean else "en"
    css = "\n".join(_asset(name) for name in _STYLES)
    script = _script()
    return (
        _environment()
        .get_template("summary.html.jinja")
        .render(
            summary=summary,
            language=language,
            analysed_n=summary.analysed_n,
            headline=headline(summary),
            version=version("episodic-absa"),
            say=lambda key, **values: said(language, key, values),
            words=lambda key, **values: sentence(language, key, values),
            percent=percent,
            data=packed(canonical_json(_page_data(summary, language))),
            reviews=packed(canonical_json([_review(review) for review in summary.searched])),
            css=Markup(css),  # noqa: S704 - files of this package
            script=Markup(script),  # noqa: S704 - files of this package
            csp=content_security_policy(css, script),
        )
    )


def _page_data(summary: Summary, language: PageLanguage) -> dict[str, Any]:
    over_time = summary.over_time
    return {
        "words": page_words(),
        "language": language,
        "source": summary.source,
        "analysed": summary.analysed_n,
        "cut": LONGEST_SEARCHED,
        "leading": summary.leading_n,
        "overall": _counts(summary.overall),
        "labels": summary.labels,
        "aspects": [_aspect(aspect) for aspect in summary.aspects],
        "rest": {"groups": summary.rest.groups_n, "tally": _counts(summary.rest.tally)},
        "time": over_time
        and {
            "column": over_time.column,
            "unit": over_time.unit,
            "unread": over_time.unread_n,
            "bins": [
                {"name": period.start.isoformat(), "reviews": period.reviews_n, "tallies": _all_counts(period.tallies)}
                for period in over_time.bins
            ],
        },
        "columns": [
            {
                "name": column.name,
                "empty": column.empty_n,
                "values": [
                    {"name": value.value, "reviews": value.reviews_n, "tallies": _all_counts(value.tallies)}
                    for value in column.values
                ],
            }
            for column in summary.columns
        ],
    }


def _aspect(aspect: AspectGroup) -> dict[str, Any]:
    return {
        "name": aspect.name,
        "spellings": aspect.spellings,
        "spellings_n": aspect.spellings_n,
        "tally": _counts(aspect.tally),
        "quotes": {polarity: [_quote(quote) for quote in quotes] for polarity, quotes in aspect.quotes.items()},
    }


def _quote(quote: Quote) -> list[Any]:
    """Return the fields in the order that the script reads."""
    return [
        quote.review,
        quote.text,
        quote.start,
        quote.end,
        quote.cut_before,
        quote.cut_after,
        quote.language,
        _day(quote.day),
    ]


def _review(review: SearchedReview) -> list[Any]:
    """Return the fields in the order that the script reads."""
    marks = [[mark.aspect, mark.term, mark.polarity, mark.start, mark.end] for mark in review.marks]
    return [
        review.review,
        review.text,
        review.is_cut,
        review.language,
        review.label,
        _day(review.day),
        review.values,
        marks,
    ]


def _day(day: date | None) -> str:
    return day.isoformat() if day else ""


def _counts(tally: Tally) -> list[int]:
    return [tally.positive, tally.negative, tally.neutral]


def _all_counts(tallies: tuple[Tally, ...]) -> list[list[int]]:
    return [_counts(tally) for tally in tallies]


@cache
def _script() -> str:
    body = "\n".join(_asset(name) for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _asset(name: str) -> str:
    return (files("episodic_absa.reports") / "assets" / name).read_text("utf-8")


@cache
def _environment() -> "Environment":
    # Imported here to keep `--help` fast: it needs no template engine.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("episodic_absa.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
