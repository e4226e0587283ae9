"""A table of the report as values, and as CSV for programs."""

import re
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.serialization.csv_text import csv_text

ColumnKind = Literal["name", "words", "count", "amount", "number", "signed", "p", "interval", "score", "metric"]
# What a program reads as separate columns stands in one cell of a printed table.
_PARTS: Final[dict[ColumnKind, tuple[str, ...]]] = {
    "interval": ("_low", "_high"),
    "score": ("", "_low", "_high"),
    "metric": ("", "_sd", "_numerator", "_denominator", "_low", "_high"),
}


class Interval(NamedTuple):
    """The ends of an interval; None where there is none."""

    low: float | None
    high: float | None


class Score(NamedTuple):
    """A value with its interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


class MetricCell(NamedTuple):
    """One metric in one condition."""

    value: float | None
    sd: float | None
    numerator: float | None
    denominator: float | None
    low: float | None
    high: float | None
    is_count: bool


@dataclass(frozen=True)
class Column:
    """One column: its name for programs, its heading for readers, and what its cells are.

    Cells of an "interval", "score" or "metric" column are `Interval`, `Score` and `MetricCell`; those of "words" are
    `Bilingual`.
    """

    key: str
    head: Bilingual
    kind: ColumnKind


@dataclass(frozen=True)
class ExportTable:
    """A table that can be saved."""

    name: str
    """The stem of its files."""
    title: Bilingual
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: Bilingual | None = None


def column(key: str, en: str, ko: str, kind: ColumnKind) -> Column:
    """Return a column with its heading in both languages."""
    return Column(key, Bilingual(en=en, ko=ko), kind)


def named(key: str, kind: ColumnKind, prefix: str = "") -> Column:
    """Return a column whose heading is a name, such as that of a condition."""
    return column(f"{prefix}{key}", key, key, kind)


def file_stem(*words: str) -> str:
    """Return words as a part of a file's name."""
    return "_".join(re.sub(r"[^\w.-]+", "_", word).strip("_.") for word in words)


def table_csv(table: ExportTable) -> str:
    """Return the table as CSV: numbers in full, an interval in two columns, words in English."""
    header = [f"{column.key}{part}" for column in table.columns for part in _PARTS.get(column.kind, ("",))]
    return csv_text(header, ([field for cell in _cells(table, row) for field in cell] for row in table.rows))


def _cells(table: ExportTable, row: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return [
        tuple(value[: len(_PARTS[column.kind])]) if column.kind in _PARTS else (_plain(value),)
        for column, value in zip(table.columns, row, strict=True)
    ]


def _plain(value: Any) -> Any:
    return value.en if isinstance(value, Bilingual) else value
