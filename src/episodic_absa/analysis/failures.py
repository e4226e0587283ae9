"""How many samples of a run failed, in which cells most of them, and why."""

from collections.abc import Iterable
from dataclasses import dataclass

from episodic_absa.runs.failure_causes import FailureCause, grouped_causes, read_failures
from episodic_absa.runs.reading.finished_cells import FinishedCell


@dataclass(frozen=True)
class RunFailures:
    """The failed samples of one or more cells."""

    sample_n: int
    """All samples, failed ones included."""
    failed_n: int
    causes: tuple[FailureCause, ...]
    """The commonest first; a failure without a trace has none."""
    mostly_failed: tuple[str, ...]
    """Cells in which more than half of the samples failed."""
    is_finished: bool = True
    """Whether all cells were run to their end."""


def failures_of(cells: Iterable[FinishedCell]) -> RunFailures:
    """Return what failed in these cells; traces are read only where something did."""
    sample_n, failed_n, mostly_failed = 0, 0, []
    messages: list[str] = []
    is_finished = True
    for cell in cells:
        is_finished = is_finished and cell.manifest.completed
        failed_here = sum(card.status == "error" for card in cell.cards)
        sample_n += len(cell.cards)
        failed_n += failed_here
        if failed_here:
            messages += read_failures(cell.path)
        if 2 * failed_here > len(cell.cards):
            mostly_failed.append(cell.path.resolve().name)
    return RunFailures(sample_n, failed_n, grouped_causes(messages), tuple(mostly_failed), is_finished)
