"""The difference between two groups of reviews that a coin formed, with its interval and randomisation test."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, variance
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_absa.metrics.statistics import RESAMPLES, SEED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PURPOSE: Final = 12
_UPPER: Final = 0.975
_SLACK: Final = 1e-9
_FEWEST: Final = 2
"""A single review has no variance."""
_DIGITS: Final = 9
_DRAWN_AT_ONCE: Final = 2**17
"""Numbers per chunk: memory use does not grow with the number of reviews."""


class Contrast(NamedTuple):
    """The mean of the first group minus that of the second."""

    effect: float
    ci_low: float | None = None
    """95 % interval by Welch's t; None if a group has fewer than two reviews, or if no group varies."""
    ci_high: float | None = None
    p_value: float | None = None
    """Randomisation test of Welch's t; None if a group has fewer than two reviews, or if all values are equal."""


def randomised_contrast(
    first: Sequence[float], second: Sequence[float], *, permutations: int = RESAMPLES, seed: int = SEED
) -> Contrast:
    """Return the contrast of two groups, one value per review.

    Args:
        first: the values of the reviews in the first group; at least one.
        second: those of the second group; at least one.
        permutations: how often the reviews are dealt out anew to groups of the same sizes.
        seed: seed of the random draws; equal seeds give equal p on every machine.

    Example:
        >>> contrast = randomised_contrast([0.3, 0.5, 0.4, 0.4], [0.1, 0.0, 0.1, 0.2])
        >>> round(contrast.effect, 3), round(contrast.ci_low, 3), round(contrast.ci_high, 3)
        (0.3, 0.159, 0.441)
    """
    effect = fmean(first) - fmean(second)
    if min(len(first), len(second)) < _FEWEST or not _vary([*first, *second]):
        return Contrast(effect)
    p_value = _p_value(first, second, permutations, seed)
    if not (_vary(first) or _vary(second)):
        return Contrast(effect, p_value=p_value)
    margin = _margin(first, second)
    return Contrast(effect, round(effect - margin, _DIGITS), round(effect + margin, _DIGITS), p_value)


def _vary(values: Sequence[float]) -> bool:
    return max(values) - min(values) > 10.0**-_DIGITS


def _margin(first: Sequence[float], second: Sequence[float]) -> float:
    """Return half the width of Welch's interval."""
    from scipy.stats import t

    groups = (first, second)
    shares = [variance(values) / len(values) for values in groups]
    freedom = sum(shares) ** 2 / sum(share**2 / (len(values) - 1) for share, values in zip(shares, groups, strict=True))
    return float(t.ppf(_UPPER, freedom)) * sqrt(sum(shares))


def _p_value(first: Sequence[float], second: Sequence[float], permutations: int, seed: int) -> float:
    import numpy as np
    from numpy.random import PCG64, SeedSequence

    # Sorted within the groups, so that the order of the reviews does not change p.
    values = np.array([*sorted(first), *sorted(second)]).round(_DIGITS)
    n, step = len(values), max(1, _DRAWN_AT_ONCE // len(values))
    observed = _squared_t(values[None, :], len(first))[0]
    bits = PCG64(SeedSequence((seed, _PURPOSE)))
    extreme = 0
    for start in range(0, permutations, step):
        rows = min(step, permutations - start)
        dealt = np.argsort(bits.random_raw(rows * n).reshape(rows, n), axis=1, kind="stable")
        extreme += int((_squared_t(values[dealt], len(first)) >= observed * (1 - _SLACK)).sum())
    return (1 + extreme) / (1 + permutations)


def _squared_t(values: NDArray[np.float64], n_first: int) -> NDArray[np.float64]:
    """Return Welch's t squared per row, the first columns against the others; infinite if neither group varies."""
    import numpy as np

    groups = (values[:, :n_first], values[:, n_first:])
    difference = groups[0].mean(axis=1) - groups[1].mean(axis=1)
    error = sum(group.var(axis=1, ddof=1) / group.shape[1] for group in groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared: NDArray[np.float64] = np.nan_to_num(difference**2 / error, nan=0.0, posinf=np.inf)
    return squared
