"""The error for a bad line of a store, and the command that repairs the store."""

import mmap
import os
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
    # A user who names the wrong file must not be sent straight to a command that empties it.
    wrong_file = "" if _mentions_an_episode(path) else "The file holds no episode: check the path. If it is a store, "
    run = "run" if wrong_file else "Run"
    return MemoryStoreError(
        f"{path}, line {line}: {reason}. {wrong_file}{run} `{repair_command(path)}`: "
        f"it moves bad lines to {rejected_path(path).name} and keeps all others",
        path=path,
        line=line,
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


def _mentions_an_episode(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return any(content.find(key) >= 0 for key in (b'"episode_id"', b'"kind":"tally"', b'"kind":"verdict"'))
    except OSError:
        # The caller has read the file already. An error about the error would hide the bad line.
        return True
