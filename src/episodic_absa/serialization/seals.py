"""Seals: a hash at the end of a small JSON file, and a checksum at the end of every JSON line.

A changed character of a file shows, and so does a changed, moved or removed line. A sealed line is one JSON object
whose last member is `"sha256"`: 16 hex digits of the sha256 of the previous line's 16 digits and the line without that
member.
"""

import re
from binascii import hexlify
from hashlib import sha256
from typing import Final, Literal, NamedTuple

SealState = Literal["none", "whole", "broken"]
_DOCUMENT_SEAL: Final = re.compile(rb',\n  "seal": "([^"]*)"\n}\n\Z')
_DOCUMENT_END: Final = "\n}\n"
MAX_LINE_BYTES: Final = 1 << 20
NO_CHECKSUM: Final = b""
DOES_NOT_FIT: Final = "its checksum does not fit: the line was changed, or a line before it was changed or removed"
NO_SEAL: Final = "it has no checksum, as every line of this file has"
_KEY: Final = b',"sha256":"'
_END: Final = b'"}'
_DIGITS: Final = slice(-18, -2)
SEAL_LENGTH: Final = len(_KEY) + 16 + len(_END)


def sealed(text: str) -> str:
    """Return the text of an indented JSON object with its hash as the last member, `seal`.

    Args:
        text: as `indented_json` renders an object that is not empty.
    """
    digest = sha256(text.encode()).hexdigest()
    return f'{text.removesuffix(_DOCUMENT_END)},\n  "seal": "{digest}"{_DOCUMENT_END}'


def seal_state(content: bytes) -> SealState:
    """Return whether a file is as it was sealed; `none` if it does not end with a seal."""
    stated = _DOCUMENT_SEAL.search(content)
    if stated is None:
        return "none"
    body = content[: stated.start()] + _DOCUMENT_END.encode()
    return "whole" if sha256(body).hexdigest().encode() == stated[1] else "broken"


class SealedLine(NamedTuple):
    """A line, without its line end, and its checksum."""

    line: bytes
    checksum: bytes


class OpenedLine(NamedTuple):
    """A line without its seal, and the checksum that the seal states; empty for a line that is not sealed."""

    body: bytes
    checksum: bytes


class BrokenLineError(ValueError):
    """A line is not the one that was written behind the line before it. The message quotes nothing."""


def checksum_of(body: bytes, previous: bytes = NO_CHECKSUM) -> bytes:
    """Return the 16 hex digits that seal a line behind the line with the checksum `previous`."""
    return hexlify(sha256(previous + body).digest()[:8])


def seal(body: bytes, previous: bytes) -> SealedLine:
    """Return a JSON object with its checksum.

    Args:
        body: a JSON object in one line, without line end.
        previous: the checksum of the line before; empty for the first line.

    Example:
        >>> seal(b'{"terms":["room"]}', previous=b"").line
        b'{"terms":["room"],"sha256":"4d788aa432046a8d"}'
    """
    checksum = checksum_of(body, previous)
    return SealedLine(b"%b%b%b%b" % (body[:-1], _KEY, checksum, _END), checksum)


def opened(line: bytes) -> OpenedLine:
    """Return a line without its seal and its line end. The checksum is not checked."""
    if line.endswith(b"\n"):
        line = line[:-1]
    if line.startswith(_KEY, -SEAL_LENGTH) and line.endswith(_END):
        return OpenedLine(line[:-SEAL_LENGTH] + b"}", line[_DIGITS])
    return OpenedLine(line, NO_CHECKSUM)


class SealChain:
    """Follows the lines of one file in their order. The first line decides whether the file is sealed.

    Args:
        header: the body of the first line of a sealed file.
    """

    def __init__(self, header: bytes) -> None:
        self._header = header
        self._last = NO_CHECKSUM
        self._is_sealed: bool | None = None
        """None before the first line."""

    def body_of(self, line: bytes) -> bytes | None:
        """Return the next line without its seal; None for the header.

        Raises:
            BrokenLineError: the line is too long, or its checksum does not fit.
        """
        if len(line) > MAX_LINE_BYTES:
            raise BrokenLineError(f"it is {len(line):,} bytes long; a line has at most {MAX_LINE_BYTES:,}")
        body, stated = opened(line)
        if self._is_sealed:
            if stated != checksum_of(body, self._last):
                raise BrokenLineError(DOES_NOT_FIT if stated else NO_SEAL)
        elif stated:
            self._begin_sealed(body, stated)
            return None
        self._is_sealed, self._last = bool(stated), stated or body
        return body

    def _begin_sealed(self, body: bytes, stated: bytes) -> None:
        if self._is_sealed is False:
            raise BrokenLineError("it has a checksum, but the file begins without a header")
        if body != self._header:
            raise BrokenLineError("it has a checksum, but the header of the file does not stand before it")
        if stated != checksum_of(body):
            raise BrokenLineError(DOES_NOT_FIT)
        self._is_sealed, self._last = True, stated
