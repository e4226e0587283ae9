"""How far `analyze` is, on stderr: a live line on a terminal; elsewhere a plain line now and then, if it takes long."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_SECONDS_BETWEEN_LINES: Final = 10.0


class AnalyzeProgress:
    """Counts finished reviews."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._last_line = time.monotonic()
        # Not rich's own guess: FORCE_COLOR makes it take a pipe for a terminal.
        self._live = _live_line(total) if sys.stderr.isatty() else None
        self._task = self._live.add_task("analysing", total=total) if self._live else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Clear the line while something is printed where it stands."""
        if self._live is None:
            yield
            return
        self._live.stop()
        try:
            yield
        finally:
            if self._done < self._total:
                self._live.start()

    def advance(self) -> None:
        """Count one review."""
        self._done += 1
        if self._live is not None and self._task is not None:
            self._live.advance(self._task)
        elif time.monotonic() - self._last_line >= _SECONDS_BETWEEN_LINES and self._done < self._total:
            self._last_line = time.monotonic()
            sys.stderr.write(f"analysed {self._done} of {self._total}\n")
            sys.stderr.flush()


def _live_line(total: int) -> Progress:
    console = Console(stderr=True, highlight=False)
    waiting = (SpinnerColumn(), TextColumn("{task.description}"))
    counting = (BarColumn(bar_width=24), MofNCompleteColumn()) if total > 1 else ()
    return Progress(
        *waiting,
        *counting,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
