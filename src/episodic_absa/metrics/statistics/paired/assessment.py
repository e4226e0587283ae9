"""Everything that the statistics say about one paired metric."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.paired.evidence import Evidence
from episodic_absa.metrics.statistics.paired.interval import PairedInterval, paired_intervals
from episodic_absa.metrics.statistics.paired.order_test import order_test_p, variance_parts
from episodic_absa.metrics.statistics.paired.sides_swapped import SwapTest, swap_tests
from episodic_absa.metrics.statistics.paired.unseen import unseen_orders, unseen_reviews


def assess(
    metrics: Sequence[PairedCells],
    *,
    orders_are_random: bool = True,
    memory_grows: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Evidence, ...]:
    """Return what the statistics say about each metric; metrics with equally many reviews share their draws.

    Args:
        metrics: the cells of each metric, with at least one review and a column per different order.
        orders_are_random: False where the order changes no difference; the orders of a review are then averaged.
        memory_grows: whether the orders are those of a memory that grows.
        resamples: bootstrap resamples, and drawn sign flips where the exact test is not feasible.
        seed: seed of the random draws; equal seeds give equal numbers on every machine.
    """
    tables = [cells if orders_are_random else cells.over_orders() for cells in metrics]
    intervals = paired_intervals(tables, resamples=resamples, seed=seed)
    tests = swap_tests(tables, flips=resamples, seed=seed)
    return tuple(
        _evidence(cells, table, interval, test, memory_grows=memory_grows)
        for cells, table, interval, test in zip(metrics, tables, intervals, tests, strict=True)
    )


def _evidence(
    cells: PairedCells,
    table: PairedCells,
    interval: PairedInterval | None,
    test: SwapTest | None,
    *,
    memory_grows: bool,
) -> Evidence:
    parts = variance_parts(table)
    found = Evidence(
        n_uids=cells.n,
        orders_n=cells.orders_n,
        difference=cells.difference,
        p_orders=None if test is None else order_test_p(table),
        orders_variance=parts.orders_alone,
        unseen_reviews=unseen_reviews(table).against(cells.difference),
        unseen_orders=unseen_orders(cells).against(cells.difference) if memory_grows else 0.0,
        grows=memory_grows,
    )
    if test is not None:
        found = found.model_copy(update={"p_value": test.p_value, "p_exact": test.is_exact})
    if interval is not None:
        bounds = dict(zip(("ci_low", "ci_high", "ci90_low", "ci90_high", "method"), interval, strict=True))
        found = found.model_copy(update={**bounds, "sd": sqrt(parts.reviews * cells.n)})
    return found
