"""What reviews and orders that were not drawn could take away from a difference."""

from __future__ import annotations

from typing import NamedTuple

from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.power import LARGEST_ORDER_LOSS, largest_share


class Unseen(NamedTuple):
    """How far unseen reviews or orders could move a difference."""

    down: float
    up: float

    def against(self, difference: float) -> float:
        """Return what they could take away from a difference."""
        return self.down if difference > 0 else self.up


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
    """Return what orders could change that were not run: at most so many lie up to 0.3 below the mean of the others.

    Five orders that agree leave room for a bad order in less than every other one, 29 orders for one in ten.
    """
    n = cells.orders_n
    falling, rising = (sum(sign * mean < 0 for mean in cells.of_orders) for sign in (1, -1))
    return Unseen(*(LARGEST_ORDER_LOSS * largest_share(opposed, n) for opposed in (falling, rising)))
