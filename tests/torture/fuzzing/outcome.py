"""Judges how a target ended on one input. Only the package's own errors are permitted, with a short message."""

import os
import shutil
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.errors import EpisodicAbsaError

MAX_MESSAGE_CHARS: Final = 2_000
MAX_QUOTED_CHARS: Final = 200
_FRAME_CHARS: Final = 10
"""Characters around a quotation, such as ` <`, that may stand in the input by chance."""
_OPEN_FILES: Final = Path("/proc/self/fd")


class LostDataError(AssertionError):
    """A target dropped something that it should have kept."""


class Finding(NamedTuple):
    """A defect: an input, and how the target ended on it."""

    target: str
    kind: str
    """`lost`, `message`, `leak` or the class of an exception."""
    place: str
    """The innermost line of the package, which tells defects apart."""
    detail: str


def _no_seeds() -> Iterable[bytes]:
    return ()


@dataclass(frozen=True)
class Target:
    """One door of the package that reads what others wrote."""

    name: str
    read: Callable[[bytes, Path], None]
    """Gets the input and an empty folder."""
    inputs: int
    """How many inputs the full torture gives to it."""
    leaves: frozenset[str] = frozenset()
    """The files that may stand in the folder afterwards."""
    permitted: tuple[type[Exception], ...] = (EpisodicAbsaError,)
    seeds: Callable[[], Iterable[bytes]] = field(default=_no_seeds, repr=False)
    """Valid inputs that are made anew each time, beside those of the kept corpus."""
    is_text: bool = True
    """Whether inputs are UTF-8, so that a quoted part of them can be found in a message."""


def examine(target: Target, data: bytes, folder: Path) -> Finding | None:
    """Give one input to a target; return the defect that it shows, None if there is none.

    Args:
        target: what reads the input.
        data: the input.
        folder: exists and is empty, and is empty again afterwards.
    """
    opened_n = len(os.listdir(_OPEN_FILES))
    try:
        target.read(data, folder)
    except target.permitted as error:
        finding = _of_message(target, error, data)
    except LostDataError as error:
        finding = Finding(target.name, "lost", _place(error), str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever else a target raises is a defect
        finding = Finding(target.name, type(error).__name__, _place(error), str(error)[:MAX_QUOTED_CHARS])
    else:
        finding = None
    left = _emptied(folder) - target.leaves
    if finding is None and left:
        finding = Finding(target.name, "leak", "", f"left behind: {', '.join(sorted(left))}")
    still_open_n = len(os.listdir(_OPEN_FILES)) - opened_n
    if finding is None and still_open_n > 0:
        finding = Finding(target.name, "leak", "", f"{still_open_n} files left open")
    return finding


def _of_message(target: Target, error: Exception, data: bytes) -> Finding | None:
    message = str(error)
    if len(message) > MAX_MESSAGE_CHARS:
        return Finding(target.name, "message", _place(error), f"{len(message):,} characters: {message[:120]}")
    if target.is_text and (quoted := _quoted(message, data)):
        return Finding(target.name, "message", _place(error), f"quotes the input: {quoted[:120]}")
    return None


def _quoted(message: str, data: bytes) -> str:
    """Return a part of the message that stands in the input and is too long, "" if there is none."""
    length = MAX_QUOTED_CHARS + _FRAME_CHARS + 1
    if len(message) < length:
        return ""
    text = data.decode("utf-8", "replace")
    parts = (message[start : start + length] for start in range(len(message) - length + 1))
    return next((part for part in parts if part in text), "")


def _place(error: BaseException) -> str:
    """Return the innermost line of the package or of a target; of a recursion the line that stands for all."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_ours(frame.filename)]
    if not frames:
        return ""
    last = frames[-1]
    line = "" if isinstance(error, RecursionError) else f":{last.lineno}"
    return f"{Path(last.filename).name}{line} in {last.name}"


def _is_ours(filename: str) -> bool:
    return "episodic_absa" in filename or Path(__file__).parent.name in Path(filename).parts


def _emptied(folder: Path) -> set[str]:
    """Remove everything below a folder and return the names that stood in it."""
    names = set()
    with os.scandir(folder) as entries:
        for entry in entries:
            names.add(entry.name)
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)  # noqa: PTH108 - called for every input
    return names
