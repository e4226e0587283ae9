"""Refuses what is no store before it is locked, opened or written: it stays as it is, with nothing left beside it."""

import re
import stat
from pathlib import Path
from typing import Final

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.memory_v1_2 import STORE_HEADER, is_header_line
from episodic_absa.serialization.sealed_lines import MAX_LINE_BYTES, opened

_KINDS: Final = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# A damaged line is recognised, too: one changed byte leaves either the id and the version, or the beginning.
_ENTRY = re.compile(rb'"episode_id":\s*"epi_[0-9]|"kind":\s*"(?:tally|verdict)"')
_VERSION: Final = b'"schema_version"'
_BEGINNINGS: Final = (STORE_HEADER, b'{"action_taken":', b'{"aspect":', b'{"kind":"tally"')


def refuse_special_file(path: Path) -> None:
    """Raise MemoryStoreError for a path that is no regular file, or a file with a second name. A missing one passes."""
    try:
        status = path.stat()
    except OSError:
        return  # missing, or out of reach: opening it says why
    kind = next((words for test, words in _KINDS if test(status.st_mode)), None)
    if kind is not None:
        raise MemoryStoreError(f"{path} is {kind}; a store is one .jsonl file, name it", path=path)
    if status.st_nlink > 1:
        raise MemoryStoreError(
            f"{path} has {status.st_nlink} names (hard links), and writers that use different names would not see each "
            "other's lock; copy it and name the copy",
            path=path,
        )


def refuse_other_file(path: Path) -> None:
    """Raise MemoryStoreError unless a path is missing, an empty file or a store, damaged or not.

    Raises:
        MemoryStoreError: it is no regular file, no line of it is one of a store, or a newer version wrote it.
    """
    refuse_special_file(path)
    try:
        if _is_store(path):
            return
    except FileNotFoundError:
        return
    except OSError as error:
        raise MemoryStoreError(f"cannot read {path}: {error.strerror}", path=path) from error
    raise MemoryStoreError(
        f"{path} is no store: no line of it is an episode, and it was not changed. Check the path, or name a file that "
        "does not exist yet",
        path=path,
    )


def _is_store(path: Path) -> bool:
    with open(path, "rb") as file:
        first = file.readline(MAX_LINE_BYTES)
        _refuse_newer(path, first)
        # A writer that was killed at once leaves the beginning of a line.
        is_unfinished = any(first.startswith(words[: len(first)]) for words in _BEGINNINGS)
        if not first or (is_unfinished and not first.endswith(b"\n")):
            return True
        while first and not _is_of_a_store(first):
            first = file.readline(MAX_LINE_BYTES)
        return bool(first)


def _is_of_a_store(line: bytes) -> bool:
    return is_header_line(line) or (_ENTRY.search(line) is not None and _VERSION in line)


def _refuse_newer(path: Path, first: bytes) -> None:
    match = re.fullmatch(rb'\{"format":"episodic_absa\.store","schema_version":"([0-9.]{1,9})"\}', opened(first).body)
    if match and opened(first).body != STORE_HEADER:
        raise MemoryStoreError(
            f"{path} is a store of schema_version {match[1].decode()}, which this version of episodic_absa does not "
            "know; install the version that wrote it",
            path=path,
        )
