"""A table of the report as one value: what its columns are, and the rows of the domain that they read."""

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, astuple, dataclass
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.metrics.metric_value import MetricKind
from episodic_absa.reports import number_format
from episodic_absa.reports.bilingual import Bilingual, Language
from episodic_absa.serialization.csv_text import csv_text

ColumnKind = Literal[
    "name",
    "code",
    "arm",
    "metric",
    "words",
    "quote",
    "verdict",
    "check",
    "count",
    "errors",
    "uses",
    "amount",
    "tokens",
    "measure",
    "number",
    "signed",
    "p",
    "interval",
    "score",
    "scored",
    "estimate",
    "value",
    "plot",
]
WORDS: Final = frozenset({"name", "code", "arm", "metric", "words", "quote", "verdict", "check"})
"""The kinds whose cells hold words."""
# What a program reads as separate columns stands in one cell of a printed table. A cell may hold more than its parts:
# the rest is for the page.
_PARTS: Final[dict[ColumnKind, tuple[str, ...]]] = {
    "interval": ("_low", "_high"),
    "score": ("", "_low", "_high"),
    "estimate": ("", "_low", "_high"),
    "value": ("", "_sd", "_numerator", "_denominator", "_low", "_high"),
    **dict.fromkeys(("arm", "metric", "verdict", "errors", "measure"), ("",)),
}
Rendering = Literal["page", "files"]


class Interval(NamedTuple):
    """The ends of an interval; None where there is none."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class Score:
    """A value with its 95 % interval over reviews."""

    value: float | None
    low: float | None = None
    high: float | None = None


class MetricCell(NamedTuple):
    """One metric in one condition, over its orders and seeds."""

    value: float | None
    sd: float | None = None
    """Sample standard deviation over orders, over seeds in a run of one order; None with one of them."""
    numerator: float | None = None
    denominator: float | None = None
    """Sums over orders and seeds."""
    low: float | None = None
    high: float | None = None
    """95 % interval over reviews, where the metric has a value per review."""
    is_count: bool = False


class MetricName(NamedTuple):
    """The name of a metric, and what the page says beside it."""

    metric: str
    kind: MetricKind
    better: Literal["higher", "lower", ""] = ""
    note: Bilingual | None = None
    is_paired: bool = False
    """Whether the table groups its rows by kind and marks the primary metric and ratios of sums."""
    is_primary: bool = False
    is_ratio: bool = False


class Measure(NamedTuple):
    """A value that is an amount in some rows and a rate in others."""

    value: float | None
    is_amount: bool


class Verdict(NamedTuple):
    """What a test or a state comes to: its code for programs, its words for readers."""

    code: str
    words: Bilingual
    is_bad: bool = False


class Missing(NamedTuple):
    """Stands where there is no value and says why. Neighbours that miss for one reason share a cell on the page."""

    reason: Bilingual


@dataclass(frozen=True)
class Column:
    """One column. `read` takes a row and returns what the kind asks for: an `Interval`, a `Score`, a `Verdict` ..."""

    key: str
    """The name for programs."""
    head: Bilingual | str
    """The heading for readers; a string is a name such as that of a condition."""
    kind: ColumnKind
    read: Callable[[Any], Any]
    _: KW_ONLY
    only: Rendering | None = None
    """Where the column appears; None for everywhere."""
    digits: int | None = None
    label: Bilingual | None = None
    """A shorter heading, for a phone."""
    defines: bool = False
    """Whether the heading is the name of a metric, whose definition the page shows."""


def column(
    key: str,
    head: tuple[str, str] | str,
    kind: ColumnKind,
    read: str | Callable[[Any], Any] = "",
    *,
    only: Rendering | None = None,
    digits: int | None = None,
    label: tuple[str, str] | None = None,
    defines: bool = False,
) -> Column:
    """Return a column; headings are given in English and Korean, and `read` may name an attribute of the row."""
    return Column(
        key,
        head if isinstance(head, str) else Bilingual(*head),
        kind,
        attrgetter(read or key) if isinstance(read, str) else read,
        only=only,
        digits=digits,
        label=Bilingual(*label) if label else None,
        defines=defines,
    )


class PageCell(NamedTuple):
    """A cell of the page, which may reach over several columns."""

    column: Column
    value: Any
    span: int


@dataclass(frozen=True)
class Table:
    """A table that the page shows and that can be saved."""

    name: str
    """The stem of its files."""
    title: Bilingual
    columns: tuple[Column, ...]
    rows: tuple[Any, ...]
    _: KW_ONLY
    note: Bilingual | None = None
    by_kind: bool = False
    """Whether the page puts the kind of metric as a heading over its rows, which have an attribute `kind`."""
    style: str = ""
    """A class of the style sheet."""

    def columns_in(self, rendering: Rendering) -> tuple[Column, ...]:
        """Return the columns that the page or the files show."""
        return tuple(column for column in self.columns if column.only in (None, rendering))

    def page_cells(self, row: Any) -> list[PageCell]:
        """Return the cells of a row as the page shows them."""
        cells: list[PageCell] = []
        for shown in self.columns_in("page"):
            value = shown.read(row)
            if cells and isinstance(value, Missing) and value == cells[-1].value:
                cells[-1] = cells[-1]._replace(span=cells[-1].span + 1)
            else:
                cells.append(PageCell(shown, value, 1))
        return cells


def file_stem(*words: str) -> str:
    """Return words as a part of a file's name."""
    return "_".join(re.sub(r"[^\w.-]+", "_", word).strip("_.") for word in words)


