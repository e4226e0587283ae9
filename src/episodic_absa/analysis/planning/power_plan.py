"""Power of a paired comparison over reviews and orders, before it is paid for.

The difference of a review in an order is the effect, plus a deviation of the review, a deviation of the order that all
its reviews share, and a rest. A difference counts as shown if the interval over reviews and orders excludes 0 and, with
several orders, the t test over order means rejects as well.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple

from episodic_absa.metrics.statistics.power import ALPHA, POWER

FEWEST_ORDERS: Final = 5
"""A claim about memory needs at least this many orders."""
MOST_ORDERS: Final = 40
MOST_REVIEWS: Final = 10_000_000
_FEWEST_REVIEWS: Final = 2
_STEPS: Final = 500
_PRECISION: Final = 1e-6


class Variances(NamedTuple):
    """The variances of paired differences."""

    reviews: float
    """Between reviews."""
    orders: float = 0.0
    """Between orders: what all reviews of an order share."""
    rest: float = 0.0
    """Of a review from order to order, beyond both."""


class Design(NamedTuple):
    """A number of reviews, each run in a number of orders."""

    reviews: int
    orders: int


def power_of(effect: float, variances: Variances, design: Design) -> float:
    """Return the probability that a design shows a true mean difference.

    The probability is for the right direction; errors are taken as normal, which is slightly optimistic below about 30
    reviews.

    Example:
        >>> round(power_of(0.02, Variances(reviews=0.15**2), Design(442, 1)), 2)
        0.8
        >>> round(power_of(0.02, Variances(reviews=0.15**2, orders=0.03**2), Design(442, 5)), 2)
        0.22
    """
    import numpy as np
    from scipy.special import ndtr

    n, k = design
    between_reviews = variances.reviews / n
    # What the means of single orders vary by.
    between_orders = variances.orders + variances.rest / n
    error = np.sqrt(between_reviews + between_orders / k)
    threshold, t_threshold, spread = _thresholds(k)
    # The order means also estimate their own variance, and that estimate varies from experiment to experiment.
    estimated = between_orders * spread / k
    needed = np.maximum(threshold * np.sqrt(between_reviews + estimated), t_threshold * np.sqrt(estimated))
    if error == 0.0:
        return 1.0
    return float(ndtr((abs(effect) - needed) / error).mean())


def needed_reviews(effect: float, variances: Variances, orders: int, *, power: float = POWER) -> int | None:
    """Return the fewest reviews that show a difference in so many orders; None if no number of reviews does.

    Example:
        >>> needed_reviews(0.02, Variances(reviews=0.15**2), orders=1)
        442
        >>> needed_reviews(0.02, Variances(reviews=0.15**2, orders=0.03**2), orders=5) is None
        True
    """
    if power_of(effect, variances, Design(MOST_REVIEWS, orders)) < power:
        return None
    low, high = _FEWEST_REVIEWS - 1, MOST_REVIEWS
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(effect, variances, Design(middle, orders)) < power:
            low = middle
        else:
            high = middle
    return high


def detectable_effect(variances: Variances, design: Design, *, power: float = POWER) -> float:
    """Return the smallest difference that a design shows with this power.

    Example:
        >>> round(detectable_effect(Variances(reviews=0.15**2), Design(72, 1)), 3)
        0.05
    """
    low, high = 0.0, 1.0
    while power_of(high, variances, design) < power:
        low, high = high, 2 * high
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if power_of(middle, variances, design) < power else (low, middle)
    return high


def designs_for(effect: float, variances: Variances, orders: Iterable[int]) -> tuple[Design, ...]:
    """Return the fewest reviews for each number of orders, where some number of reviews is enough."""
    needed = ((number, needed_reviews(effect, variances, number)) for number in orders)
    return tuple(Design(reviews, number) for number, reviews in needed if reviews is not None)


def cheapest(designs: Iterable[Design], *, available: int) -> Design | None:
    """Return the design with the fewest analysed samples; if there are enough reviews for some designs, one of these.

    Example:
        >>> cheapest([Design(820, 5), Design(675, 6), Design(557, 10)], available=600)
        Design(reviews=557, orders=10)
    """
    known = list(designs)
    possible = [design for design in known if design.reviews <= available] or known
    return min(possible, key=lambda design: (design.reviews * design.orders, design.orders), default=None)


@cache
def _thresholds(orders: int) -> tuple[float, float, Any]:
    """Return the normal and the t threshold, and evenly spaced quantiles of the estimated over the true variance."""
    import numpy as np
    from scipy.stats import chi2, norm, t

    threshold = float(norm.ppf(1 - ALPHA / 2))
    if orders == 1:
        # Nothing can be learnt about orders from one of them: the test takes it as fixed.
        return threshold, 0.0, np.zeros(1)
    places = (np.arange(_STEPS) + 0.5) / _STEPS
    spread = chi2.ppf(places, orders - 1) / (orders - 1)
    return threshold, float(t.ppf(1 - ALPHA / 2, orders - 1)), spread
