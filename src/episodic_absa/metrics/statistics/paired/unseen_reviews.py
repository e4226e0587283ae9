"""What reviews that were not drawn could take away from a difference that no drawn review contradicts."""

from __future__ import annotations

from typing import Final

from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.power import ALPHA

_NOISE: Final = 1e-9


def is_unopposed(cells: PairedCells) -> bool:
    """Return whether the differences of all reviews are 0 or have the sign of their mean; False for a ratio of sums.

    The reviews then say nothing about how large a difference in the other direction would be.
    """
    if not cells.is_mean:
        return False
    sign = 1.0 if cells.difference > 0 else -1.0
    return bool((cells.net_of_reviews * sign > -_NOISE).all())


def outweighs_unseen(difference: float, n: int) -> bool:
    """Return whether an unopposed difference is too large for unseen reviews to undo.

    If none of n reviews differs in the other direction, at most 1 - .05^(1/n) of all reviews do (the exact 95 % bound,
    about 3 / n), and each of them by at most 1.

    Example:
        >>> outweighs_unseen(0.03, 50), outweighs_unseen(0.03, 200)
        (False, True)
    """
    return abs(difference) > 1 - float(ALPHA ** (1 / max(n, 1)))
