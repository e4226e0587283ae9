"""Runs an experiment from its configuration to the tables it leaves behind."""

from pathlib import Path
from typing import NamedTuple

from episodic_absa.analysis.derived_files import derive_tables
from episodic_absa.analysis.finished_run import FinishedRun, load_run
from episodic_absa.backends.backend import Backend
from episodic_absa.runs.experiment_config import ExperimentConfig
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress


class GridOutcome(NamedTuple):
    """A grid whose cells have all ended."""

    progress: GridProgress
    finished: FinishedRun
    """All cells as they ended."""
    derived: tuple[Path, ...]
    """The tables that were written."""


async def run_grid(
    config: ExperimentConfig,
    *,
    progress: GridProgress | None = None,
    use_cache_file: bool = True,
    backend: Backend | None = None,
) -> GridOutcome:
    """Run every cell that is not finished, then derive the tables.

    Args:
        config: what to run.
        progress: kept up to date while it runs.
        use_cache_file: False keeps answers in memory only.
        backend: answers instead of the one the config names; it is closed at the end.
    """
    progress = await run_cells(config, progress=progress, use_cache_file=use_cache_file, backend=backend)
    finished = load_run(config.out_dir)
    return GridOutcome(progress, finished, derive_tables(finished))
