"""95 % percentile bootstrap intervals of one condition: means and ratios. Reviews are drawn with replacement."""

from __future__ import annotations

from collections.abc import Sequence
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
"""Numbers per chunk. A chunk fits the processor cache, and memory use does not grow with the number of reviews."""

Interval = tuple[float, float]


def bootstrap_intervals(
    samples: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Interval | None, ...]:
    """Return one interval per list of values, one per review; None for a list without variation.

    Lists of equal length share their random draws. An interval depends only on its own values and the seed, which
    gives equal intervals on every machine.
    """
    return ratio_intervals([[(value, 1) for value in values] for values in samples], resamples=resamples, seed=seed)


def ratio_intervals(
    samples: Sequence[Sequence[tuple[float, int]]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Interval | None, ...]:
    """Return one interval per list for a ratio of sums, such as a micro F1.

    Args:
        samples: per list the numerator and the denominator (above 0) of each review; add the seeds of a review first.
        resamples: number of bootstrap resamples.
        seed: seed of the random draws; equal seeds give equal intervals on every machine.

    Returns:
        The lower and the upper bounds; None for a list whose reviews have equal ratios.
    """
    by_size: dict[int, list[int]] = {}
    for index, counts in enumerate(samples):
        if has_spread([above / below for above, below in counts]):
            by_size.setdefault(len(counts), []).append(index)
    intervals: list[Interval | None] = [None] * len(samples)
    for indexes in by_size.values():
        computed = _intervals([samples[index] for index in indexes], resamples, seed)
        for index, interval in zip(indexes, computed, strict=True):
            intervals[index] = interval
    return tuple(intervals)


def rows_at_once(n: int) -> int:
    """Return the number of rows of n numbers per chunk. It is even, because two draws use one random word."""
    return max(2, _DRAWN_AT_ONCE // n // 2 * 2)


def _intervals(samples: Sequence[Sequence[tuple[float, int]]], resamples: int, seed: int) -> list[Interval]:
    import numpy as np

    # Two columns per list, a row per review; numerators in whole units.
    columns, scales = [], []
    for sample in samples:
        above, below = np.asarray(sample, dtype=np.float64).T
        units, per_one = to_units(above)
        columns += [units, below]
        scales.append(per_one)
    sums = _resampled_sums(np.column_stack(columns), resamples, seed)
    bounds = np.quantile(sums[:, ::2] / sums[:, 1::2], _TAILS, axis=0) / np.asarray(scales)
    return [(low, high) for low, high in bounds.round(FINEST_DIGITS).T.tolist()]


def _resampled_sums(units: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Return the sum of each column in every resample. Units are whole numbers, so the matrix product is exact."""
    import numpy as np

    n = len(units)
    draws, step = RandomDraws(seed, _PURPOSE), rows_at_once(n)
    chunks = [draws.resample_counts(min(step, resamples - start), n) @ units for start in range(0, resamples, step)]
    return np.concatenate(chunks)
