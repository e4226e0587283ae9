"""Everything that the statistics say about one paired metric, and whether it carries a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.paired.doubts import FEWEST_GROWN, doubt_of
from episodic_absa.metrics.statistics.paired.interval import PairedInterval, paired_intervals
from episodic_absa.metrics.statistics.paired.order_test import (
    FEWEST_CLAIMED,
    VarianceParts,
    order_test_p,
    variance_parts,
)
from episodic_absa.metrics.statistics.paired.sides_swapped import SwapTest, swap_tests
from episodic_absa.metrics.statistics.paired.unseen import unseen_orders, unseen_reviews


@dataclass(frozen=True)
class Assessment:
    """The difference of one metric with its interval and its tests."""

    difference: float
    n: int
    orders_n: int
    """Different orders that are treated as random: 1 where the order changes no difference."""
    interval: PairedInterval | None
    """None without variation between reviews."""
    test: SwapTest | None
    p_orders: float | None
    """t over the means of orders; None below three orders."""
    parts: VarianceParts
    unseen_reviews: float = 0.0
    """What reviews that were not drawn could take away from the difference."""
    unseen_orders: float = 0.0
    """What orders that were not run could take away; 0 where no memory grows."""
    hangs_on_few_orders: bool = False
    """Whether a memory grew and was seen in fewer than three different orders."""
    failed_low: float | None = None
    failed_high: float | None = None

    @property
    def p_value(self) -> float | None:
        """The p over reviews."""
        return None if self.test is None else self.test.p_value

    @property
    def standard_error(self) -> float:
        """The standard error of the difference over reviews and orders."""
        return sqrt(self.parts.total)

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 lies outside the 95 % interval."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)

    @property
    def has_direction(self) -> bool:
        """Whether an outcome metric with these numbers may be called better or worse."""
        return not doubt_of(self)

    @property
    def is_significant(self) -> bool:
        """Whether a primary metric with these numbers carries a significant claim."""
        return self.has_direction and (self.orders_n == 1 or self.orders_n >= FEWEST_CLAIMED)


def assess(
    metrics: Sequence[PairedCells],
    *,
    orders_are_random: bool = True,
    memory_grows: bool = True,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Assessment, ...]:
    """Return what the statistics say about each metric; metrics with equally many reviews share their draws.

    Equal columns of a single metric count as one order; `compare` looks at all values of the samples instead.

    Args:
        metrics: the cells of each metric, with at least one review.
        orders_are_random: False where the order changes nothing; the orders of a review are then averaged.
        memory_grows: whether the orders are those of a memory that grows; a single column stands for a frozen one.
        resamples: bootstrap resamples, and drawn sign flips where the exact test is not feasible.
        seed: seed of the random draws; equal seeds give equal numbers on every machine.
    """
    tables = [cells if orders_are_random else cells.over_orders() for cells in metrics]
    intervals = paired_intervals(tables, resamples=resamples, seed=seed)
    tests = swap_tests(tables, flips=resamples, seed=seed)
    return tuple(
        Assessment(
            difference=cells.difference,
            n=cells.n,
            orders_n=cells.orders_n,
            interval=interval,
            test=test,
            p_orders=order_test_p(cells) if test is not None else None,
            parts=variance_parts(cells),
            unseen_reviews=unseen_reviews(cells).against(cells.difference),
            unseen_orders=unseen_orders(cells).against(cells.difference) if grows else 0.0,
            hangs_on_few_orders=grows and cells.different_orders_n < FEWEST_GROWN,
        )
        for cells, interval, test in zip(tables, intervals, tests, strict=True)
        for grows in [memory_grows and cells.orders_n > 1]
    )
