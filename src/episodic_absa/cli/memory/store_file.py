"""Reads a store file from its end: the newest episodes of a million cost no more than those of a hundred."""

import fcntl
import logging
import mmap
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.bad_line import rejected_path
from episodic_absa.memory.store.episode_line import reasons_of
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1

LockState = Literal["none", "free", "held"]
_CHUNK: Final = 1 << 20

logger = logging.getLogger("episodic_absa.cli")


class FileExtent(NamedTuple):
    """How much a file holds."""

    line_n: int
    size: int
    torn_bytes: int
    """What stands behind the last whole line."""


def existing_store(path: Path) -> Path:
    """Return the resolved path of a store, or say what to do if there is none. Creates nothing."""
    resolved = path.resolve()
    if not resolved.exists():
        raise MemoryStoreError(
            f"there is no store at {path}; name one with --store PATH (a store appears with its first episode)",
            path=path,
        )
    if not resolved.is_file():
        raise MemoryStoreError(f"{path} is not a file; a store is one .jsonl file, name it with --store", path=path)
    logger.info("reading %s", resolved)
    return resolved


def newest_first(path: Path) -> Iterator[EpisodicMemoryEntryV1_1]:
    """Yield the episodes of a file, newest first, reading no more of it than is asked for."""
    newer: EpisodicMemoryEntryV1_1 | None = None
    for offset, line in _lines_backwards(path):
        episode = _parsed(path, offset, line)
        if newer and _number(newer) <= _number(episode):
            raise _bad_line(
                path, offset + len(line) + 1, f"{newer.episode_id} does not come after {episode.episode_id}"
            )
        yield episode
        newer = episode


def find_episode(path: Path, number: int) -> EpisodicMemoryEntryV1_1 | None:
    """Return the episode of that number without parsing the others."""
    # Unescaped quotes cannot stand inside a JSON string, so a match is the key itself.
    wanted = re.compile(rb'"episode_id":\s*"epi_0*%d"' % number)
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = wanted.search(content)
            end = content.find(b"\n", found.end()) if found else -1
            if not found or end < 0:
                return None
            start = content.rfind(b"\n", 0, found.start()) + 1
            return _parsed(path, start, content[start:end])


def extent_of(path: Path) -> FileExtent:
    """Count whole lines without parsing them."""
    line_n = size = end = 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            line_n += chunk.count(b"\n")
            last = chunk.rfind(b"\n")
            end = size + last + 1 if last >= 0 else end
            size += len(chunk)
    return FileExtent(line_n, size, size - end)


def oldest(path: Path) -> EpisodicMemoryEntryV1_1 | None:
    """Return the first episode of a file."""
    with open(path, "rb") as file:
        line = file.readline()
    return _parsed(path, 0, line) if line.endswith(b"\n") else None


def lock_state(path: Path) -> LockState:
    """Say whether somebody is writing; the lock file itself stays behind after every write."""
    try:
        descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return "none"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return "held"
    finally:
        os.close(descriptor)
    return "free"


def repair_command(path: Path) -> str:
    """The command line that mends a store."""
    return f"episodic-absa memory repair --store {shlex.quote(str(path))}"


def _lines_backwards(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines with their offsets, last one first; a torn end is no line."""
    with open(path, "rb") as file:
        start = file.seek(0, os.SEEK_END)
        pending, behind_last_line = b"", True
        while start:
            length = min(_CHUNK, start)
            start = file.seek(start - length)
            pending, *lines = (file.read(length) + pending).split(b"\n")
            offset = start + len(pending) + sum(len(line) + 1 for line in lines) + 1
            for line in reversed(lines):
                offset -= len(line) + 1
                if not behind_last_line:
                    yield offset, line
                behind_last_line = False
        if not behind_last_line:
            yield 0, pending


def _parsed(path: Path, offset: int, line: bytes) -> EpisodicMemoryEntryV1_1:
    try:
        return EpisodicMemoryEntryV1_1.model_validate_json(line)
    except ValidationError as error:
        raise _bad_line(path, offset, reasons_of(error)) from error


def _number(episode: EpisodicMemoryEntryV1_1) -> int:
    return int(episode.episode_id[4:])


def _bad_line(path: Path, offset: int, reason: str) -> MemoryStoreError:
    number = _lines_before(path, offset) + 1
    return MemoryStoreError(
        f"{path}, line {number}: {reason}. Run `{repair_command(path)}`: "
        f"it moves such lines to {rejected_path(path).name} and loses no other",
        path=path,
        line=number,
    )


def _lines_before(path: Path, offset: int) -> int:
    line_n = 0
    with open(path, "rb") as file:
        while offset and (chunk := file.read(min(_CHUNK, offset))):
            line_n += chunk.count(b"\n")
            offset -= len(chunk)
    return line_n