def table_csv(table: Table) -> str:
    """Return the table as CSV: numbers in full, an interval in two columns, words in English."""
    header, *rows = table_fields(table)
    return csv_text(header, rows)


def table_fields(table: Table) -> list[list[Any]]:
    """Return the fields that programs read: the names of the columns, then a list per row."""
    columns = table.columns_in("files")
    header = [f"{column.key}{part}" for column in columns for part in _PARTS.get(column.kind, ("",))]
    return [header, *([field for column in columns for field in _fields(column, row)] for row in table.rows)]


def _fields(column: Column, row: Any) -> Sequence[Any]:
    value: Any
    value, parts_n = column.read(row), len(_PARTS.get(column.kind, ("",)))
    if isinstance(value, Missing):
        return [None] * parts_n
    if column.kind in _PARTS:
        return (astuple(value) if isinstance(value, Score) else value)[:parts_n]
    return [value.en if isinstance(value, Bilingual) else value]


def words_in(words: Any, language: Language) -> str:
    """Return words in one language; a name as it is."""
    return getattr(words, language) if isinstance(words, Bilingual) else str(words)


def shown_text(column: Column, value: Any, language: Language) -> str:
    """Return a cell as a reader sees it: rounded numbers, intervals in brackets, a dash for a missing number."""
    if isinstance(value, Missing):
        return number_format.NOTHING
    if column.kind in _SHOWN:
        return _SHOWN[column.kind](value)
    if column.kind == "signed":
        return number_format.signed(value, column.digits)
    if column.kind == "amount":
        return number_format.amount(value) if column.digits is None else number_format.plain(value, column.digits)
    if column.kind == "verdict":
        return words_in(value.words, language)
    return "" if value is None else words_in(value, language)


def _with_interval(shown: str, low: float | None, high: float | None) -> str:
    return shown if low is None or high is None else f"{shown} {number_format.interval(low, high)}"


_SHOWN: Final[dict[ColumnKind, Callable[[Any], str]]] = {
    "arm": lambda arm: arm.condition,
    "metric": lambda name: name.metric,
    "count": lambda count: number_format.plain(count, 0),
    "errors": lambda errors: number_format.plain(errors.pairs, 0),
    "measure": lambda measure: number_format.metric(measure.value, is_count=measure.is_amount),
    "number": number_format.plain,
    "p": number_format.p_value,
    "interval": lambda interval: number_format.interval(interval.low, interval.high, sign=True),
    **dict.fromkeys(
        ("score", "estimate"),
        lambda score: _with_interval(number_format.plain(score.value), score.low, score.high),
    ),
    "value": lambda cell: _with_interval(number_format.metric(cell.value, is_count=cell.is_count), cell.low, cell.high),
}
