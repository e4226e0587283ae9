"""Files of reviews: looked through once before any review is analysed, then read row by row as one table."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.datasets.tables.table_rows import TableFormat, cell_text, find_format
from episodic_absa.datasets.tables.text_column import ColumnLengths, choose_text_column, is_review
from episodic_absa.errors import ConfigError, DatasetError
from episodic_absa.language.counted_noun import counted
from episodic_absa.serialization.quoted_value import quoted

_WITH_HEADER: Final = (".csv", ".tsv", ".xlsx")


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
    other_n: int = 0
    """Those of them whose cell holds something else, such as a number."""

    @property
    def path(self) -> Path:
        """The file."""
        return self.format.path

    def __iter__(self) -> Iterator[ReviewRow]:
        """Yield every row, those without a text too."""
        for _, cells in self.format.rows():
            yield ReviewRow(unicodedata.normalize("NFC", _text_of(cells.get(self.text_column))), cells)

    def described(self) -> str:
        """Return one line about what was read, and a second one if the header is missing."""
        empty = [f"{self.empty_n:,} without text"] if self.empty_n else []
        if self.other_n:
            empty.append(f"{self.other_n:,} of them with a number or a list in its place")
        facts = [counted(self.rows_n, "row"), f"text in column {self.text_column!r}", *self.format.notices, *empty]
        line = f"{self.path}: {', '.join(facts)}"
        if self.format.has_header:
            return line
        names = self.format.delimiter.join("review" if name == self.text_column else name for name in self.columns)
        hint = f"add a first line with the names of the columns, for example {names}"
        return f"{line}\nwarning: {self.path} has no header, its first row is read as a review; {hint}"


class _Cells:
    """What the cells of a table hold, column by column."""

    def __init__(self, table_format: TableFormat) -> None:
        self.lengths = ColumnLengths()
        self.rows_n = 0
        self.texts: Counter[str] = Counter()
        self.others: Counter[str] = Counter()
        for _, cells in table_format.rows():
            self.rows_n += 1
            for column, value in cells.items():
                self.lengths.add(column, cell_text(value))
                self.texts[column] += bool(_text_of(value))
                self.others[column] += bool(cell_text(value).strip()) and not isinstance(value, str)
        self.columns = tuple(self.lengths.cells)


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
    cells = _Cells(table_format)
    if text_column not in cells.columns and _lacks_header(table_format, cells):
        table_format = replace(table_format, has_header=False)
        cells = _Cells(table_format)
    if not cells.rows_n:
        raise DatasetError(f"{path} holds no rows; a header and one review per row are expected", path=path)
    column = choose_text_column(path, cells.columns, cells.lengths, text_column)
    texts_n, others_n = cells.texts[column], cells.others[column]
    if not texts_n:
        instead = "; its cells hold numbers or lists" if others_n else ""
        problem = f"no row has a text in column {quoted(column)}{instead}; name another one with --text-column"
        raise DatasetError(f"{path}: {problem}", path=path)
    return ReviewTable(table_format, cells.columns, column, cells.rows_n, cells.rows_n - texts_n, others_n)


@dataclass(frozen=True)
class ReviewTables:
    """Files of reviews with the same text column. Their rows can be read several times."""

    tables: tuple[ReviewTable, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all files; a row has those of its file."""
        return tuple(dict.fromkeys(chain.from_iterable(table.columns for table in self.tables)))

    @property
    def text_column(self) -> str:
        """The column of the reviews."""
        return self.tables[0].text_column

    @property
    def rows_n(self) -> int:
        """The number of rows in all files."""
        return sum(table.rows_n for table in self.tables)

    def __iter__(self) -> Iterator[ReviewRow]:
        """Yield the rows of the first file, then those of the second, and so on."""
        return chain.from_iterable(self.tables)

    def described(self) -> str:
        """Return the lines about each file, and one about all."""
        lines = [table.described() for table in self.tables]
        return "\n".join([*lines, f"{counted(len(self.tables), 'file')}: {counted(self.rows_n, 'row')}"])


def open_review_tables(paths: Sequence[Path], *, text_column: str | None = None) -> ReviewTables:
    """Return the table of several files, after all rows were read once.

    Args:
        paths: at least one file, in the order of the results.
        text_column: the column of the reviews; None finds it in each file.

    Raises:
        DatasetError: a file cannot be read, or its reviews are in another column than those of the first.
        ConfigError: the text column cannot be found.
        MissingExtraError: the package for a format is not installed.
    """
    tables = tuple(open_review_table(path, text_column=text_column) for path in paths)
    first = tables[0]
    for table in tables:
        if table.text_column != first.text_column:
            columns = f"column {quoted(table.text_column)} and not in {quoted(first.text_column)}, as in {first.path}"
            hint = "name one with --text-column, or analyse the files one by one"
            raise DatasetError(f"{table.path}: the reviews are in {columns}; {hint}", path=table.path)
    return ReviewTables(tables)


def _lacks_header(table_format: TableFormat, cells: _Cells) -> bool:
    if table_format.path.suffix.lower() not in _WITH_HEADER:
        return False
    try:
        column = choose_text_column(table_format.path, cells.columns, cells.lengths, None)
    except ConfigError:
        return False
    return is_review(column, cells.columns, cells.lengths)


def _text_of(value: object) -> str:
    # In a file with types, a number is no review; a CSV file has only texts.
    return value if isinstance(value, str) and value.strip() else ""
