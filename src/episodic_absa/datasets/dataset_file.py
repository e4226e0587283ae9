"""Reads a dataset file as text or as JSON lines. An error names the file and the line."""

import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from episodic_absa.datasets.file_encoding import NotUtf8Error, decode_text
from episodic_absa.errors import DatasetError


def row_error(path: Path, line: int, problem: str) -> DatasetError:
    """Return the error about one row; `problem` says what is wrong and what to do."""
    return DatasetError(f"{path}, line {line}: {problem}", path=path, line=line)


def read_file(path: Path) -> bytes:
    """Return the bytes of the file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}", path=path) from error


def read_text_file(path: Path) -> str:
    """Return the file as text: UTF-8 with or without a byte order mark; line ends stay as they are."""
    try:
        return decode_text(read_file(path))
    except NotUtf8Error as error:
        raise row_error(path, error.line, str(error)) from error


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the JSON object of each line that is not blank."""
    # str.splitlines would also split inside a string that holds a Unicode line separator.
    for line, text in enumerate(io.StringIO(read_text_file(path), newline=None), start=1):
        if text.strip():
            yield line, _json_object(text, path, line)


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: the text is not JSON, gives a key twice, or holds a number or character that no file can hold.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant, parse_float=_finite_float
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "\\" in text:
        _refuse_half_characters(value)
    return value


def _json_object(text: str, path: Path, line: int) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except ValueError as error:
        problem = f"not valid JSON ({error}); write one JSON object per line"
        raise row_error(path, line, problem) from error
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise row_error(path, line, f"a JSON object is expected, got a {kind}; write one JSON object per line")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise ValueError(f"key {key!r} is given twice")
        mapping[key] = value
    return mapping


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is too large a number")
    return number


def _refuse_half_characters(value: Any) -> None:
    # json accepts an escaped lone surrogate (\ud83d), but no file can be written with it.
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("an escape stands for half a character") from error
