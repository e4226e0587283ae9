"""Shows the progress of a grid on stderr: a live table on a terminal, elsewhere plain lines from time to time."""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console, ConsoleRenderable, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.amounts import money_text, short_number
from episodic_absa.cli.output import printable
from episodic_absa.runs.config.cells import all_cells
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.progress import CellProgress, GridProgress

_REFRESH_PER_SECOND: Final = 8
_FIRST_MINUTE_S: Final = 60.0
_SECONDS_BETWEEN_LINES: Final = (5.0, 30.0)
"""In the first minute, and later: the log of a long run stays readable."""
_BAR_WIDTH: Final = 8


TellStopping = Callable[[], None]
"""A signal handler calls it when the run is asked to stop, which may take a few seconds."""


class RunningLine(Protocol):
    """A line about the results so far, shown beside the progress."""

    def now(self) -> str:
        """Return the line after the samples that are committed now."""
        ...

    def recent(self) -> str:
        """Return a line that is at most a second old."""
        ...


@contextmanager
def show_progress(
    config: ExperimentConfig, progress: GridProgress, watch: RunningLine | None = None
) -> Iterator[TellStopping]:
    """Show progress while the context lasts; at its end, write the last line of what is watched."""
    # rich's own check is not used: FORCE_COLOR makes it treat a pipe as a terminal.
    display = _live(config, progress, watch) if sys.stderr.isatty() else _plain(progress, watch)
    try:
        with display as tell_stopping:
            yield tell_stopping
    finally:
        if watch is not None and progress.cells:
            _write(watch.now())


class Pace:
    """The speed of a run, and how long the rest takes."""

    def __init__(self, progress: GridProgress) -> None:
        self._progress = progress
        self._start = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Seconds since this invocation began."""
        return time.monotonic() - self._start

    def left_s(self) -> float | None:
        """Return how long the rest takes at the speed so far; None before the first sample is done."""
        cells = list(self._progress.cells.values())
        done_n = sum(cell.done - cell.resumed for cell in cells)
        left_n = sum(cell.total - cell.done for cell in cells)
        return self.elapsed_s / done_n * left_n if done_n else None


def clock_text(seconds: float) -> str:
    """Return 75 as 1:15 and 3700 as 1:01:40."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def request_parts(progress: GridProgress) -> list[str]:
    """Return the counts of requests; nothing if no request was sent or answered from the cache."""
    counts = progress.requests()
    if not counts.sent_n and not counts.cached_n:
        return []
    usage = counts.usage
    return [
        f"{short_number(counts.answered_n)} request{'' if counts.answered_n == 1 else 's'} answered",
        f"{counts.in_flight_n} in flight",
        f"{short_number(counts.cached_n)} from cache",
        f"{short_number(usage.tokens_in + usage.tokens_out)} tokens",
        "cost unknown" if usage.cost_usd is None else money_text(usage.cost_usd),
    ]


@contextmanager
def _plain(progress: GridProgress, watch: RunningLine | None) -> Iterator[TellStopping]:
    pace, written, ended = Pace(progress), set[str](), threading.Event()

    def write_cell_lines(grid: GridProgress) -> None:
        for cell in grid.cells.values():
            if cell.resumed == cell.total:
                continue  # finished by an earlier invocation
            for line in (resumed_line(cell), ended_line(cell)):
                if line and line not in written:
                    written.add(line)
                    _write(line)

    def write_grid_lines() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LINES[pace.elapsed_s > _FIRST_MINUTE_S]):
            if progress.cells:
                _write(grid_line(progress, pace))
                if watch is not None:
                    _write(watch.now())

    progress.on_change = write_cell_lines
    writer = threading.Thread(target=write_grid_lines, name="run-progress", daemon=True)
    writer.start()
    try:
        yield _write_stopping
    finally:
        ended.set()
        writer.join()


def resumed_line(cell: CellProgress) -> str:
    """Return the line of a cell that is resumed, "" if it starts from its first sample."""
    if not cell.resumed and not cell.redone:
        return ""
    again = f"; {cell.redone} that failed are run again" if cell.redone else ""
    return f"{cell.name}: resumed, {cell.resumed} of {cell.total} samples were done{again}"


def ended_line(cell: CellProgress) -> str:
    """Return the line of a cell that has ended, "" if it has not."""
    if cell.done < cell.total:
        return ""
    parts = [f"{cell.total - cell.resumed} samples", f"{cell.failed} failed"]
    if cell.shown:
        parts.append(f"{cell.shown} with memory")
    parts += [f"{cell.changed} changed", f"{cell.stored} stored"]
    return f"{cell.name}: done, {', '.join(parts)}"


