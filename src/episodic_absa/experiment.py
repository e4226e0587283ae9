"""Runs an experiment from its configuration to the report, and gives its results to Python."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from episodic_absa.analysis.compared_runs import load_sides
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.paired_comparison import compare_sides
from episodic_absa.backends.backend import Backend
from episodic_absa.errors import EpisodicAbsaError, RunDirectoryError
from episodic_absa.loop_thread import LoopThread
from episodic_absa.metrics.statistics import Comparison
from episodic_absa.reports.run_report import REPORT
from episodic_absa.reports.written_results import WrittenResults, write_results
from episodic_absa.runs.cell_run import TooManyFailuresError
from episodic_absa.runs.config.experiment_config import ExperimentConfig, load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.reading.finished_cells import FinishedCell, Tell, tell_nobody
from episodic_absa.runs.shards import WHOLE, Shard


class GridOutcome(NamedTuple):
    """A grid, or a shard of it, whose cells have all ended."""

    progress: GridProgress
    results: WrittenResults | None
    """What was written about the grid; None for a shard."""


@dataclass(frozen=True)
class CellResult:
    """The result of one condition with one order and one seed."""

    condition: str
    order: int
    """0 is the order of the file; with `shuffle` the seed names the order."""
    seed: int
    samples: int
    """Failed ones included."""
    failed: int
    path: Path = field(repr=False)
    metrics: Mapping[str, float | None] = field(repr=False)
    """Every metric of docs/metrics.md by its name; None on an empty denominator."""


@dataclass(frozen=True, repr=False)
class Run:
    """The results of an experiment, as `run_experiment` returns them.

    Example:
        >>> from episodic_absa import run_experiment
        >>> run = run_experiment("experiments/quickstart.yaml")
        >>> run
        Run(quickstart: C1, C2, C2_silent, C2_eval_only, C2_frozen; 3 seeds)
        >>> run.path.name, run.report().name
        ('quickstart', 'report.html')
        >>> run.cells[0]
        CellResult(condition='C1', order=42, seed=42, samples=..., failed=0)
        >>> "tuple_f1_explicit" in run.cells[0].metrics
        True
        >>> comparison = run.compare("C2", "C1")
        >>> comparison.a, comparison.b, comparison.of("tuple_f1_explicit").kind
        ('C2', 'C1', 'outcome')
        >>> comparison
        Comparison(C2 minus C1: tuple_f1_explicit ...)
        >>> "difference_by_arm.svg" in {path.name for path in run.export("figures")}
        True
    """

    finished: FinishedRun
    """Everything that the tables and the report are made of."""

    @property
    def path(self) -> Path:
        """The directory of the run."""
        return self.finished.root

    @cached_property
    def cells(self) -> tuple[CellResult, ...]:
        """The results of every condition with every order and seed, as the experiment lists them."""
        return tuple(_cell_result(cell) for cells in self.finished.by_condition.values() for cell in cells)

    def compare(self, a: str, b: str, *, seed: int | None = None) -> Comparison:
        """Return the paired comparison A minus B over all orders and seeds, as `episodic-absa compare` computes it.

        Args:
            a: the name of a condition of this run.
            b: the name of another one.
            seed: seeds the resampling, not the run; None for the fixed one.

        Raises:
            RunDirectoryError: the run has no such condition, both names mean the same one, or the two have no sample
                in common.
        """
        side_a, side_b = load_sides([self.path, Path(a), Path(b)])
        if side_a.cells == side_b.cells:
            raise RunDirectoryError(
                f"{a} and {b} are the same condition of {self.path}; name two different ones", path=self.path
            )
        return compare_sides(side_a, side_b, seed=seed)

    def report(self) -> Path:
        """Return the path of report.html; it is written anew only if it is missing."""
        path = self.path / REPORT
        return path if path.is_file() else write_results(self.path).report

    def export(self, folder: str | Path) -> tuple[Path, ...]:
        """Write every figure of the report as SVG and every table as CSV and LaTeX; return the files.

        Args:
            folder: where the files go; it is created if it is missing.
        """
        return tuple(write_results(self.path, export=Path(folder)).exported)

    def __repr__(self) -> str:
        manifests = [cell.manifest for cells in self.finished.by_condition.values() for cell in cells]
        seeds = _counted(len({manifest.seed for manifest in manifests}), "seed")
        if any(manifest.names_order for manifest in manifests):
            seeds = f"{_counted(len({manifest.order for manifest in manifests}), 'order')} x {seeds}"
        return f"Run({self.path.name}: {', '.join(self.finished.by_condition)}; {seeds})"


def run_experiment(
    experiment: str | Path | ExperimentConfig,
    *,
    use_cache_file: bool = True,
    keep_failures: bool = False,
    backend: Backend | None = None,
    progress: Callable[[GridProgress], None] | None = None,
) -> Run:
    """Run every cell that is not finished, write tables and report, and return the results.

    Finished samples are not repeated; samples that failed in an earlier call are run again. A finished experiment
    without failures asks no model; its tables and reports are derived again.
    Works in a script and inside a running event loop, as in a notebook.

    Args:
        experiment: the path of an experiment file, or an experiment that `load_experiment` returned.
        use_cache_file: False keeps answers in memory only.
        keep_failures: True leaves samples failed that failed in an earlier call.
        backend: answers instead of the one that the experiment names; it is closed at the end.
        progress: is called with the state of the grid whenever a sample is done.

    Raises:
        ConfigError: the experiment file cannot be obeyed.
        DatasetError: a data or gold file cannot become samples.
        RunDirectoryError: the directory belongs to another experiment, more samples failed than
            `experiment.max_failures` allows, or the first ten samples failed alike. After the cause is fixed the same
            call goes on.

    Example:
        >>> from episodic_absa import run_experiment
        >>> run = run_experiment("experiments/quickstart.yaml")
        >>> len(run.cells)
        15
        >>> sorted({cell.condition for cell in run.cells})
        ['C1', 'C2', 'C2_eval_only', 'C2_frozen', 'C2_silent']
    """
    config = experiment if isinstance(experiment, ExperimentConfig) else load_experiment(experiment)
    state = GridProgress() if progress is None else GridProgress(on_change=progress)
    with LoopThread(owner="run_experiment") as loop:
        grid = run_grid(
            config, progress=state, use_cache_file=use_cache_file, keep_failures=keep_failures, backend=backend
        )
        results = loop.run(grid).results
    assert results is not None  # noqa: S101 - the whole grid
    return Run(results.finished)


async def run_grid(
    config: ExperimentConfig,
    *,
    progress: GridProgress | None = None,
    use_cache_file: bool = True,
    keep_failures: bool = False,
    backend: Backend | None = None,
    shard: Shard = WHOLE,
    tell: Tell = tell_nobody,
) -> GridOutcome:
    """Run every cell that is not finished, then write the tables and the reports, also of a run that failures stop.

    Args:
        config: what to run.
        progress: kept up to date while it runs.
        use_cache_file: False keeps answers in memory only.
        keep_failures: True leaves samples failed that failed in an earlier run.
        backend: answers instead of the one the config names; it is closed at the end.
        shard: which cells are run here; tables and reports are written of a whole grid only.
        tell: is told every step after the last sample.
    """
    try:
        progress = await run_cells(
            config,
            progress=progress,
            use_cache_file=use_cache_file,
            keep_failures=keep_failures,
            backend=backend,
            shard=shard,
        )
    except TooManyFailuresError:
        # The report of what is done says why; that it cannot be written must not hide the cause.
        with suppress(EpisodicAbsaError):
            write_results(config.out_dir, tell=tell)
        raise
    if shard != WHOLE:
        return GridOutcome(progress, None)
    return GridOutcome(progress, write_results(config.out_dir, tell=_unless_cancelled(tell)))


def _unless_cancelled(tell: Tell) -> Tell:
    """Return `tell` for work that never awaits: it ends the work at the next step after an interrupt."""
    task = asyncio.current_task()

    def tell_or_stop(step: str) -> None:
        if task is not None and task.cancelling():
            raise asyncio.CancelledError
        tell(step)

    return tell_or_stop


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _cell_result(cell: FinishedCell) -> CellResult:
    return CellResult(
        condition=cell.condition,
        order=cell.manifest.order,
        seed=cell.manifest.seed,
        samples=len(cell.cards),
        failed=sum(card.status == "error" for card in cell.cards),
        path=cell.path,
        metrics={metric.metric: metric.value for metric in cell.metrics},
    )
