"""What reviews and orders that were not drawn could take away from a difference."""

from __future__ import annotations

from math import ceil, log, log1p
from typing import Final, NamedTuple

from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.power import ALPHA

LARGEST_ORDER_LOSS: Final = 0.3
"""The mean difference of one bad order against which a claim about a growing memory stands."""


class Unseen(NamedTuple):
    """How far unseen reviews or orders could move a difference."""

    down: float
    up: float

    def against(self, difference: float) -> float:
        """Return what they could take away from a difference."""
        return self.down if difference > 0 else self.up


def largest_share(count: int, n: int) -> float:
    """Return the exact one-sided 95 % bound of a share of which `count` of n were seen (Clopper and Pearson).

    Example:
        >>> round(largest_share(0, 50), 3), round(largest_share(4, 156), 3)
        (0.058, 0.058)
    """
    if count >= n:
        return 1.0
    if count == 0:
        return float(1 - ALPHA ** (1 / n))
    from scipy.special import betaincinv

    return float(betaincinv(count + 1, n - count, 1 - ALPHA))


def unseen_reviews(cells: PairedCells) -> Unseen:
    """Return what reviews could change that differ more, in either direction, than every drawn one.

    None of n reviews is such a one, so that at most 1 - .05^(1/n) of all reviews are (about 3 / n). Each could differ
    by the largest possible difference instead of the largest drawn one. Nothing is known for a ratio of sums.
    """
    if not cells.is_mean or cells.largest is None:
        return Unseen(0.0, 0.0)
    drawn, share = cells.of_reviews, largest_share(0, cells.n)
    lowest, highest = max(0.0, -float(drawn.min())), max(0.0, float(drawn.max()))
    return Unseen(share * max(cells.largest - lowest, 0.0), share * max(cells.largest - highest, 0.0))


def unseen_orders(cells: PairedCells) -> Unseen:
    """Return what orders could change that were not run: at most so many go the other way, each by up to 0.3.

    Five orders that agree leave room for a bad order in less than every other one, 29 orders for one in ten.
    """
    n = cells.different_orders_n
    falling, rising = (sum(sign * mean < 0 for mean in cells.of_orders) for sign in (1, -1))
    return Unseen(*(LARGEST_ORDER_LOSS * largest_share(min(opposed, n), n) for opposed in (falling, rising)))


def orders_for(difference: float) -> int:
    """Return how many orders that agree leave no room for bad ones that undo the difference.

    Example:
        >>> orders_for(0.03), orders_for(0.13)
        (29, 6)
    """
    share = min(abs(difference) / LARGEST_ORDER_LOSS, 1.0)
    return ceil(log(ALPHA) / log1p(-share)) if 0 < share < 1 else 1
