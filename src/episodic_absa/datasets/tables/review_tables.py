"""Several files of reviews, read one after the other as one table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from episodic_absa.datasets.tables.review_table import ReviewRow, ReviewTable, open_review_table
from episodic_absa.errors import DatasetError
from episodic_absa.language.counted_noun import counted
from episodic_absa.serialization.quoted_value import quoted


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
