"""Finds the encoding of a text file, as spreadsheets and shop systems write them."""

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
_BLOCK: Final = 1 << 20
_LOOKED_AT: Final = 1 << 16
_BINARY_STARTS: Final = (b"PK\x03\x04", b"%PDF", b"\xd0\xcf\x11\xe0", b"PAR1", b"\x1f\x8b", b"\x89PNG", b"SQLite ")
"""Zip (Excel, Word), PDF, old Office, Parquet, gzip, PNG, SQLite."""
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


def find_encoding(path: Path) -> TextEncoding:
    """Return the encoding of a file; it is read in blocks.

    The mark at its beginning decides; without one it is the first that fits of UTF-8, UTF-8 with a few damaged
    characters, CP949 (Korean Windows) and Latin-1, which fits always.

    Raises:
        DatasetError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}", path=path) from error
    for mark, name in _BOMS:
        if start.startswith(mark):
            return TextEncoding(name, _count(path, name)[0])
    if b"\x00" in start:
        return TextEncoding("utf-16-le" if start[1:2] == b"\x00" else "utf-16-be")
    damaged_n, other_n = _count(path, "utf-8")
    if not damaged_n:
        return TextEncoding("utf-8")
    if _fits(path, "cp949"):
        return TextEncoding("cp949")
    if damaged_n <= _MOST_DAMAGED_SHARE * other_n:
        return TextEncoding("utf-8", damaged_n)
    return TextEncoding("latin-1")


def refuse_binary(path: Path) -> None:
    """Refuse a file that is no text, such as a workbook under the name of a CSV file.

    Raises:
        DatasetError: the file is no text, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_LOOKED_AT)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}", path=path) from error
    # UTF-16 writes ASCII letters with a zero each; other encodings write none, and no text holds two in one place.
    may_be_utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or 0 in start[:4]
    pairs = zip(start[0::2], start[1::2], strict=False)
    has_stray_zeros = (0, 0) in pairs if may_be_utf16 else 0 in start
    if has_stray_zeros or start.startswith(_BINARY_STARTS):
        raise DatasetError(f"{path} is no text file; open it in its program and save it as .csv or .xlsx", path=path)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _count(path: Path, name: str) -> tuple[int, int]:
    """Return how many characters are damaged, and how many are not ASCII."""
    damaged_n = other_n = 0
    for text in codecs.iterdecode(_blocks(path), name, errors="replace"):
        if not text.isascii():
            damaged_n += text.count("\N{REPLACEMENT CHARACTER}")
            other_n += sum(character > "\x7f" for character in text)
    return damaged_n, other_n


def _fits(path: Path, name: str) -> bool:
    try:
        for _ in codecs.iterdecode(_blocks(path), name):
            pass
    except UnicodeDecodeError:
        return False
    return True
