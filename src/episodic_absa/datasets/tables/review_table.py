"""A file of reviews: looked through once before any review is analysed, then read row by row."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from episodic_absa.datasets.tables.table_rows import TableFormat, cell_text, find_format
from episodic_absa.datasets.tables.text_column import ColumnLengths, choose_text_column
from episodic_absa.errors import DatasetError


class ReviewRow(NamedTuple):
    """One row: the review, and all its cells."""

    text: str
    """In NFC; empty if the cell is."""
    cells: dict[str, Any]


@dataclass(frozen=True)
class ReviewTable:
    """A file of reviews whose rows can be read, several times if need be."""

    format: TableFormat
    columns: tuple[str, ...]
    text_column: str
    rows_n: int
    empty_n: int
    """Rows without a text."""

    @property
    def path(self) -> Path:
        """The file."""
        return self.format.path

    def __iter__(self) -> Iterator[ReviewRow]:
        """Yield every row, those without a text too."""
        for _, cells in self.format.rows():
            yield ReviewRow(_text_of(cells.get(self.text_column)), cells)

    def described(self) -> str:
        """Return one line about what was read."""
        empty = [f"{self.empty_n:,} without text"] if self.empty_n else []
        facts = [f"{self.rows_n:,} rows", f"text in column {self.text_column!r}", *self.format.notices, *empty]
        return f"{self.path}: {', '.join(facts)}"


def open_review_table(path: Path, *, text_column: str | None = None) -> ReviewTable:
    """Return the table of a file after all its rows were read once, so that a bad row is told before any work.

    Args:
        path: the file; its ending says the format.
        text_column: the column of the reviews; None finds it.

    Raises:
        DatasetError: the file or a row cannot be read, or no row has a text.
        ConfigError: the text column cannot be found.
        MissingExtraError: the package for this format is not installed.
    """
    table_format = find_format(path)
    lengths, rows_n, filled = ColumnLengths(), 0, dict[str, int]()
    for _, cells in table_format.rows():
        rows_n += 1
        for column, value in cells.items():
            cell = cell_text(value)
            lengths.add(column, cell)
            filled[column] = filled.get(column, 0) + bool(cell.strip())
    if not rows_n:
        raise DatasetError(f"{path} holds no rows; a header and one review per row are expected", path=path)
    columns = tuple(lengths.cells)
    column = choose_text_column(path, columns, lengths, text_column)
    if not filled[column]:
        raise DatasetError(f"{path}: no row has a text in column {column!r}; name another one", path=path)
    return ReviewTable(table_format, columns, column, rows_n, rows_n - filled[column])


def _text_of(value: object) -> str:
    text = cell_text(value)
    return unicodedata.normalize("NFC", text) if text.strip() else ""
