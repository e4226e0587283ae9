"""Whether a difference holds from order to order: t over the means of orders, and the variance that orders add.

Samples of one order share a store, so that they are not independent. The means of two orders are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

from episodic_absa.metrics.statistics.paired.cells import PairedCells

FEWEST_TESTED: Final = 3
"""With two orders t has one degree of freedom, and the test rejects almost nothing."""
_NOISE: Final = 1e-9
_DIGITS: Final = 12


@dataclass(frozen=True)
class VarianceParts:
    """The variance of the overall difference by where it comes from."""

    reviews: float
    """From the choice of reviews; holds the variance within orders too."""
    orders: float
    """From the choice of orders: the variance of order means over their number; holds that within orders too."""
    within: float
    """From how reviews vary from order to order; part of both of the others."""

    @property
    def reviews_alone(self) -> float:
        """What the choice of reviews adds to the variance of order means."""
        return max(self.reviews - self.within, 0.0)

    @property
    def orders_alone(self) -> float:
        """What more reviews would not lower."""
        return max(self.orders - self.within, 0.0)

    @property
    def total(self) -> float:
        """The variance of the overall difference."""
        return self.reviews_alone + max(self.orders, self.within)


def order_test_p(cells: PairedCells) -> float | None:
    """Return the two-sided p of a t test that the means of orders differ from 0; None below three orders."""
    if cells.orders_n < FEWEST_TESTED:
        return None
    from scipy.special import stdtr

    spread = sqrt(variance_parts(cells).orders)
    if spread < _NOISE:
        return 0.0 if cells.difference else 1.0
    return round(float(2 * stdtr(cells.orders_n - 1, -abs(cells.difference) / spread)), _DIGITS)


def t_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t with so many degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def variance_parts(cells: PairedCells) -> VarianceParts:
    """Return the parts of the variance; those of orders are 0 for a single order."""
    values, n, orders_n = cells.influence, cells.n, cells.orders_n
    by_review, by_order = values.mean(axis=1), values.mean(axis=0)
    reviews = float((by_review**2).sum()) / (n - 1) / n if n > 1 else 0.0
    if orders_n == 1:
        return VarianceParts(reviews, 0.0, 0.0)
    rest = values - by_review[:, None] - by_order[None, :] + values.mean()
    within = float((rest**2).sum()) / max((n - 1) * (orders_n - 1), 1) / (n * orders_n)
    return VarianceParts(reviews, float((by_order**2).sum()) / (orders_n - 1) / orders_n, within)
