"""Everything that the statistics say about one paired metric, and whether it carries a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.paired.interval import PairedInterval, paired_intervals
from episodic_absa.metrics.statistics.paired.order_test import (
    FEWEST_CLAIMED,
    VarianceParts,
    order_test_p,
    variance_parts,
)
from episodic_absa.metrics.statistics.paired.sides_swapped import SwapTest, swap_tests
from episodic_absa.metrics.statistics.paired.unseen_reviews import is_unopposed, outweighs_unseen
from episodic_absa.metrics.statistics.power import ALPHA


@dataclass(frozen=True)
class Assessment:
    """The difference of one metric with its interval and its tests."""

    difference: float
    n: int
    orders_n: int
    """Orders that are treated as random: 1 where the order changes no difference."""
    interval: PairedInterval | None
    """None without variation between reviews."""
    test: SwapTest | None
    p_orders: float | None
    """t over the means of orders; None below three orders."""
    parts: VarianceParts
    unopposed: bool = False
    """Whether no review differs in the other direction."""

    @property
    def p_value(self) -> float | None:
        """The p that a claim needs: the larger of that over reviews and that over orders."""
        if self.test is None:
            return None
        return max(self.test.p_value, self.p_orders or 0.0)

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
        if not self.excludes_zero or self.p_value is None or self.p_value >= ALPHA:
            return False
        return not self.unopposed or outweighs_unseen(self.difference, self.n)

    @property
    def is_significant(self) -> bool:
        """Whether a primary metric with these numbers carries a significant claim."""
        return self.has_direction and (self.orders_n == 1 or self.orders_n >= FEWEST_CLAIMED)


def assess(
    metrics: Sequence[PairedCells], *, orders_are_random: bool = True, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Assessment, ...]:
    """Return what the statistics say about each metric; metrics with equally many reviews share their draws.

    Args:
        metrics: the cells of each metric, with at least one review.
        orders_are_random: False where the order changes nothing; the orders of a review are then averaged.
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
            unopposed=is_unopposed(cells),
        )
        for cells, interval, test in zip(tables, intervals, tests, strict=True)
    )
