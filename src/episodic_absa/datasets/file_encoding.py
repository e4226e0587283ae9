"""Finds the encoding of a text file, as spreadsheets and shop systems write them. A file is read in parts.

A table of `analyze` is read in any encoding; damaged bytes are replaced and counted. A file of an experiment is read
only if no character is guessed: UTF-8, UTF-16 or CP949.
"""

import codecs
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.errors import DatasetError

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_EXCEL: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How an .xlsx file (a zip archive) and an old .xls file begin."""
_BINARY_STARTS: Final = (*_EXCEL, b"%PDF", b"PAR1", b"\x1f\x8b", b"\x89PNG", b"SQLite ")
"""Zip (Excel, Word), old Office, PDF, Parquet, gzip, PNG, SQLite."""
_AS_UTF_8: Final = "save it as UTF-8 (in Excel: Save As, CSV UTF-8)"
_SHOWN_NAMES: Final = {
    "cp949": "CP949 (Korean Windows)",
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "UTF-16"),
}
_BLOCK: Final = 1 << 20
_LOOKED_AT: Final = 1 << 16
# Of the 11,172 syllables these 2,350 are written. CP949 has the others too: an English “isn’t” of Windows reads as one.
_WRITTEN_SYLLABLES: Final = frozenset(
    bytes(pair).decode("euc_kr") for pair in product(range(0xB0, 0xC9), range(0xA1, 0xFF))
)


class TextEncoding(NamedTuple):
    """An encoding, and how many of its characters cannot be read."""

    name: str
    damaged_n: int = 0

    @property
    def errors(self) -> str:
        """The error handler that reads the file."""
        return "replace" if self.damaged_n else "strict"


class GuessedTextError(ValueError):
    """A file that cannot be read without guessing a character: why, in which line, and what to do."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


class _Measured(NamedTuple):
    """The characters of a file in one encoding that are not ASCII."""

    damaged_n: int = 0
    other_n: int = 0
    korean_n: int = 0


def find_encoding(path: Path) -> TextEncoding:
    """Return the encoding of a file.

    The mark at its beginning decides. Without one, the characters beyond ASCII do: it is UTF-8 if most of them can be
    read so, else CP949 (Korean Windows) if most are Korean then, else CP1252 (Windows), which has all of Latin-1.

    Raises:
        DatasetError: the file cannot be read.
    """
    start = _start(path, 4)
    for mark, name in _BOMS:
        if start.startswith(mark):
            return TextEncoding(name, _measured(path, name).damaged_n)
    if b"\x00" in start:
        name = "utf-16-le" if start[1:2] == b"\x00" else "utf-16-be"
        return TextEncoding(name, _measured(path, name).damaged_n)
    utf_8 = _measured(path, "utf-8")
    is_mostly_utf_8 = not utf_8.damaged_n or 2 * utf_8.damaged_n < utf_8.other_n
    if is_mostly_utf_8 or _damaged_line(path, "utf-8") is None:
        return TextEncoding("utf-8", utf_8.damaged_n)
    cp949 = _measured(path, "cp949")
    if 2 * cp949.korean_n > cp949.other_n:
        return TextEncoding("cp949", cp949.damaged_n)
    return TextEncoding("cp1252", _measured(path, "cp1252").damaged_n)


def refuse_binary(path: Path) -> None:
    """Refuse a file that is no text, such as a workbook under the name of a CSV file.

    Raises:
        DatasetError: the file is no text, or cannot be read.
    """
    start = _start(path, _LOOKED_AT)
    # UTF-16 writes ASCII letters with a zero each; other encodings write none, and no text holds two in one place.
    may_be_utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or 0 in start[:4]
    pairs = zip(start[0::2], start[1::2], strict=False)
    has_stray_zeros = (0, 0) in pairs if may_be_utf16 else 0 in start
    if has_stray_zeros or start.startswith(_BINARY_STARTS):
        raise DatasetError(f"{path} is no text file; open it in its program and save it as .csv or .xlsx", path=path)


def find_certain_encoding(path: Path) -> TextEncoding:
    """Return the encoding of a file of which every character is certain, half characters apart: their row is refused.

    Raises:
        GuessedTextError: the file is no text, is damaged, or is neither UTF-8, UTF-16 nor CP949.
        DatasetError: the file cannot be read.
    """
    if _start(path, 4).startswith(_EXCEL):
        raise GuessedTextError("an Excel file, not text; open it, choose Save As, CSV UTF-8, and name the new file")
    encoding = find_encoding(path)
    if encoding.name.startswith("utf-16"):
        if path.stat().st_size % 2:
            with path.open(encoding=encoding.name, errors="replace") as file:
                line = sum(1 for _ in file)
            raise GuessedTextError(f"UTF-16 that ends in the middle of a character; {_AS_UTF_8}", line)
    elif encoding.damaged_n or encoding.name == "cp1252":
        damaged = _damaged_line(path, "cp949" if encoding.name == "cp949" else "utf-8")
        if damaged is not None:
            raise GuessedTextError(f"neither UTF-8, UTF-16 nor CP949; {_AS_UTF_8}", damaged)
    return encoding


def shown_encoding(path: Path) -> str | None:
    """Return the name of a file's encoding for a message; None for UTF-8.

    Raises:
        DatasetError: the file cannot be read.
    """
    return _SHOWN_NAMES.get(find_encoding(path).name)


def _start(path: Path, length: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(length)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}", path=path) from error


def _decoded(path: Path, name: str, errors: str) -> Iterator[str]:
    with path.open("rb") as file:
        yield from codecs.iterdecode(iter(lambda: file.read(_BLOCK), b""), name, errors=errors)


def _measured(path: Path, name: str) -> _Measured:
    if name != "cp949":
        try:
            for _ in _decoded(path, name, "strict"):
                pass
        except UnicodeDecodeError:
            pass
        else:
            return _Measured()
    damaged_n = other_n = korean_n = 0
    for text in _decoded(path, name, "replace"):
        damaged_n += text.count("\N{REPLACEMENT CHARACTER}")
        other_n += sum(character > "\x7f" for character in text)
        korean_n += sum(map(_WRITTEN_SYLLABLES.__contains__, text)) if name == "cp949" else 0
    return _Measured(damaged_n, other_n, korean_n)


def _damaged_line(path: Path, name: str) -> int | None:
    """Return the first line with a damaged character, half characters of UTF-8 apart; None if there is none."""
    errors = "surrogatepass" if name == "utf-8" else "strict"
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            try:
                content.decode(name, errors)
            except UnicodeDecodeError:
                return line
    return None
