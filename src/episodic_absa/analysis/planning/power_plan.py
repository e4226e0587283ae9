"""The designs of a comparison that show an effect, before any of them is paid for."""

from collections.abc import Iterable
from typing import Final

from episodic_absa.metrics.statistics.power import Design, Variances, needed_reviews, orders_for

_MOST_TIMES: Final = 6
"""Up to so many times the fewest orders that a claim needs are looked at."""
_STEPS: Final = 8
"""Of each doubling of the fewest orders so many are looked at."""


def orders_of_designs(effect: float, *, grows: bool) -> range:
    """Return the numbers of orders among which a plan chooses.

    Args:
        effect: the difference to show.
        grows: whether a memory grows along the samples: rare bad orders must then be ruled out. A frozen memory gives
            the same results in every order.
    """
    fewest = orders_for(effect)
    return range(fewest, _MOST_TIMES * fewest, max(1, fewest // _STEPS)) if grows else range(1, 2)


def designs_for(
    effect: float, variances: Variances, orders: Iterable[int], *, grows: bool = False
) -> tuple[Design, ...]:
    """Return the fewest reviews for each number of orders, where some number of reviews is enough."""
    needed = ((number, needed_reviews(effect, variances, number, grows=grows)) for number in orders)
    return tuple(Design(reviews, number, grows) for number, reviews in needed if reviews is not None)


def cheapest(designs: Iterable[Design], *, available: int) -> Design | None:
    """Return the design with the fewest analysed samples; if there are enough reviews for some designs, one of these.

    Example:
        >>> cheapest([Design(820, 5), Design(675, 6), Design(557, 10)], available=600)
        Design(reviews=557, orders=10, grows=False)
    """
    known = list(designs)
    possible = [design for design in known if design.reviews <= available] or known
    return min(possible, key=lambda design: (design.reviews * design.orders, design.orders), default=None)
