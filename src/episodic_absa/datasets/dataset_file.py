"""Reads a dataset file as text or as JSON lines. An error names the file and the line and quotes no text."""

import io
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

from episodic_absa.datasets.file_encoding import GuessedTextError, find_certain_encoding
from episodic_absa.errors import DatasetError
from episodic_absa.serialization.canonical_json import MAX_JSON_DEPTH, is_too_deep

UID_KEYS: Final = ("uid", "text_id", "id")
_LONGEST_NAME: Final = 40
_MOST_WORDS: Final = 4
_MOST_NAMES: Final = 30
_MOST_DIGITS: Final = 1000
_LINES_SHOWN: Final = 5
_TOO_DEEP: Final = f"nested more than {MAX_JSON_DEPTH} levels deep"
_HALF: Final = re.compile("[\ud800-\udfff]")
_KINDS: Final = {
    type(None): "null",
    bool: "true or false",
    str: "a string",
    list: "a list",
    dict: "an object",
    **dict.fromkeys((int, float), "a number"),
}
_MAYBE_HALF: Final = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")


def row_error(path: Path, line: int, problem: str) -> DatasetError:
    """Return the error about one row; `problem` says what is wrong and what to do."""
    return DatasetError(f"{path}, line {line}: {problem}", path=path, line=line)


class RowProblems:
    """The bad rows of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._errors: list[DatasetError] = []

    def note(self, error: DatasetError) -> None:
        """Keep the error of one row; the rows after it are read nevertheless."""
        # A traceback would hold the reader that holds these errors, and so keep its file open.
        self._errors.append(error.with_traceback(None))

    def raise_any(self) -> None:
        """Raise one error that names the lines of each kind of problem, if there was any."""
        if not self._errors:
            return
        first = self._errors[0]
        if len(self._errors) == 1:
            raise first
        raise DatasetError(self._message(), path=first.path, line=first.line)

    def _message(self) -> str:
        lines: dict[str, list[int]] = {}
        for error in self._errors:
            problem = str(error).removeprefix(f"{self.path}, line {error.line}: ")
            lines.setdefault(problem, []).append(error.line or 0)
        kinds = [f"line{_shown(numbers)}: {problem}" for problem, numbers in lines.items()]
        more = f"; and {len(kinds) - _LINES_SHOWN} more problems" if len(kinds) > _LINES_SHOWN else ""
        return f"{self.path}, " + "; ".join(kinds[:_LINES_SHOWN]) + more


def tidy(value: str) -> str:
    """Return the form in which names and terms are compared: NFC, without outer white space."""
    return unicodedata.normalize("NFC", value).strip()


def half_character_problem(row: Mapping[str, Any]) -> str:
    """Return what is wrong with a row that holds half a character; it names the uid if that can be written."""
    uid = str(next((row[key] for key in UID_KEYS if isinstance(row.get(key), str | int)), ""))
    is_shown = 0 < len(uid) <= _LONGEST_NAME and not _HALF.search(uid)
    which = f"the row with uid {uid!r}" if is_shown else "the row"
    return f"{which} holds half a character (a lone surrogate), which no file can hold; write that row again"


def has_half_character(value: Any) -> bool:
    """Return whether a JSON value, not deeper than `MAX_JSON_DEPTH`, holds half of a surrogate pair."""
    strings = (value,) if isinstance(value, str) else _strings(value)
    return any(not string.isascii() and _HALF.search(string) for string in strings)


def kind_of(value: object) -> str:
    """Return the kind of a JSON value in words, for messages: the value itself may be a review."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def listed_names(names: Iterable[str]) -> str:
    """Return the names of columns for a message. A file without a header has a review there, which is not repeated."""
    names = list(names)
    shown = [name for name in names if _is_name(name)]
    longer_n = len(names) - len(shown)
    more = [f"and {longer_n} too long for a name"] if longer_n else []
    if len(shown) > _MOST_NAMES:
        more.insert(0, f"and {len(shown) - _MOST_NAMES} others")
    return ", ".join([*map(repr, shown[:_MOST_NAMES]), *more]) or "none"


def repeated_column_problem(name: str) -> str:
    """Return what is wrong with a header that names a column twice. A file without a header has a review there."""
    column = f"column {name!r}" if _is_name(name) else "a column"
    return f"the header names {column} twice; rename one of them"


def _is_name(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and len(name.split()) <= _MOST_WORDS


def read_int(digits: str) -> int:
    """Return a whole number.

    Raises:
        ValueError: it has more digits than any count or id.
    """
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits")
    return int(digits)


def read_file(path: Path) -> bytes:
    """Return the bytes of the file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}", path=path) from error


@contextmanager
def open_text_file(path: Path, *, newline: str | None = "") -> Iterator[io.TextIOWrapper]:
    """Open a text file in its encoding (UTF-8, UTF-16 or CP949), to be read line by line.

    Half a character is read as characters that `has_half_character` finds, so that its row can be named.

    Args:
        path: the file.
        newline: as for `open`; by default line ends stay as they are.

    Raises:
        DatasetError: the file cannot be read, or not without guessing a character.
    """
    try:
        name = find_certain_encoding(path).name
    except GuessedTextError as error:
        raise row_error(path, error.line, str(error)) from error
    # Bytes of half a character may lie in two blocks of a UTF-8 file, where "surrogatepass" does not know them.
    errors = "surrogatepass" if name.startswith("utf-16") else "surrogateescape"
    with path.open(encoding="utf-8-sig" if name == "utf-8" else name, errors=errors, newline=newline) as file:
        yield file


def read_text_file(path: Path) -> str:
    """Return the file as text, without its byte order mark; line ends stay as they are."""
    with open_text_file(path) as file:
        return file.read()


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the JSON object of each line that is not blank."""
    # str.splitlines would also split inside a string that holds a Unicode line separator.
    with open_text_file(path, newline=None) as lines:
        for line, text in enumerate(lines, start=1):
            if text.strip():
                yield line, _json_object(text, path, line)


def parse_json(text: str) -> Any:
    """Return the value of a JSON text; it may hold half characters, which `has_half_character` finds.

    Raises:
        ValueError: the text is not JSON, gives a key twice, is nested too deeply, or holds too large a number.
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            parse_int=read_int,
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def _json_object(text: str, path: Path, line: int) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except ValueError as error:
        problem = f"not valid JSON ({error}); write one JSON object per line"
        raise row_error(path, line, problem) from error
    if not isinstance(value, dict):
        raise row_error(path, line, f"a JSON object is expected, got {kind_of(value)}; write one JSON object per line")
    # Most lines hold none; the value is searched only if the line may hold one, by itself or as an escape.
    if _MAYBE_HALF.search(text) and has_half_character(value):
        raise row_error(path, line, half_character_problem(value))
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) == len(pairs):
        return mapping
    keys = [key for key, _ in pairs]
    repeated = next(key for at, key in enumerate(keys) if key in keys[:at])
    raise ValueError(f"key {listed_names([repeated])} is given twice")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _strings(value: Any) -> Iterator[str]:
    """Yield every string of a JSON value that is not deeper than `MAX_JSON_DEPTH`, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _shown(numbers: list[int]) -> str:
    more = f" and {len(numbers) - _LINES_SHOWN} more" if len(numbers) > _LINES_SHOWN else ""
    return f"{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:_LINES_SHOWN]))}{more}"
