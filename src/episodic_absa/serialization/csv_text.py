"""CSV as this system writes it: equal values give equal bytes, whatever the platform."""

import csv
import errno
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from episodic_absa.errors import RunDirectoryError
from episodic_absa.serialization.drafts import draft_of

_DECIMALS = 6


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], *, quote_text: bool = False) -> str:
    """Render rows, a line feed behind each; None is an empty field.

    Args:
        header: the names of the columns.
        rows: values; floats are rounded to 6 decimals, a flag is true or false.
        quote_text: put every field that is not a number in quotes, for words that users wrote.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if quote_text else csv.QUOTE_MINIMAL)
    writer.writerow(header)
    writer.writerows([_field(value) for value in row] for row in rows)
    return stream.getvalue()


def number_text(value: float | None) -> str:
    """Render a number of a table; an empty text for None."""
    # + 0.0 turns -0.0 into 0.0: equal numbers must give equal bytes.
    return "" if value is None else repr(round(float(value), _DECIMALS) + 0.0)


def replace_file(path: Path, text: str) -> None:
    """Replace a file; at any moment the old or the new content is whole, and equal content is left as it is.

    Raises:
        RunDirectoryError: it cannot be written; it says which file and what to do.
    """
    content = text.encode()
    draft = draft_of(path)
    try:
        if path.is_file() and path.read_bytes() == content:
            return
        try:
            draft.write_bytes(content)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise RunDirectoryError(_why_not_written(path, error), path=path) from error


def _why_not_written(path: Path, error: OSError) -> str:
    # Not the error's own file name, which is that of the draft.
    if path.is_dir():
        return f"cannot write {path}: a directory stands in its place; move it away"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what_next = "make the place writable, or work on a copy of the run"
    else:
        what_next = "fix that and run the command again"
    return f"cannot write {path}: {error.strerror}; {what_next}"


def _field(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return round(value, _DECIMALS) + 0.0 if isinstance(value, float) else value
