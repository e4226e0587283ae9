"""Drafts: files that are written beside the file they become, so that it is always whole."""

import glob
import os
from contextlib import suppress
from pathlib import Path


def draft_of(path: Path) -> Path:
    """Return where this process writes the draft of a file; drafts that killed processes left there are removed.

    A draft may hold reviews, so that none may stay behind when its file is written again.
    """
    for abandoned in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        writer = abandoned.name.split(".")[-2]
        if writer.isdecimal() and not _is_running(int(writer)):
            # Another process removes it at the same time, or the folder is read-only: writing will say so.
            with suppress(OSError):
                abandoned.unlink()
    return path.with_name(f".{path.name}.{os.getpid()}.new")


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
