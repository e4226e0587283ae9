"""Renders a summary as one HTML page that loads nothing and runs only its own script."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.errors import ConfigError
from episodic_absa.reports.bilingual import Language
from episodic_absa.reports.page.html_page import packed, render_page
from episodic_absa.reports.summary.page_words import page_words, said, sentence
from episodic_absa.reports.summary.review_texts import LONGEST_SEARCHED
from episodic_absa.reports.summary.summary import AspectGroup, Mark, Part, Quote, SearchedReview, Summary, Tally
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import draft_of

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
    language: Language = "ko" if summary.is_korean else "en"
    return render_page(
        "summary.html.jinja",
        _STYLES,
        _SCRIPTS,
        summary=summary,
        language=language,
        analysed_n=summary.analysed_n,
        headline=headline(summary),
        version=version("episodic-absa"),
        say=lambda key, **values: said(language, key, values),
        words=lambda key, **values: sentence(language, key, values),
        data=packed(canonical_json(_page_data(summary, language))),
        reviews=packed(canonical_json(_listed(summary.searched))),
    )


class HeadSentence(NamedTuple):
    """A sentence of the page's words, and the values it needs."""

    key: str
    values: dict[str, str | int]


def headline(summary: Summary) -> tuple[HeadSentence, ...]:
    """Return the sentences: the aspect with the most positive mentions, and the one with the most negative mentions."""
    named = [aspect for aspect in summary.aspects if aspect.name]
    if not named:
        return (HeadSentence("head_nothing", {}),)
    praised = max(named, key=lambda aspect: aspect.tally.positive)
    blamed = max(named, key=lambda aspect: aspect.tally.negative)
    return (
        _sentence("head_praised", praised, positive=praised.tally.positive)
        if praised.tally.positive
        else HeadSentence("head_no_praise", {}),
        _sentence("head_blamed", blamed, negative=blamed.tally.negative)
        if blamed.tally.negative
        else HeadSentence("head_no_blame", {}),
    )


def _sentence(key: str, aspect: AspectGroup, **side: int) -> HeadSentence:
    return HeadSentence(key, {"name": aspect.name, "mentions": aspect.tally.mentions, **side})


def _page_data(summary: Summary, language: Language) -> dict[str, Any]:
    over_time = summary.over_time
    return {
        "words": page_words(),
        "language": language,
        "source": summary.source,
        "analysed": summary.analysed_n,
        "cut": LONGEST_SEARCHED,
        "leading": summary.leading_n,
        "overall": _listed(summary.overall),
        "labels": summary.labels,
        "aspects": [_named(aspect) for aspect in summary.aspects],
        "rest": {"groups": summary.rest.groups_n, "tally": _listed(summary.rest.tally)},
        "time": over_time
        and {
            "column": over_time.column,
            "unit": over_time.unit,
            "unread": over_time.unread_n,
            "bins": [_named(period) for period in over_time.bins],
        },
        "columns": [
            {"name": column.name, "empty": column.empty_n, "values": [_named(value) for value in column.values]}
            for column in summary.columns
        ],
    }


def _named(record: AspectGroup | Part) -> dict[str, Any]:
    return {field.name: _listed(getattr(record, field.name)) for field in fields(record)}


def _listed(value: Any) -> Any:
    """Return a value as the script reads it: a record is the list of its fields, in their order."""
    if isinstance(value, Tally | Quote | SearchedReview | Mark):
        return [_listed(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, tuple):
        return [_listed(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    return "" if value is None else value
