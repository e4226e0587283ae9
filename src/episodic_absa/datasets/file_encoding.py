"""Finds the encoding of a text file, as spreadsheets and shop systems write them. A file is read in parts.

A table of `analyze` is read in any encoding, damaged characters included. A file of an experiment is read only if no
character is guessed: UTF-8, UTF-16 or CP949.
"""

import codecs
from collections.abc import Iterator
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
_MOST_DAMAGED_SHARE: Final = 0.05
"""Of the characters that are not ASCII: a file with more than this is not damaged UTF-8 but in another encoding."""


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


def find_encoding(path: Path) -> TextEncoding:
    """Return the encoding of a file.

    The mark at its beginning decides; without one it is the first that fits of UTF-8, UTF-8 with half characters,
    CP949 (Korean Windows), UTF-8 with a few damaged characters, and Latin-1, which fits always.

    Raises:
        DatasetError: the file cannot be read.
    """
    start = _start(path, 4)
    for mark, name in _BOMS:
        if start.startswith(mark):
            return TextEncoding(name, _count(path, name)[0])
    if b"\x00" in start:
        name = "utf-16-le" if start[1:2] == b"\x00" else "utf-16-be"
        return TextEncoding(name, _count(path, name)[0])
    damaged_n, other_n = _count(path, "utf-8")
    if not damaged_n or _bad_utf8_line(path) is None:
        return TextEncoding("utf-8", damaged_n)
    if _is_korean(path):
        return TextEncoding("cp949")
    if damaged_n <= _MOST_DAMAGED_SHARE * other_n:
        return TextEncoding("utf-8", damaged_n)
    return TextEncoding("latin-1")


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
            raise GuessedTextError(
                f"UTF-16 that ends in the middle of a character; {_AS_UTF_8}", _line_n(path, encoding)
            )
    elif (encoding.damaged_n or encoding.name == "latin-1") and (line := _bad_utf8_line(path)) is not None:
        raise GuessedTextError(f"neither UTF-8, UTF-16 nor CP949; {_AS_UTF_8}", line)
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


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _reads_as(path: Path, name: str) -> bool:
    try:
        for _ in codecs.iterdecode(_blocks(path), name):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _count(path: Path, name: str) -> tuple[int, int]:
    """Return how many characters are damaged and, if any is, how many are not ASCII."""
    damaged_n = other_n = 0
    if _reads_as(path, name):
        return 0, 0
    for text in codecs.iterdecode(_blocks(path), name, errors="replace"):
        if not text.isascii():
            damaged_n += text.count("\N{REPLACEMENT CHARACTER}")
            other_n += sum(character > "\x7f" for character in text)
    return damaged_n, other_n


def _bad_utf8_line(path: Path) -> int | None:
    """Return the first line that is not UTF-8, half characters apart; None if there is none."""
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            try:
                content.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                return line
    return None


def _is_korean(path: Path) -> bool:
    """Return whether the file reads as cp949 and nearly all its characters beyond ASCII are then Hangul."""
    hangul_n = other_n = 0
    try:
        for text in codecs.iterdecode(_blocks(path), "cp949"):
            beyond = [character for character in text if not character.isascii()]
            other_n += len(beyond)
            hangul_n += sum("가" <= character <= "힣" for character in beyond)
    except UnicodeDecodeError:
        return False
    return hangul_n > other_n / 2


def _line_n(path: Path, encoding: TextEncoding) -> int:
    with path.open(encoding=encoding.name, errors="replace") as file:
        return sum(1 for _ in file)
