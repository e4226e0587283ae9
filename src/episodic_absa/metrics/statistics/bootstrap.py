"""95 % percentile bootstrap intervals of means: reviews are drawn anew, with replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from episodic_absa.metrics.statistics.random_draws import RandomDraws
from episodic_absa.metrics.statistics.whole_units import FINEST_DIGITS, has_spread, to_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES: Final = 10_000
SEED: Final = 20_261_115
_PURPOSE: Final = 1
_TAILS: Final = (0.025, 0.975)
_DRAWN_AT_ONCE: Final = 2**17
"""Numbers per chunk: few enough to stay in the cache, a few MB whatever the number of reviews."""

Interval = tuple[float, float]


def mean_interval(
    values_by_uid: Mapping[str, float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Interval | None:
    """Return the interval of one condition's mean; None for fewer than two reviews or values without variation."""
    # In the order of uids, so that the order of a file changes nothing.
    values = [values_by_uid[uid] for uid in sorted(values_by_uid)]
    return bootstrap_intervals([values], resamples=resamples, seed=seed)[0]


def bootstrap_intervals(
    samples: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Interval | None, ...]:
    """Return an interval per sample of values; None where there is nothing to resample.

    Samples of one size share their draws. An interval depends on its own values and the seed alone, not on its company.
    """
    by_size: dict[int, list[int]] = {}
    for place, values in enumerate(samples):
        if has_spread(values):
            by_size.setdefault(len(values), []).append(place)
    intervals: list[Interval | None] = [None] * len(samples)
    for n, places in by_size.items():
        found = _intervals([samples[place] for place in places], n, resamples, seed)
        for place, interval in zip(places, found, strict=True):
            intervals[place] = interval
    return tuple(intervals)


def rows_at_once(n: int) -> int:
    """Return how many rows of n numbers are worked on together; even, for a draw takes half a word."""
    return max(2, _DRAWN_AT_ONCE // n // 2 * 2)


def _intervals(samples: Sequence[Sequence[float]], n: int, resamples: int, seed: int) -> list[Interval]:
    import numpy as np

    units, per_one = zip(*(to_units(values) for values in samples), strict=True)
    sums = _resampled_sums(np.column_stack(units), resamples, seed)
    low, high = (np.quantile(sums, _TAILS, axis=0) / (n * np.asarray(per_one))).round(FINEST_DIGITS)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _resampled_sums(units: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Return the sum of each column over every resample. Units are whole numbers: the product is exact."""
    import numpy as np

    n = len(units)
    draws, step = RandomDraws(seed, _PURPOSE), rows_at_once(n)
    chunks = [draws.resample_counts(min(step, resamples - start), n) @ units for start in range(0, resamples, step)]
    return np.concatenate(chunks)
