"""The error for a bad line of a store, and the command that repairs the store."""

import shlex
from pathlib import Path
from typing import Final

from episodic_absa.errors import MemoryStoreError

_CHUNK: Final = 1 << 20


def bad_line_error(path: Path, line: int, reason: str) -> MemoryStoreError:
    """Return the error for one bad line of a store.

    Args:
        path: the store file.
        line: the number of the line, counted from 1.
        reason: what is wrong with the line, without its content.
    """
    return MemoryStoreError(
        f"{path}, line {line}: {reason}. Run `{repair_command(path)}`: "
        f"it moves bad lines to {rejected_path(path).name} and keeps all others",
        path=path,
        line=line,
    )


def lost_lines_error(path: Path, reason: str) -> MemoryStoreError:
    """Return the error for a store that does not hold what its writers acknowledged."""
    return MemoryStoreError(
        f"{path}: {reason}. Restore the file from a copy, or run `{repair_command(path)}` to go on with the lines that "
        "are there: ids of lost episodes are not given again",
        path=path,
    )


def lines_before(path: Path, offset: int) -> int:
    """Return how many lines of a file end before an offset."""
    line_n = 0
    with open(path, "rb") as file:
        while offset and (chunk := file.read(min(_CHUNK, offset))):
            line_n += chunk.count(b"\n")
            offset -= len(chunk)
    return line_n


def repair_command(path: Path) -> str:
    """Return the shell command that repairs a store."""
    return f"episodic-absa memory repair --store {shlex.quote(str(path))}"


def rejected_path(store: Path) -> Path:
    """Return the file that a repair moves bad lines to."""
    return store.with_name(store.name + ".rejected.jsonl")


def torn_path(store: Path) -> Path:
    """Return the file that unfinished lines are moved to."""
    return store.with_name(store.name + ".torn")
