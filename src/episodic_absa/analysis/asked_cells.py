"""Tells the cells and pairs that a grid was asked for before its first sample from those that were added later."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from episodic_absa.conditions import DEFAULT_COMPARISONS
from episodic_absa.metrics.statistics import Comparison
from episodic_absa.runs.question import (
    ExploratoryPart,
    exploratory_parts,
    is_exploratory,
    left_out_parts,
    recorded_parts,
)
from episodic_absa.runs.reading.finished_cells import FinishedCell, evaluated
from episodic_absa.schemas.run_files.question import Pair, Question


class ComparedCells(NamedTuple):
    """A pair of conditions, and the cells over which it is compared."""

    pair: Pair
    a: tuple[FinishedCell, ...]
    b: tuple[FinishedCell, ...]
    parts: tuple[ExploratoryPart, ...]
    """Why the comparison is exploratory; empty if it was asked before the first sample."""

    @property
    def orders(self) -> tuple[int, ...]:
        """The orders of samples, ascending."""
        return tuple(sorted({order_of(cell) for cell in (*self.a, *self.b)}))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, ascending."""
        return tuple(sorted({cell.manifest.seed for cell in (*self.a, *self.b)}))


class GridComparison(NamedTuple):
    """A comparison of a grid, and whether it was asked for beforehand."""

    comparison: Comparison
    parts: tuple[ExploratoryPart, ...]
    """Why it is exploratory; empty if it was asked before the first sample."""
    orders: tuple[int, ...]
    seeds: tuple[int, ...]
    added_metrics: tuple[str, ...] = ()
    """Metrics that were made the primary one after the first sample."""

    @property
    def is_exploratory(self) -> bool:
        """Whether it was not asked for before the first sample."""
        return bool(self.parts)


def order_of(cell: FinishedCell) -> int:
    """Return the order of samples in which a cell was run."""
    return cell.manifest.order


def is_asked(cell: FinishedCell, question: Question | None) -> bool:
    """Return whether the order and seed of a cell were asked for; without a question all count as asked."""
    return question is None or not is_exploratory(question, order=order_of(cell), seed=cell.manifest.seed)


def asked_groups(cells: Sequence[FinishedCell], question: Question | None) -> dict[str, list[FinishedCell]]:
    """Return the cells of every condition that the figures cover.

    These are the cells with asked orders and seeds; of a condition that has none of these, all its cells.
    """
    groups = evaluated(cells)
    return {name: [cell for cell in group if is_asked(cell, question)] or group for name, group in groups.items()}


def compared_conditions(cells: Sequence[FinishedCell], question: Question | None) -> tuple[Pair, ...]:
    """Return the pairs of the question, or those of the manifests if there is none, as far as both were run."""
    by_condition = evaluated(cells)
    pairs = dict.fromkeys(question.pairs if question is not None else _recorded_pairs(cells))
    return tuple((a, b) for a, b in pairs if a in by_condition and b in by_condition)


def compared_cells(cells: Sequence[FinishedCell], question: Question | None) -> tuple[ComparedCells, ...]:
    """Return what is compared: each asked pair over the asked orders and seeds, then everything that was added.

    A pair is compared again over all its cells if orders or seeds were added. An asked pair is exploratory too while
    asked orders or seeds are missing or unfinished, and if the question was changed.
    """
    groups = evaluated(cells)
    asked: list[ComparedCells] = []
    added: list[ComparedCells] = []
    for pair in compared_conditions(cells, question):
        a, b = groups[pair[0]], groups[pair[1]]
        asked_a, asked_b = ([cell for cell in group if is_asked(cell, question)] for group in (a, b))
        whole = _compared(pair, a, b, question)
        part = _compared(pair, asked_a, asked_b, question)
        has_asked = bool(asked_a and asked_b)
        if question is None or (has_asked and not part.parts):
            asked.append(part._replace(parts=(*part.parts, *_doubts(part, question))))
            added += [whole] if len(asked_a) + len(asked_b) < len(a) + len(b) else []
        else:
            added.append(whole)
    return (*asked, *added)


def headlines(comparisons: Sequence[GridComparison]) -> tuple[GridComparison, ...]:
    """Return one comparison per pair: that over the asked orders and seeds, if there is one."""
    first: Mapping[Pair, GridComparison] = {
        (compared.comparison.a, compared.comparison.b): compared for compared in reversed(comparisons)
    }
    return tuple(compared for compared in comparisons if compared in first.values())


def _doubts(compared: ComparedCells, question: Question | None) -> tuple[ExploratoryPart, ...]:
    """Return why an asked pair does not answer the question as it was asked."""
    on_both = {cell.manifest.repetition for cell in compared.a} & {cell.manifest.repetition for cell in compared.b}
    cells = [cell for cell in (*compared.a, *compared.b) if cell.manifest.repetition in on_both]
    covered = {"orders": {order_of(cell) for cell in cells}, "seeds": {cell.manifest.seed for cell in cells}}
    manifests = [cell.manifest for cell in (*compared.a, *compared.b)]
    return (*left_out_parts(question, **covered), *recorded_parts(question, manifests))


def _compared(
    pair: Pair, a: Sequence[FinishedCell], b: Sequence[FinishedCell], question: Question | None
) -> ComparedCells:
    both = (*a, *b)
    parts = exploratory_parts(
        question, pair, orders={order_of(cell) for cell in both}, seeds={cell.manifest.seed for cell in both}
    )
    return ComparedCells(pair, tuple(a), tuple(b), parts)


def _recorded_pairs(cells: Sequence[FinishedCell]) -> Iterator[Pair]:
    """Yield the pairs that the manifests of a grid record; a cell that was added later may record others."""
    for cell in cells:
        recorded = cell.manifest.config.experiment.comparisons
        aliases = cell.condition_aliases if recorded else {}
        for a, b in DEFAULT_COMPARISONS if recorded is None else recorded:
            yield aliases.get(a, a), aliases.get(b, b)
