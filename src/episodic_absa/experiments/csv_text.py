"""CSV as this system writes it: equal values give equal bytes, whatever the platform."""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_DECIMALS = 6


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], *, quote_text: bool = False) -> str:
    """Render rows, a line feed behind each; None is an empty field.

    Args:
        header: the names of the columns.
        rows: values; floats are rounded to 6 decimals, a flag is true or false.
        quote_text: put every field that is not a number in quotes, as befits words that users wrote.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if quote_text else csv.QUOTE_MINIMAL)
    writer.writerow(header)
    writer.writerows([_field(value) for value in row] for row in rows)
    return stream.getvalue()


def number_text(value: float | None) -> str:
    """Render a number of a table; nothing for none."""
    # + 0.0 turns -0.0 into 0.0: equal numbers must give equal bytes.
    return "" if value is None else repr(round(float(value), _DECIMALS) + 0.0)


def replace_file(path: Path, text: str) -> None:
    """Write a file anew; at any moment the old or the new one is whole, and an equal one is left as it is."""
    if path.is_file() and path.read_bytes() == text.encode():
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        draft.write_bytes(text.encode())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _field(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return round(value, _DECIMALS) + 0.0 if isinstance(value, float) else value
