"""Decodes a text file, and says what to do about one that is not UTF-8."""

from typing import Final

_EXCEL: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How an .xlsx file (a zip archive) and an old .xls file begin."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_AS_UTF_8: Final = "save it as UTF-8 (in Excel: Save As, CSV UTF-8)"
_LOOKED_AT: Final = 1000


class NotUtf8Error(ValueError):
    """A file that is not UTF-8 text: what it is instead, and what to do."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def decode_text(content: bytes) -> str:
    """Return the text of a file: UTF-8 with or without a byte order mark; line ends stay as they are.

    Raises:
        NotUtf8Error: the file is not UTF-8.
    """
    if content.startswith(_EXCEL):
        raise NotUtf8Error("an Excel file, not text; open it, choose Save As, CSV UTF-8, and name the new file")
    beginning = content[:_LOOKED_AT]
    if content.startswith(_UTF_16) or beginning.count(0) > len(beginning) / 4:
        raise NotUtf8Error(f"UTF-16 (Excel calls it Unicode Text), not UTF-8; {_AS_UTF_8}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        if _is_korean(content):
            command = "`iconv -f cp949 -t utf-8 OLD > NEW`"
            raise NotUtf8Error(f"not UTF-8 but cp949 (Korean Windows); {_AS_UTF_8}, or run {command}", line) from None
        raise NotUtf8Error(f"not UTF-8; {_AS_UTF_8}", line) from None


def _is_korean(content: bytes) -> bool:
    """Return whether the file reads as cp949 and nearly all its characters beyond ASCII are then Hangul."""
    try:
        text = content.decode("cp949")
    except UnicodeDecodeError:
        return False
    beyond = [character for character in text if not character.isascii()]
    return sum("가" <= character <= "힣" for character in beyond) > len(beyond) / 2
