"""The work of `run`: shows the progress and the summary, and says what happens next if the run stops."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.analysis.failures import RunFailures, failures_of
from episodic_absa.analysis.summary import load_summary
from episodic_absa.cli.output import print_json, printable, show, show_error, shown_path
from episodic_absa.cli.report.derived_view import derived_line
from episodic_absa.cli.run.dry_run_view import dry_run_json, dry_run_view
from episodic_absa.cli.run.run_progress import RunningLine, TellStopping, show_progress
from episodic_absa.cli.run.run_summary import failure_error, failure_lines, failures_json, summary_json, summary_view
from episodic_absa.cli.step_progress import show_steps
from episodic_absa.contrib_parts import contrib_part
from episodic_absa.experiment import GridOutcome, run_grid
from episodic_absa.reports.run_report import REPORT
from episodic_absa.reports.written_results import WrittenResults
from episodic_absa.runs.cell_run import TooManyFailuresError
from episodic_absa.runs.config.cells import all_cells
from episodic_absa.runs.config.experiment_config import ExperimentConfig, load_experiment
from episodic_absa.runs.estimate import estimate_run
from episodic_absa.runs.failure_causes import samples
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.question import added_parts, parts_text
from episodic_absa.runs.reading.finished_cells import Tell
from episodic_absa.runs.shards import WHOLE, Shard

_EXIT_TOO_MANY_FAILURES: Final = 1
_EXIT_INTERRUPTED: Final = 130
_EXIT_TERMINATED: Final = 143
_JOIN: Final = "episodic-absa join CONFIG DIR..."
_EXPLORATORY_NOTE: Final = "comparisons.csv marks what was not asked before the first sample"


@dataclass(frozen=True)
class Invocation:
    """The command line of one `run`."""

    config: Path
    limit: int | None = None
    no_cache: bool = False
    out: Path | None = None
    keep_failures: bool = False
    engine: Literal["local", "ray"] | None = None
    ray_address: str | None = None
    shard: str | None = None
    as_json: bool = False
    watch: bool = False

    @property
    def command(self) -> str:
        """The line that continues this run; it runs failed samples again."""
        options = {
            "--limit": self.limit,
            "--no-cache": self.no_cache,
            "--out": self.out,
            "--engine": self.engine,
            "--ray-address": self.ray_address,
            "--shard": self.shard,
            "--watch": self.watch,
        }
        words = ["episodic-absa", "run", str(self.config)]
        for name, value in options.items():
            if value is not None and value is not False:
                words += [name] if value is True else [name, str(value)]
        return shlex.join(words)

    def load(self) -> ExperimentConfig:
        """Return the experiment, with the options in force."""
        config = load_experiment(self.config)
        config = config if self.out is None else config.writing_to(self.out)
        if self.engine is not None or self.ray_address is not None:
            config = config.running_on(self.engine or config.file.experiment.engine, self.ray_address)
        return config if self.limit is None else config.limited_to(self.limit)


def run_and_show(invocation: Invocation) -> int:
    """Run what is left, print the summary, and return the exit code."""
    config, shard = invocation.load(), Shard.parse(invocation.shard) if invocation.shard else WHOLE
    progress = GridProgress()
    watch = contrib_part("watch")(config, progress) if invocation.watch else None
    ends: list[int] = []
    try:
        # Ray prints what it says about lost workers to stdout, which belongs to the summary.
        with redirect_stdout(sys.stderr), _show_run(config, progress, watch) as display:
            grid = run_grid(
                config,
                progress=progress,
                use_cache_file=not invocation.no_cache,
                keep_failures=invocation.keep_failures,
                shard=shard,
                tell=display.tell_step,
            )
            outcome = asyncio.run(_interruptible(grid, display.tell_stopping, ends))
    except (KeyboardInterrupt, asyncio.CancelledError):
        _say(f"stopped; {_kept(progress)}")
        _say(f"resume with: {invocation.command}")
        return _EXIT_TERMINATED if signal.SIGTERM in ends else _EXIT_INTERRUPTED
    except TooManyFailuresError as error:
        show_error(str(error))
        _say(f"see {shown_path(error.path)}/traces.jsonl for the reasons; {_kept(progress)}")
        if (report := config.out_dir / REPORT).is_file():
            _say(f"the report of what is done: {printable(shown_path(report))}")
        _say(f"resume with: {invocation.command}")
        return _EXIT_TOO_MANY_FAILURES
    if outcome.results is None:
        _say(f"shard {shard}: {_kept(progress)} in {shown_path(config.out_dir)}; when all shards are done: {_JOIN}")
        return 0
    failures = failures_of(outcome.results.finished.cells)
    if message := failure_error(failures):
        show_error(message)
    for line in failure_lines(failures, invocation.command):
        _say(line)
    _show_outcome(invocation, config, outcome.progress, outcome.results, failures)
    return _EXIT_TOO_MANY_FAILURES if message else 0


def _show_outcome(
    invocation: Invocation,
    config: ExperimentConfig,
    progress: GridProgress,
    results: WrittenResults,
    failures: RunFailures,
) -> None:
    was_finished = all(cell.resumed == cell.total for cell in progress.cells.values())
    if was_finished:
        _say(f"{config.file.run_id} was finished before; nothing was run")
    if not results.has_text:
        _say(f"{REPORT} stays without review text; with it: episodic-absa report {shown_path(config.out_dir)}")
    names = [cell.name for cell in all_cells(config)]
    summary = load_summary(config.out_dir, names, results.finished.cells)
    if invocation.as_json:
        counts = summary_json(config, summary, progress.requests(), was_finished=was_finished)
        question = results.finished.question
        exploratory = [part.text for part in added_parts(question)]
        asked = {"question": question and question.model_dump(mode="json"), "exploratory": exploratory}
        print_json({**counts, "failures": failures_json(failures), **asked})
        return
    show(summary_view(config, summary, progress.requests(), has_comparisons=bool(results.finished.comparisons)))
    if parts := added_parts(results.finished.question):
        sys.stdout.write(f"\nexploratory: {printable(parts_text(parts))}; {_EXPLORATORY_NOTE}\n")
    # Plain lines: a narrow terminal must not break a path that is to be copied.
    sys.stdout.write(f"\nresults  {printable(shown_path(config.out_dir))}\n")
    sys.stdout.write(f"tables   {derived_line(config.out_dir, results.tables)}\n")
    sys.stdout.write(f"report   {printable(shown_path(results.report))}\n")


def show_dry_run(invocation: Invocation) -> int:
    """Print what the run would take; nothing is sent and nothing is written."""
    config = invocation.load()
    estimate = asyncio.run(estimate_run(config))
    if invocation.as_json:
        print_json(dry_run_json(config, estimate))
    else:
        show(dry_run_view(config, estimate))
    return 0


class _Display(NamedTuple):
    """What a run calls while it is shown."""

    tell_stopping: TellStopping
    tell_step: Tell


@contextmanager
def _show_run(config: ExperimentConfig, progress: GridProgress, watch: RunningLine | None) -> Iterator[_Display]:
    """Show the samples while cells run; from the first step on, show the steps of tables and report instead."""
    with ExitStack() as shown:
        tell_stopping = shown.enter_context(show_progress(config, progress, watch))
        step_views: list[Tell] = []

        def tell_step(step: str) -> None:
            if not step_views:
                shown.close()
                step_views.append(shown.enter_context(show_steps("report")))
            step_views[0](step)

        yield _Display(tell_stopping, tell_step)


async def _interruptible(
    grid: Coroutine[Any, Any, GridOutcome], tell_stopping: TellStopping, ends: list[int]
) -> GridOutcome:
    """Run the grid. A signal that ends it is acknowledged at once; the grid may need a moment to end.

    Args:
        grid: the run.
        tell_stopping: shows that the run is about to end.
        ends: takes the signals that came.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    cancel_grid = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        ends.append(number)
        tell_stopping()
        if number == signal.SIGINT and callable(cancel_grid):
            cancel_grid(number, frame)
        elif task is not None:
            task.cancel()
            # The loop may be asleep.
            loop.call_soon_threadsafe(lambda: None)

    # A shell starts background jobs of a script with SIGINT ignored. Then it stays ignored.
    caught = (signal.SIGINT, signal.SIGTERM) if callable(cancel_grid) else (signal.SIGTERM,)
    before = {number: signal.signal(number, stop) for number in caught}
    try:
        return await grid
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _kept(progress: GridProgress) -> str:
    cells = progress.cells.values()
    done_n, total = sum(cell.done for cell in cells), sum(cell.total for cell in cells)
    if not total:
        return "nothing had begun"
    # Of failed samples the next run keeps nothing.
    failed = f", {progress.failed:,} failed and are run again" if progress.failed else ""
    return f"{done_n - progress.failed:,} of {samples(total)} are done and kept{failed}"


def _say(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()
