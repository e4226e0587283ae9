"""One cell or one grid, loaded once, with the values that several tables and pages share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from episodic_absa.analysis.grid_tables import SeedRow, compare_conditions, grid_rows
from episodic_absa.metrics.statistics import Comparison
from episodic_absa.runs.reading.finished_cells import (
    FinishedCell,
    Tell,
    evaluated,
    find_orphans,
    is_cell,
    load_cells,
    tell_nobody,
)


@dataclass(frozen=True)
class FinishedRun:
    """The cells of a run directory."""

    root: Path
    cells: tuple[FinishedCell, ...]
    is_grid: bool
    orphans: tuple[Path, ...] = ()
    """Directories of cells without a manifest; no figure counts them."""

    @cached_property
    def by_condition(self) -> dict[str, list[FinishedCell]]:
        """The cells of every condition, without those that build stores."""
        return evaluated(self.cells)

    @cached_property
    def rows(self) -> tuple[SeedRow, ...]:
        """Every metric of every condition over its seeds."""
        return tuple(grid_rows(self.cells))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The pairs that the experiment compares; a cell alone has none."""
        return compare_conditions(self.cells) if self.is_grid else ()

    def alone(self) -> Sequence["FinishedRun"]:
        """Return every cell as a run of its own."""
        return [FinishedRun(cell.path, (cell,), is_grid=False) for cell in self.cells]


def load_run(root: Path, tell: Tell = tell_nobody) -> FinishedRun:
    """Load a cell's directory, or all cells of a grid's.

    Raises:
        RunDirectoryError: no run wrote this directory, or a manifest or scorecard in it cannot be read.
    """
    cells = load_cells(root, tell)
    return FinishedRun(root, cells, is_grid=not is_cell(root), orphans=find_orphans(root))
