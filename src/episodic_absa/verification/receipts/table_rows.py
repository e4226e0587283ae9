"""Finds the row of a number in a table of a run, with its line in the file."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from episodic_absa.errors import RunDirectoryError
from episodic_absa.verification.receipts.receipt import TableNumber


class TableRow(NamedTuple):
    """A row of a CSV file."""

    line: int
    fields: Mapping[str, str]


class TableRows:
    """The rows of the tables below a run directory, each file read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._tables: dict[str, tuple[TableRow, ...]] = {}

    def rows(self, table: str, **wanted: str) -> list[TableRow]:
        """Return the rows whose columns hold these values; none if the table is not written."""
        if table not in self._tables:
            self._tables[table] = _read(self.root / table)
        rows = self._tables[table]
        return [row for row in rows if all(row.fields.get(column) == value for column, value in wanted.items())]

    def number(self, table: str, column: str, recomputed: float | None, *, nth: int = 0, **wanted: str) -> TableNumber:
        """Return a number of a table beside the same number computed from lines.

        Args:
            table: the file, relative to the run directory.
            column: where the number stands.
            recomputed: the number from the lines.
            nth: which of the rows with these values.
            wanted: the values by which the row is found.
        """
        rows = self.rows(table, **wanted)
        row = rows[nth] if nth < len(rows) else None
        return TableNumber(
            table=table,
            line=row.line if row else None,
            column=column,
            written=row.fields.get(column, "") if row else None,
            recomputed=recomputed,
        )


def _read(path: Path) -> tuple[TableRow, ...]:
    if not path.is_file():
        return ()
    try:
        reader = csv.DictReader(io.StringIO(path.read_text("utf-8"), newline=""))
        return tuple(TableRow(reader.line_num, row) for row in reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RunDirectoryError(
            f"{path} cannot be read as a table; `episodic-absa report` derives it anew", path=path
        ) from error
