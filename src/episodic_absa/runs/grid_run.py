"""Runs a grid: for every order and seed it builds the store first, then runs the cells side by side."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from episodic_absa.backends.backend import Backend
from episodic_absa.runs.cell_run import CellSpec, other_configuration, require_few_failures, run_cell
from episodic_absa.runs.config.cells import Cell, all_cells, build_cells, evaluated_cells, require_stores, start_stores
from episodic_absa.runs.config.cfg_hash import cell_config
from episodic_absa.runs.config.config_differences import differing_settings, shown_differences
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.engines.ray_engine import RayEngine
from episodic_absa.runs.engines.sample_engine import LocalEngine, SampleEngine
from episodic_absa.runs.fixed_question import fix_question
from episodic_absa.runs.progress import CellProgress, GridProgress
from episodic_absa.runs.reading.manifest_file import read_manifest, require_sealed
from episodic_absa.runs.run_backend import open_backend
from episodic_absa.runs.run_directory import usable_sample_n
from episodic_absa.schemas.repetition import Repetition


async def run_cells(
    config: ExperimentConfig,
    *,
    progress: GridProgress | None = None,
    use_cache_file: bool = True,
    keep_failures: bool = False,
    backend: Backend | None = None,
) -> GridProgress:
    """Run every cell that is not finished; of committed samples only failed ones are run again.

    Args:
        config: the experiment.
        progress: kept up to date while the grid runs.
        use_cache_file: False keeps answers in memory only.
        keep_failures: True leaves samples failed that failed in an earlier run.
        backend: answers instead of the one that the config names; it is closed at the end.

    Raises:
        ConfigError: a condition has no store to read.
        DatasetError: the gold belongs to other texts.
        RunDirectoryError: a directory belongs to another run, or too many samples failed.
    """
    progress = progress or GridProgress()
    if backend is not None:
        config = config.answered_by(backend)
    data = ExperimentData(config)
    data.require_gold_in_texts()
    try:
        async with (
            _opened_engine(config, data, use_cache_file=use_cache_file, backend=backend) as engine,
            open_backend(config, use_cache_file=use_cache_file, backend=backend) as opened,
        ):
            for cell in all_cells(config):
                progress.cells[cell.name] = CellProgress(cell.name, total=len(data.samples_of(cell)))
            here = partial(opened.cache.counts, config.file.experiment.concurrency)
            progress.requests = engine.counts if isinstance(engine, RayEngine) else here
            starts = start_stores(config)
            require_stores(config, starts)
            template = CellSpec(config, "", use_cache_file=use_cache_file, keep_failures=keep_failures)
            _refuse_other_settings(config)
            _refuse_other_orders(config)
            fix_question(config, data)
            grid = _Grid(config, data, opened.backend, engine, progress, starts, template)
            builds = {cell.repetition: cell for cell in build_cells(config)}
            async with asyncio.TaskGroup() as repetitions:
                for repetition in config.file.experiment.repetitions:
                    repetitions.create_task(grid.run_repetition(repetition, builds.get(repetition)))
    except* Exception as group:
        raise _first(group) from group
    return progress


@asynccontextmanager
async def _opened_engine(
    config: ExperimentConfig, data: ExperimentData, *, use_cache_file: bool, backend: Backend | None
) -> AsyncIterator[SampleEngine]:
    """Open the engine that the config names. A cluster that cannot be used is refused before anything is written."""
    if config.file.experiment.engine == "local":
        yield LocalEngine(config.file.experiment.concurrency)
        return
    engine = RayEngine(config, data, use_cache_file=use_cache_file, backend=backend)
    try:
        if not all(
            (manifest := read_manifest(cell.path).manifest) and manifest.completed for cell in all_cells(config)
        ):
            engine.start()
        yield engine
    finally:
        await engine.close()


@dataclass(frozen=True)
class _Grid:
    """What all cells of a grid share."""

    config: ExperimentConfig
    data: ExperimentData
    backend: Backend
    engine: SampleEngine
    progress: GridProgress
    starts: dict[str, Path | None]
    template: CellSpec
    """What the specs of all cells have in common."""

    async def run_repetition(self, repetition: Repetition, build: Cell | None) -> None:
        """Build the store of an order and seed, then run its cells side by side."""
        if build is not None:
            await self._run(build, None)
        async with asyncio.TaskGroup() as cells:
            for cell in evaluated_cells(self.config):
                if cell.repetition == repetition:
                    start = self.starts[cell.name] if cell.needs_store else None
                    if build is not None and start is not None and not start.exists():
                        start = None  # the build stored nothing
                    cells.create_task(self._run(cell, start))

    async def _run(self, cell: Cell, start: Path | None) -> None:
        spec = replace(self.template, cell=cell.name, start_store=start)
        await run_cell(spec, backend=self.backend, data=self.data, engine=self.engine, on_progress=self._take_in)

    def _take_in(self, cell: CellProgress) -> None:
        """Show a cell's progress, and stop the grid when too many of its samples failed."""
        self.progress.cells[cell.name] = cell
        self.progress.on_change(self.progress)
        allowed = self.config.file.experiment.max_failures
        require_few_failures(self.progress, allowed, self.config.out_dir / cell.name)


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
