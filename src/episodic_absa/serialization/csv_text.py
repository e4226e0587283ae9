"""CSV as this system writes it: equal values give equal bytes, whatever the platform."""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from episodic_absa.errors import RunDirectoryError
from episodic_absa.serialization.durable_file import open_privately, why_not_written

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
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
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
    return round(value, _DECIMALS) + 0.0 if isinstance(value, float) else value