def grid_line(progress: GridProgress, pace: Pace) -> str:
    """Return the state of the whole grid in one line."""
    cells = list(progress.cells.values())
    done_n, total, ended_n = _sums(cells)
    parts = [
        f"{done_n:,} of {total:,} samples ({_percent(done_n, total)})",
        f"{ended_n} of {len(cells)} cells",
        f"{progress.failed} failed",
        *request_parts(progress),
        clock_text(pace.elapsed_s),
    ]
    left_s = pace.left_s()
    parts += [f"about {clock_text(left_s)} left"] if left_s is not None else []
    return ", ".join(parts)


@contextmanager
def _live(config: ExperimentConfig, progress: GridProgress, watch: RunningLine | None) -> Iterator[TellStopping]:
    pace, stopping = Pace(progress), threading.Event()
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    live = Live(
        console=console,
        get_renderable=lambda: progress_view(config, progress, pace, watch, is_stopping=stopping.is_set()),
        refresh_per_second=_REFRESH_PER_SECOND,
        transient=True,
        redirect_stdout=False,
    )
    handlers = [
        handler for handler in logging.getLogger("episodic_absa").handlers if isinstance(handler, logging.StreamHandler)
    ]
    plain = sys.stderr
    with live:
        for handler in handlers:
            handler.setStream(sys.stderr)  # warnings appear above the table, not inside it
        try:
            yield stopping.set
        finally:
            for handler in handlers:
                handler.setStream(plain)


def progress_view(
    config: ExperimentConfig,
    progress: GridProgress,
    pace: Pace,
    watch: RunningLine | None = None,
    *,
    is_stopping: bool = False,
) -> ConsoleRenderable:
    """Lay the grid out: a row per condition, with the sum over its orders and seeds."""
    cells = dict(progress.cells)
    head = Text.assemble(
        (printable(config.file.run_id), "bold"), f"  {config.file.backbone.provider}:{config.file.backbone.model}"
    )
    if not cells:
        return Group(head, Text("reading the data ...", style="dim"))
    return Group(
        head,
        Text(),
        _by_condition(config, cells),
        Text(),
        _total(progress, pace),
        *([Text(watch.recent())] if watch is not None else []),
        *([Text("stopping ...", style="yellow")] if is_stopping else []),
    )


def _by_condition(config: ExperimentConfig, cells: Mapping[str, CellProgress]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="cyan")
    table.add_column("", style="bold", no_wrap=True, overflow="ellipsis")
    table.add_column("", width=_BAR_WIDTH)
    table.add_column("all cells", justify="right", no_wrap=True)
    for name, of_condition in _conditions(config, cells).items():
        done_n, total, _ = _sums(of_condition)
        failed_n = sum(cell.failed for cell in of_condition)
        table.add_row(printable(name), _bar(done_n, total), _count(done_n, total, failed_n))
    return table


def _total(progress: GridProgress, pace: Pace) -> Group:
    cells = list(progress.cells.values())
    done_n, total, ended_n = _sums(cells)
    line = Table.grid(padding=(0, 1, 0, 0))
    left_s = pace.left_s()
    left = "" if left_s is None else f", about {clock_text(left_s)} left"
    line.add_row(
        # Before the first sample is done, requests are all that moves.
        ProgressBar(total=max(total, 1), completed=done_n, width=2 * _BAR_WIDTH, pulse=not done_n),
        Text(f"{done_n:,}/{total:,}", style="bold"),
        Text(f"{ended_n} of {len(cells)} cells"),
        Text(f"{clock_text(pace.elapsed_s)}{left}", style="dim"),
    )
    failed = Text(f"{progress.failed} failed", style="bold red" if progress.failed else "dim")
    return Group(line, Text(" · ", style="dim").join([failed, *(Text(part) for part in request_parts(progress))]))


def _write(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()


def _write_stopping() -> None:
    # sys.stderr is not used: the signal may arrive in the middle of a write to it.
    os.write(sys.stderr.fileno(), b"stopping ...\n")


def _conditions(config: ExperimentConfig, cells: Mapping[str, CellProgress]) -> dict[str, list[CellProgress]]:
    """Return the cells of every condition, those that build stores first, by order and seed."""
    by_condition: dict[str, list[CellProgress]] = {}
    for cell in all_cells(config):
        if cell.name in cells:
            by_condition.setdefault("build" if cell.is_build else cell.condition.name, []).append(cells[cell.name])
    return by_condition


def _bar(done_n: int, total: int) -> ProgressBar:
    return ProgressBar(total=max(total, 1), completed=done_n, width=_BAR_WIDTH)


def _count(done_n: int, total: int, failed_n: int) -> Text:
    if failed_n:
        return Text(f"{done_n}/{total} !{failed_n}", style="red")
    style = "green" if done_n == total else "" if done_n else "dim"
    return Text(f"{done_n}/{total}", style=style)


def _sums(cells: Iterable[CellProgress]) -> tuple[int, int, int]:
    """Return samples done, samples in all, and how many cells have ended."""
    listed = list(cells)
    ended_n = sum(cell.done == cell.total for cell in listed)
    return sum(cell.done for cell in listed), sum(cell.total for cell in listed), ended_n


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
