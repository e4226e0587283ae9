"""A confidence sequence for the mean of paired differences: intervals that may be looked at after every review.

The empirical-Bernstein sequence of Howard, Ramdas, McAuliffe and Sekhon (2021, theorem 4) with the gamma-exponential
mixture. It assumes that differences are bounded and nothing else about their distribution. It covers the average of
the expected differences so far, so an effect may drift while a memory grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, log, log1p, sqrt
from statistics import stdev
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_absa.metrics.statistics import ALPHA

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_EXPECTED_VARIANCE: Final = 0.03
"""Variance of differences in F1 for which the sequence is narrowest: one review in eight differs, by a half."""
_LARGEST_GUESS: Final = 0.1
"""No error of a guess is larger than 1 + this share of the largest difference, instead of twice that difference."""
_PLANNED: Final = 500
_HALVINGS: Final = 50
_FEWEST_ORDERS: Final = 2


class SequenceLook(NamedTuple):
    """The confidence sequence after n reviews."""

    n: int
    mean: float | None
    """None before the first review."""
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 lies outside the interval."""
        return self.low > 0 or self.high < 0


def look_at(
    differences: Sequence[float],
    *,
    order_means: Sequence[float] = (),
    largest: float = 1.0,
    planned: int = _PLANNED,
    alpha: float = ALPHA,
) -> SequenceLook:
    """Return the confidence sequence after the last of the differences.

    Args:
        differences: A minus B per review, in the order in which the reviews arrived.
        order_means: the mean difference of each order of the samples; two or more widen the interval.
        largest: the largest absolute difference that is possible.
        planned: the number of reviews for which the sequence is narrowest. It must not depend on the differences.
        alpha: the probability that the sequence ever leaves the mean out.

    Raises:
        ValueError: a difference is larger than `largest`, or an argument is out of range.

    Example:
        >>> look = look_at([0.5, 0.0, 0.0, 0.0] * 50, planned=200)
        >>> look.n, look.mean, look.excludes_zero
        (200, 0.125, True)
        >>> round(look.low, 3), round(look.high, 3)
        (0.057, 0.193)
    """
    n = len(differences)
    if not n:
        return SequenceLook(0, None, -largest, largest)
    low, high = confidence_sequence(differences, largest=largest, planned=planned, alpha=alpha, looks=(n,))
    mean, added = sum(differences) / n, order_width(order_means, alpha=alpha)
    lower, upper = mean - hypot(mean - float(low[0]), added), mean + hypot(float(high[0]) - mean, added)
    return SequenceLook(n, mean, max(lower, -largest), min(upper, largest))


def order_width(order_means: Sequence[float], *, alpha: float = ALPHA) -> float:
    """Return the half width of the t interval over the means of orders; 0 for fewer than two orders.

    The reviews of one order share a memory, so that more reviews do not tell how another order would have ended. The
    squares of this width and of the sequence's are added.
    """
    if len(order_means) < _FEWEST_ORDERS:
        return 0.0
    from scipy.special import stdtrit

    return float(stdtrit(len(order_means) - 1, 1 - alpha / 2)) * stdev(order_means) / sqrt(len(order_means))


def confidence_sequence(
    differences: ArrayLike,
    *,
    largest: float = 1.0,
    planned: int = _PLANNED,
    alpha: float = ALPHA,
    looks: Sequence[int] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and the upper bounds after every review, or after the numbers of reviews in `looks`.

    With probability 1 - alpha, every interval of the sequence contains the average of the expected differences of the
    reviews so far, each given the reviews before it. Looking often and stopping at any time keep this probability.

    Args:
        differences: A minus B; the last axis is the order in which the reviews arrived.
        largest: the largest absolute difference that is possible.
        planned: the number of reviews for which the sequence is narrowest. It must not depend on the differences.
        alpha: the probability that the sequence ever leaves the mean out.
        looks: numbers of reviews, each at least 1; None for all.

    Raises:
        ValueError: a difference is larger than `largest`, or an argument is out of range.

    Example:
        >>> low, high = confidence_sequence([0.5, 0.0, 0.0, 0.0] * 50, planned=200, looks=(100, 200))
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.02, 0.057], [0.23, 0.193])
    """
    import numpy as np

    values = np.asarray(differences, dtype=np.float64)
    _require(values, largest=largest, planned=planned, alpha=alpha)
    n = np.arange(1, values.shape[-1] + 1)
    sums = values.cumsum(axis=-1)
    # A guess of each difference from the earlier ones; the closer the guess, the narrower the sequence.
    guesses = ((sums - values) / n).clip(-_LARGEST_GUESS * largest, _LARGEST_GUESS * largest)
    variances = ((values - guesses) ** 2).cumsum(axis=-1)
    chosen = slice(None) if looks is None else np.asarray(looks, dtype=np.int64) - 1
    n, sums, variances = n[chosen], sums[..., chosen], variances[..., chosen]
    expected = _EXPECTED_VARIANCE * largest**2 * planned
    mixture = _Mixture(scale=(1 + _LARGEST_GUESS) * largest, tuned_for=expected, alpha=alpha / 2)
    width = mixture.boundary(variances) / n
    return np.maximum(sums / n - width, -largest), np.minimum(sums / n + width, largest)


def _require(values: NDArray[np.float64], *, largest: float, planned: int, alpha: float) -> None:
    if largest <= 0 or planned < 1 or not 0 < alpha < 1:
        raise ValueError(
            f"largest is {largest}, planned {planned}, alpha {alpha}; give numbers above 0, and alpha below 1"
        )
    # Not `> largest`: a comparison with NaN is False.
    if values.size and not float(abs(values).max()) <= largest * (1 + 1e-9):
        raise ValueError(f"a difference lies outside -{largest} to {largest}; give the largest that is possible")


class _Mixture(NamedTuple):
    """The gamma-exponential mixture (proposition 9): one side of the sequence."""

    scale: float
    """The largest possible error of a guess."""
    tuned_for: float
    """The sum of squared errors at which the boundary is lowest."""
    alpha: float

    def boundary(self, variances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest deviation of a sum from its expectation, by the sum of squared errors."""
        import numpy as np

        limit = log(1 / self.alpha)
        low, high = np.zeros_like(variances), np.ones_like(variances)
        while (below := self._log_value(high, variances) < limit).any():
            high = np.where(below, 2 * high, high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = self._log_value(middle, variances) < limit
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high

    def _log_value(self, sums: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the mixture; it rises with the sum."""
        import numpy as np
        from scipy.special import gammainc, gammaln

        rho = self._rho / self.scale**2
        shape = variances / self.scale**2 + rho
        moved = sums / self.scale + variances / self.scale**2
        start = rho * log(rho) - gammaln(rho) - np.log(gammainc(rho, rho))
        value: NDArray[np.float64] = (
            start + gammaln(shape) + np.log(gammainc(shape, moved + rho)) - shape * np.log(moved + rho) + moved
        )
        return value

    @property
    def _rho(self) -> float:
        # The best value of the normal mixture, which this mixture approaches.
        tail = max(2 * log(1 / (2 * self.alpha)), 1.0)
        return self.tuned_for / (tail + log1p(tail))
