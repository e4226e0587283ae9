"""The progress of `analyze`, on stderr: a live line on a terminal, otherwise a plain line every half minute."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_SECONDS_BETWEEN_LINES: Final = 30.0


class AnalyzeProgress:
    """Counts finished reviews and shows the count."""

    def __init__(self, total: int, *, seconds_between_lines: float = _SECONDS_BETWEEN_LINES) -> None:
        self._total = total
        self._seconds_between_lines = seconds_between_lines
        self._done = 0
        self._last_line = time.monotonic()
        # Rich would take a pipe for a terminal if FORCE_COLOR is set.
        self._live = _live_line(total) if sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def advance(self) -> None:
        """Count one review that prints nothing."""
        self._done += 1
        if self._live is not None:
            self._live.advance(self._live.task_ids[0])
        else:
            self._write_line()

    @contextmanager
    def after_one_more(self) -> Iterator[None]:
        """Count one review, and clear the line while its page is printed: both may share a terminal."""
        self._done += 1
        if self._live is not None:
            self._live.stop()
        yield
        sys.stdout.flush()
        if self._done == self._total:
            return
        if self._live is not None:
            self._live.advance(self._live.task_ids[0])
            self._live.start()
        else:
            self._write_line()

    def _write_line(self) -> None:
        if self._done < self._total and time.monotonic() - self._last_line >= self._seconds_between_lines:
            self._last_line = time.monotonic()
            sys.stderr.write(f"analysed {self._done} of {self._total}\n")
            sys.stderr.flush()


def _live_line(total: int) -> Progress:
    counted = (BarColumn(bar_width=24), MofNCompleteColumn()) if total > 1 else ()
    line = Progress(
        SpinnerColumn(),
        TextColumn("analysing"),
        *counted,
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    line.add_task("", total=total)
    return line
