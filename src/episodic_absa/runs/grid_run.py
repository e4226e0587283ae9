"""Runs a grid: for every order and seed it builds the store first, then runs the cells side by side."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from episodic_absa.backends.backend import Backend
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.contrib_parts import contrib_part
from episodic_absa.errors import ConfigError
from episodic_absa.runs.cell_run import (
    AnalyseCell,
    RunContext,
    analyse_here,
    other_configuration,
    require_few_failures,
    run_cell,
)
from episodic_absa.runs.config.cells import Cell, all_cells, require_stores, start_stores
from episodic_absa.runs.config.cfg_hash import cell_config, differing_settings, shown_differences
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.experiment_pipeline import open_backend
from episodic_absa.runs.fixed_question import fix_question
from episodic_absa.runs.progress import CellProgress, GridProgress
from episodic_absa.runs.reading.manifest_file import read_manifest, require_sealed
from episodic_absa.runs.run_directory import usable_sample_n
from episodic_absa.runs.shards import WHOLE, Shard


async def run_cells(
    config: ExperimentConfig,
    *,
    progress: GridProgress | None = None,
    use_cache_file: bool = True,
    keep_failures: bool = False,
    backend: Backend | None = None,
    shard: Shard = WHOLE,
) -> GridProgress:
    """Run every cell that is not finished; of committed samples only failed ones are run again.

    Args:
        config: the experiment.
        progress: kept up to date while the grid runs.
        use_cache_file: False keeps answers in memory only.
        keep_failures: True leaves samples failed that failed in an earlier run.
        backend: answers instead of the one that the config names; it is closed at the end.
        shard: which cells of the grid are run here.

    Raises:
        ConfigError: the shard has no cell, a condition has no store to read.
        DatasetError: the gold belongs to other texts.
        RunDirectoryError: a directory belongs to another run, or too many samples failed.
    """
    progress = progress or GridProgress()
    if backend is not None:
        config = config.answered_by(backend)
    data = ExperimentData(config)
    data.require_gold_in_texts()
    try:
        cells = shard.cells(config)
        with _engine(config, cells, backend) as analyse:
            async with open_backend(config, use_cache_file=use_cache_file, backend=backend) as opened:
                for cell in cells:
                    progress.cells[cell.name] = CellProgress(cell.name, total=len(data.samples_of(cell)))
                progress.requests = partial(opened.cache.counts, config.file.experiment.concurrency)
                starts = start_stores(config)
                require_stores(config, starts)
                _refuse_other_settings(config)
                _refuse_other_orders(config)
                fix_question(config, data)
                context = RunContext(config, data, opened.backend, analyse, use_cache_file, keep_failures)
                grid = _Grid(context, progress, starts)
                async with asyncio.TaskGroup() as repetitions:
                    for repetition in dict.fromkeys(cell.repetition for cell in cells):
                        together = [cell for cell in cells if cell.repetition == repetition]
                        repetitions.create_task(grid.run_repetition(together))
    except* Exception as group:
        raise _first(group) from group
    return progress


@contextmanager
def _engine(config: ExperimentConfig, cells: Sequence[Cell], backend: Backend | None) -> Iterator[AnalyseCell]:
    """Yield what analyses the samples. A cluster that cannot be used is refused before anything is written."""
    if config.file.experiment.engine == "local":
        yield analyse_here
        return
    if backend is not None or not facts_of(config.file.backbone).is_local or config.file.backbone.record is not None:
        raise ConfigError(
            "engine: ray serves the embedded engine and replay, whose answers workers compute; a model behind a "
            "server, a recording and a backend of your own are for engine: local. `run --shard` shares a grid out",
            key="experiment.engine",
        )
    if all((manifest := read_manifest(cell.path).manifest) and manifest.completed for cell in cells):
        yield analyse_here  # nothing is left for a cluster, unless a line was lost
        return
    with contrib_part("ray_grid")(config) as analyse:
        yield analyse


@dataclass(frozen=True)
class _Grid:
    context: RunContext
    progress: GridProgress
    starts: dict[str, Path | None]

    async def run_repetition(self, together: Sequence[Cell]) -> None:
        """Build the store of an order and seed, then run its cells side by side."""
        builds = [cell for cell in together if cell.is_build]
        for build in builds:
            await run_cell(self.context, build, None, self._take_in)
        async with asyncio.TaskGroup() as cells:
            for cell in together:
                if not cell.is_build:
                    start = self.starts[cell.name] if cell.needs_store else None
                    if builds and start is not None and not start.exists():
                        start = None  # the build stored nothing
                    cells.create_task(run_cell(self.context, cell, start, self._take_in))

    def _take_in(self, cell: CellProgress) -> None:
        """Show a cell's progress, and stop the grid when too many of its samples failed."""
        self.progress.cells[cell.name] = cell
        self.progress.on_change(self.progress)
        config = self.context.config
        require_few_failures(self.progress, config.file.experiment.max_failures, config.out_dir / cell.name)


def _refuse_other_settings(config: ExperimentConfig) -> None:
    """Refuse results of other settings before any cell is touched: a cell without results would be run again."""
    for cell in all_cells(config):
        known = read_manifest(cell.path).manifest
        if known is None or not usable_sample_n(cell.path):
            continue
        require_sealed(cell.path)
        if found := differing_settings(known.cfg_canonical, cell_config(config, cell)):
            raise other_configuration(cell.path, shown_differences(found))


def _refuse_other_orders(config: ExperimentConfig) -> None:
    """Refuse a grid in which seeds set some orders and `orders` the others: one number would name two orders."""
    experiment, out_dir = config.file.experiment, config.out_dir
    for path in sorted(out_dir.iterdir()) if out_dir.is_dir() else ():
        known = read_manifest(path).manifest if path.is_dir() else None
        if known is None or known.shuffle == experiment.shuffle or not usable_sample_n(path):
            continue
        if experiment.orders is not None or known.names_order:
            raise other_configuration(path, f"experiment.shuffle (was {known.shuffle}, now {experiment.shuffle})")


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError(str(error))
