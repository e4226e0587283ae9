"""The current step of longer work, on stderr: a spinner on a terminal, otherwise a plain line every few seconds."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.text import Text

from episodic_absa.cli.output import printable

_QUIET_S: Final = 1.0
"""Work that takes no longer than this shows no spinner."""
_SECONDS_BETWEEN_LINES: Final = 3.0
"""Shorter work writes nothing to a log."""
_REFRESH_S: Final = 0.2


@contextmanager
def show_steps(title: str) -> Iterator[Callable[[str], None]]:
    """Show the current step until the context ends; call the function it yields to name the next step."""
    ended = threading.Event()
    step = [""]

    def name_step(words: str) -> None:
        step[0] = words

    def line() -> str:
        return f"{title}: {printable(step[0])} ...".replace(":  ", ": ")

    def write_lines() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LINES):
            sys.stderr.write(line() + "\n")
            sys.stderr.flush()

    def spin() -> None:
        if ended.wait(_QUIET_S):
            return
        with Console(stderr=True, highlight=False).status(Text(line())) as status:
            while not ended.wait(_REFRESH_S):
                status.update(Text(line()))

    # Rich would take a pipe for a terminal if FORCE_COLOR is set.
    display = threading.Thread(target=spin if sys.stderr.isatty() else write_lines, name="step-progress", daemon=True)
    display.start()
    try:
        yield name_step
    finally:
        ended.set()
        display.join()
