"""One cell or one grid, loaded once, with the values that several tables and pages share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from episodic_absa.analysis.asked_cells import GridComparison, asked_groups, headlines
from episodic_absa.analysis.grid_tables import SeedRow, added_rows, compare_conditions, grid_rows
from episodic_absa.analysis.principle_effect import PrincipleEffect, grid_effects
from episodic_absa.analysis.strata import StratumRow, grid_stratum_rows
from episodic_absa.metrics.statistics import Comparison
from episodic_absa.runs.question import load_question
from episodic_absa.runs.reading.finished_cells import (
    FinishedCell,
    Tell,
    evaluated,
    find_orphans,
    is_cell,
    load_cells,
    tell_nobody,
)
from episodic_absa.schemas.run_files.question import Question


@dataclass(frozen=True)
class FinishedRun:
    """The cells of a run directory."""

    root: Path
    cells: tuple[FinishedCell, ...]
    is_grid: bool
    orphans: tuple[Path, ...] = ()
    """Directories of cells without a manifest; no figure counts them."""
    question: Question | None = None
    """What the grid was asked before its first sample; None for a cell alone and for directories of version 0.1."""

    @cached_property
    def by_condition(self) -> dict[str, list[FinishedCell]]:
        """The cells of every condition, without those that build stores."""
        return evaluated(self.cells)

    @cached_property
    def asked_groups(self) -> dict[str, list[FinishedCell]]:
        """The cells of every condition that the figures cover: those with asked orders and seeds, if there are any."""
        return asked_groups(self.cells, self.question)

    @cached_property
    def rows(self) -> tuple[SeedRow, ...]:
        """Every metric of every condition over its asked orders and seeds."""
        return tuple(grid_rows(self.cells, self.question))

    @cached_property
    def added_rows(self) -> tuple[SeedRow, ...]:
        """Every metric over all cells of a condition, where orders or seeds were added to the asked ones."""
        return tuple(added_rows(self.cells, self.question))

    @cached_property
    def grid_comparisons(self) -> tuple[GridComparison, ...]:
        """All comparisons, those first that were asked before the first sample; a cell alone has none."""
        return compare_conditions(self.cells, self.question) if self.is_grid else ()

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """One comparison per pair: that over the asked orders and seeds, if there is one."""
        return tuple(compared.comparison for compared in headlines(self.grid_comparisons))

    @cached_property
    def strata(self) -> tuple[StratumRow, ...]:
        """The comparisons within the strata that the question names; a cell alone has none."""
        return grid_stratum_rows(self.cells, self.question) if self.is_grid else ()

    @cached_property
    def principle_effects(self) -> tuple[PrincipleEffect, ...]:
        """The effect of each principle, if a condition withholds advice."""
        return grid_effects(self.cells, self.question)

    def alone(self) -> Sequence["FinishedRun"]:
        """Return every cell as a run of its own."""
        return [FinishedRun(cell.path, (cell,), is_grid=False) for cell in self.cells]


def load_run(root: Path, tell: Tell = tell_nobody) -> FinishedRun:
    """Load a cell's directory, or all cells of a grid's.

    Raises:
        RunDirectoryError: no run wrote this directory, or a manifest or scorecard in it cannot be read.
    """
    cells = load_cells(root, tell)
    question = None if is_cell(root) else load_question(root)
    return FinishedRun(root, cells, is_grid=not is_cell(root), orphans=find_orphans(root), question=question)
