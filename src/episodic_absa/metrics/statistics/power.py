"""Power of the paired comparison: the smallest detectable difference, and the reviews that a difference needs.

The normal approximation for the mean of paired differences is slightly optimistic below about 30 reviews.
"""

from math import ceil, isfinite, sqrt
from statistics import NormalDist
from typing import Final

POWER: Final = 0.8
ALPHA: Final = 0.05
FEWEST_REVIEWS: Final = 30
"""Below that, figures describe the reviews at hand and hardly any other."""
_FEWEST: Final = 2
"""A single review has no standard deviation."""


def required_n(difference: float, sd: float, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """Return the number of reviews that show a mean difference with the given power.

    Args:
        difference: the mean of the paired differences; the sign does not matter.
        sd: the standard deviation of the paired differences.
        power: the probability of detecting the difference.
        alpha: the two-sided significance level.

    Raises:
        ValueError: the difference is 0, not finite, or too small to give a finite number.

    Example:
        >>> required_n(0.02, 0.15)
        442
    """
    if difference == 0:
        raise ValueError("a difference of 0 cannot be shown with any number of reviews; give one above or below 0")
    ratio = _standard_errors(power, alpha) * sd / difference
    if not isfinite(difference) or not isfinite(ratio * ratio):
        raise ValueError(f"the number of reviews for a difference of {difference} is not finite")
    return max(_FEWEST, ceil(ratio * ratio))


def reviews_for(difference: float, sd: float, orders_variance: float = 0.0) -> int | None:
    """Return the number of reviews that show a mean difference with 80 % power; None if no number does.

    Args:
        difference: the mean of the paired differences; the sign does not matter.
        sd: the standard deviation of the paired differences between reviews.
        orders_variance: the variance that the choice of orders adds to the mean.

    Raises:
        ValueError: the difference is 0, not finite, or too small to give a finite number.
    """
    needed = required_n(difference, sd)
    allowed = sd**2 / needed - orders_variance
    return needed if not orders_variance else max(_FEWEST, ceil(sd**2 / allowed)) if allowed > 0 else None


def detectable_difference(n: int, sd: float, *, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest absolute mean difference that n reviews show with the given power.

    Args:
        n: the number of reviews.
        sd: the standard deviation of the paired differences.
        power: the probability of detecting the difference.
        alpha: the two-sided significance level.

    Raises:
        ValueError: n is below 2.
    """
    if n < _FEWEST:
        raise ValueError(f"n is {n}; give at least {_FEWEST} reviews")
    return _standard_errors(power, alpha) * sd / sqrt(n)


def _standard_errors(power: float, alpha: float) -> float:
    """Return the distance of the true difference from 0, in standard errors, that gives this power."""
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
