"""How far a run is: counts per cell and over the grid, for whoever shows them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from episodic_absa.runs.request_counts import RequestCounts


@dataclass
class CellProgress:
    """How far one cell is; after its last sample, what it came to."""

    name: str
    total: int = 0
    done: int = 0
    resumed: int = 0
    """Samples that an earlier invocation committed and that stand; the counts below are of this invocation."""
    redone: int = 0
    """Samples that had failed in an earlier invocation and are run again."""
    failed: int = 0
    causes: list[str] = field(default_factory=list)
    """Why samples failed: a message each."""
    stored: int = 0
    changed: int = 0
    shown: int = 0

    @property
    def run_n(self) -> int:
        """Samples that this invocation has run."""
        return self.done - self.resumed


@dataclass
class GridProgress:
    """How far the grid is."""

    cells: dict[str, CellProgress] = field(default_factory=dict)
    """All cells of the grid from the start, those that build stores first."""
    requests: Callable[[], RequestCounts] = RequestCounts
    on_change: Callable[["GridProgress"], None] = lambda _: None

    @property
    def failed(self) -> int:
        """Failed samples over the grid."""
        return sum(cell.failed for cell in self.cells.values())

    @property
    def run_n(self) -> int:
        """Samples that this invocation has run."""
        return sum(cell.run_n for cell in self.cells.values())

    @property
    def causes(self) -> list[str]:
        """Why samples failed: a message each."""
        return [message for cell in self.cells.values() for message in cell.causes]
