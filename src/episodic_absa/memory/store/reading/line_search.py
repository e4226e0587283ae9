"""Finds single lines of a store without parsing the others. Each is held against the line before it."""

import mmap
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.bad_line import bad_line_error, lines_before
from episodic_absa.serialization.sealed_lines import BrokenLineError, body_behind


class FoundLine(NamedTuple):
    """A whole line without its seal, and where it begins in the file."""

    offset: int
    body: bytes


def search_lines(path: Path, wanted: re.Pattern[bytes]) -> Iterator[FoundLine]:
    """Yield the whole lines of a store file that hold a match, in their order.

    Raises:
        MemoryStoreError: the checksum of such a line does not fit.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            match = wanted.search(content)
            while match:
                start, end = content.rfind(b"\n", 0, match.start()) + 1, content.find(b"\n", match.end())
                if end < 0:
                    return
                before = content.rfind(b"\n", 0, start - 1) + 1 if start else 0
                previous = content[before : start - 1] if start else None
                yield FoundLine(start, checked_body(path, start, content[start:end], previous))
                match = wanted.search(content, end)


def checked_body(path: Path, offset: int, line: bytes, previous: bytes | None) -> bytes:
    """Return a line without its seal.

    Raises:
        MemoryStoreError: its checksum does not fit behind the line before it.
    """
    try:
        return body_behind(line, previous)
    except BrokenLineError as error:
        raise bad_line_at(path, offset, str(error)) from error


def bad_line_at(path: Path, offset: int, reason: str) -> MemoryStoreError:
    """Return the error for the line that begins at an offset."""
    return bad_line_error(path, lines_before(path, offset) + 1, reason)
