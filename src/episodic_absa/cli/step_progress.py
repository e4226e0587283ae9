"""What a longer piece of work is at, on stderr: a spinner on a terminal, elsewhere a plain line now and then."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.text import Text

from episodic_absa.cli.output import printable

_QUIET_S: Final = 1.0
"""Who waits no longer than this at a terminal is told nothing."""
_SECONDS_BETWEEN_LINES: Final = 3.0
"""A log has no use for the steps of short work."""
_REFRESH_S: Final = 0.2


@contextmanager
def show_steps(what: str) -> Iterator[Callable[[str], None]]:
    """Show the steps that are told, as long as the context lasts."""
    ended = threading.Event()
    step = [""]

    def tell(words: str) -> None:
        step[0] = words

    def line() -> str:
        return f"{what}: {printable(step[0])} ...".replace(":  ", ": ")

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

    # Not rich's own guess: FORCE_COLOR makes it take a pipe for a terminal.
    teller = threading.Thread(target=spin if sys.stderr.isatty() else write_lines, name="step-progress", daemon=True)
    teller.start()
    try:
        yield tell
    finally:
        ended.set()
        teller.join()
