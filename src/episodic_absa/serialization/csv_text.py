"""CSV as this system writes it: equal values give equal bytes, and no cell is a formula to a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TextIO

from episodic_absa.errors import RunDirectoryError
from episodic_absa.serialization.durable_file import draft_of, open_privately, why_not_written

_DECIMALS = 6
_FORMULA: Final = re.compile(r"'*\s*[=+\-@＝＋－＠].|'*[\t\r\n].", re.DOTALL)
_PROTECTED: Final = re.compile(rf"'(?:{_FORMULA.pattern})", re.DOTALL)
_ONE_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBERS: Final = re.compile(rf"{_ONE_NUMBER}(?:\|{_ONE_NUMBER})*", re.ASCII)
"""A number, or several as the column seed_values holds them."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], *, quote_text: bool = False) -> str:
    """Render rows, a line feed behind each; None is an empty field.

    Args:
        header: the names of the columns.
        rows: values; floats are rounded to 6 decimals, a flag is true or false, and text passes `safe_cell`.
        quote_text: put every field that is not a number in quotes, for words that users wrote.
    """
    stream = io.StringIO(newline="")
    writer = SafeCsvWriter(stream, quote_text=quote_text)
    writer.write(header)
    for row in rows:
        writer.write(row)
    return stream.getvalue()


class SafeCsvWriter:
    """Writes rows that a spreadsheet shows and does not run, and that every reader of CSV reads back.

    Args:
        stream: an open text file, with newline="".
        quote_text: as for `csv_text`.
    """

    def __init__(self, stream: TextIO, *, quote_text: bool = False) -> None:
        quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if quote_text else csv.QUOTE_MINIMAL
        self._usual = csv.writer(stream, lineterminator="\n", quoting=quoting)
        self._quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)

    def write(self, row: Iterable[Any]) -> None:
        """Add a row; None is an empty field."""
        fields = [_field(value) for value in row]
        # csv.writer quotes a carriage return only if lines end with one, and readers end the row there.
        has_return = any(isinstance(field, str) and "\r" in field for field in fields)
        (self._quoted if has_return else self._usual).writerow(fields)


def safe_cell(cell: str) -> str:
    """Return a cell with an apostrophe before what a spreadsheet would execute; a number stays a number.

    Example:
        >>> [safe_cell(cell) for cell in ("=1+1", "-0.5", "-", "good", "'=1")]
        ["'=1+1", '-0.5', '-', 'good', "''=1"]
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBERS.fullmatch(cell) else cell


def unprotected_cell(cell: str) -> str:
    """Return a cell as it was before `safe_cell`: our own readers take the apostrophe off again.

    Example:
        >>> [unprotected_cell(cell) for cell in ("'=1+1", "'good'", "''=1")]
        ['=1+1', "'good'", "'=1"]
    """
    return cell[1:] if cell.startswith("'") and _PROTECTED.match(cell) else cell


def number_text(value: float | None) -> str:
    """Render a number of a table; an empty text for None."""
    # + 0.0 turns -0.0 into 0.0: equal numbers must give equal bytes.
    return "" if value is None else repr(round(float(value), _DECIMALS) + 0.0)


def replace_file(path: Path, text: str, *, is_private: bool = True) -> None:
    """Replace a file; at any moment the old or the new content is whole, and equal content is left as it is.

    Args:
        path: the file.
        text: its content.
        is_private: only the user may read the file; False leaves that to the umask, for a place that the user named.

    Raises:
        RunDirectoryError: it cannot be written; it says which file and what to do.
    """
    content = text.encode()
    draft = draft_of(path)
    try:
        if path.is_file() and path.read_bytes() == content:
            return
        try:
            with open_privately(draft) if is_private else open(draft, "wb") as file:
                file.write(content)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise RunDirectoryError(why_not_written(path, error), path=path) from error


def _field(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Readers take a file with a NUL for a binary one.
        return safe_cell(value.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    return round(value, _DECIMALS) + 0.0 if isinstance(value, float) else value
