"""How small a difference a number of reviews can show, and how many reviews a difference needs.

Normal approximation for the mean of paired differences; for fewer than some 30 reviews it is a little too hopeful.
"""

from math import ceil, isfinite, sqrt
from statistics import NormalDist
from typing import Final

POWER: Final = 0.8
ALPHA: Final = 0.05
_FEWEST: Final = 2
"""One review has no spread."""


def required_n(difference: float, sd: float, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """Return how many reviews see this mean difference with this power, `sd` being that of paired differences."""
    if difference == 0:
        raise ValueError("no number of reviews shows a difference of 0")
    ratio = _reach(power, alpha) * sd / difference
    if not isfinite(difference) or not isfinite(ratio * ratio):
        raise ValueError(f"no number of reviews can be given for a difference of {difference}")
    return max(_FEWEST, ceil(ratio * ratio))


def detectable_difference(n: int, sd: float, *, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest absolute mean difference that n reviews see with this power."""
    if n < _FEWEST:
        raise ValueError(f"needs at least {_FEWEST} reviews, not {n}")
    return _reach(power, alpha) * sd / sqrt(n)


def _reach(power: float, alpha: float) -> float:
    """How many standard errors the true difference must lie from 0."""
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
