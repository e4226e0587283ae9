"""The power of a paired comparison under the rules of a claim, for designs that were run and for others.

The difference of a review in an order is the effect, plus a deviation of the review, a deviation of the order that all
its reviews share, and a rest. Errors are taken as normal, which is slightly optimistic below about 30 reviews.
"""

from collections.abc import Callable
from functools import cache
from math import ceil, comb, hypot, log, log1p, sqrt
from statistics import NormalDist
from typing import Any, Final, NamedTuple

POWER: Final = 0.8
ALPHA: Final = 0.05
FEWEST_REVIEWS: Final = 30
"""Below that, figures describe the reviews at hand and hardly any other."""
FEWEST_ORDERS: Final = 5
"""A claim needs so many different orders where the order may decide."""
LARGEST_ORDER_LOSS: Final = 0.3
"""How far a bad order may lie below the mean of the others for a claim about a growing memory to stand."""
MOST_WIDENED: Final = 4.0
"""So many times the half width of the percentiles a bound may lie from the difference. Without it, resamples that miss
the few reviews that differ much would make the interval of sparse differences ten times as wide."""
MOST_REVIEWS: Final = 10_000_000
_FEWEST: Final = 2
"""A single review has no standard deviation."""
_STEPS: Final = 500
_PRECISION: Final = 1e-6
_NEGLIGIBLE: Final = 1e-9
_NORMAL: Final = NormalDist()


class Variances(NamedTuple):
    """The variances of paired differences."""

    reviews: float
    """Between reviews."""
    orders: float = 0.0
    """Between orders: what all reviews of an order share."""
    rest: float = 0.0
    """Of a review from order to order, beyond both."""


class Design(NamedTuple):
    """A number of reviews, each run in a number of different orders."""

    reviews: int
    orders: int = 1
    grows: bool = False
    """Whether a memory grows along the orders."""


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


def orders_for(difference: float) -> int:
    """Return how many orders that agree leave no room for bad ones that undo the difference.

    Example:
        >>> orders_for(0.03), orders_for(0.13)
        (29, 6)
    """
    share = min(abs(difference) / LARGEST_ORDER_LOSS, 1.0)
    return max(FEWEST_ORDERS, ceil(log(ALPHA) / log1p(-share))) if 0 < share < 1 else FEWEST_ORDERS


def power_of(effect: float, variances: Variances, design: Design, *, room: float = 1.0) -> float:
    """Return the probability that a design supports a claim about a true mean difference, in the right direction.

    The claim needs an interval without 0, p over orders below .05, and a difference that outweighs what reviews and
    orders that were not drawn could take away.

    Args:
        effect: the true mean difference; the sign does not matter.
        variances: of single reviews and orders.
        design: the reviews and orders.
        room: how much more than the drawn reviews another one could go against the difference: 1 if none of them
            does, 0 for a metric without bounds.

    Example:
        >>> round(power_of(0.02, Variances(reviews=0.15**2), Design(504)), 2)
        0.8
        >>> round(power_of(0.02, Variances(reviews=0.15**2, orders=0.03**2), Design(442, 5)), 2)
        0.16
    """
    import numpy as np
    from scipy.special import ndtr

    n, k, grows = design
    if k < FEWEST_ORDERS and (grows or k > 1):
        return 0.0
    threshold, t_threshold, spread = _thresholds(k)
    # What the means of single orders vary by; nothing can be learnt about it from one of them.
    between_orders = variances.orders + variances.rest / n
    by_reviews = threshold * sqrt((variances.reviews + (variances.rest if k == 1 else 0.0)) / n)
    unseen = room * largest_share(0, n)
    widened = min(hypot(by_reviews, unseen), MOST_WIDENED * by_reviews)
    # The order means also estimate their own variance, and that estimate varies from experiment to experiment.
    by_orders = t_threshold * np.sqrt(between_orders * spread / k)
    needed = np.maximum(np.hypot(widened, by_orders), unseen)
    error = sqrt(variances.reviews / n + between_orders / k)
    if not grows:
        return _share_above(abs(effect), needed, error)
    opposes = float(ndtr(-abs(effect) / sqrt(between_orders))) if between_orders else 0.0
    power = 0.0
    for count in range(k // 2 + 1):
        chance = comb(k, count) * opposes**count * (1 - opposes) ** (k - count)
        if chance > _NEGLIGIBLE:
            by_unseen = LARGEST_ORDER_LOSS * largest_share(count, k)
            power += chance * _share_above(abs(effect), np.maximum(needed, by_unseen), error)
    return power


def needed_reviews(
    effect: float, variances: Variances, orders: int = 1, *, grows: bool = False, room: float = 1.0
) -> int | None:
    """Return the fewest reviews that show a difference with 80 % power; None if no number of reviews does.

    Example:
        >>> needed_reviews(0.02, Variances(reviews=0.15**2))
        504
        >>> needed_reviews(0.02, Variances(reviews=0.15**2, orders=0.03**2), orders=5) is None
        True
    """

    def is_enough(reviews: int) -> bool:
        return power_of(effect, variances, Design(reviews, orders, grows), room=room) >= POWER

    return _least(is_enough, _FEWEST, MOST_REVIEWS) if is_enough(MOST_REVIEWS) else None


def detectable_effect(variances: Variances, design: Design, *, room: float = 1.0) -> float | None:
    """Return the smallest difference that a design shows with 80 % power; None if its orders are too few for any.

    Example:
        >>> round(detectable_effect(Variances(reviews=0.15**2), Design(72)), 3)
        0.068
    """
    low, high = 0.0, 1.0
    if not power_of(float("inf"), variances, design, room=room):
        return None
    while power_of(high, variances, design, room=room) < POWER:
        low, high = high, 2 * high
    while high - low > _PRECISION * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (middle, high) if power_of(middle, variances, design, room=room) < POWER else (low, middle)
    return high


def _share_above(effect: float, needed: Any, error: float) -> float:
    """Return how often an estimate with this standard error lies above what is needed."""
    from scipy.special import ndtr

    if error == 0.0:
        return float((effect > needed).mean())
    return float(ndtr((effect - needed) / error).mean())


def _least(is_enough: Callable[[int], bool], fewest: int, enough: int) -> int:
    low, high = fewest - 1, enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@cache
def _thresholds(orders: int) -> tuple[float, float, Any]:
    """Return the normal and the t threshold, and evenly spaced quantiles of the estimated over the true variance."""
    import numpy as np
    from scipy.special import chdtri, stdtrit

    threshold = _NORMAL.inv_cdf(1 - ALPHA / 2)
    if orders == 1:
        return threshold, 0.0, np.zeros(1)
    places = (np.arange(_STEPS) + 0.5) / _STEPS
    spread = chdtri(orders - 1, 1 - places) / (orders - 1)
    return threshold, float(stdtrit(orders - 1, 1 - ALPHA / 2)), spread
