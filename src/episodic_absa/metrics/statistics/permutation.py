"""The paired permutation test. If the conditions do not differ, each difference is as likely to have the other sign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED, rows_at_once
from episodic_absa.metrics.statistics.random_draws import RandomDraws
from episodic_absa.metrics.statistics.whole_units import has_spread, to_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PURPOSE: Final = 2


def sign_flip_p_values(
    samples: Sequence[Sequence[float]], *, flips: int = RESAMPLES, seed: int = SEED
) -> tuple[float | None, ...]:
    """Return the two-sided p of each list of differences; None for differences without variation.

    If the non-zero differences have at most `flips` sign patterns, the test tries all of them and p is exact.
    Otherwise it draws `flips` patterns, and p = (1 + patterns as extreme as observed) / (1 + flips).
    """
    p_values: list[float | None] = [None] * len(samples)
    sampled: dict[int, list[int]] = {}
    for index, differences in enumerate(samples):
        if not has_spread(differences):
            continue
        units, _ = to_units(differences)
        nonzero = units[units != 0.0]
        if len(nonzero) < flips.bit_length() and 2 ** len(nonzero) <= flips:
            p_values[index] = _exact_p(nonzero)
        else:
            sampled.setdefault(len(units), []).append(index)
    for n, indexes in sampled.items():
        estimates = _sampled_p([samples[index] for index in indexes], n, flips, seed)
        for index, p_value in zip(indexes, estimates, strict=True):
            p_values[index] = p_value
    return tuple(p_values)


def _exact_p(nonzero: NDArray[np.float64]) -> float:
    import numpy as np

    patterns = 1 << len(nonzero)
    bits = np.arange(patterns)[:, None] >> np.arange(len(nonzero)) & 1
    signs = 1.0 - 2.0 * bits.astype(np.float64)
    return int(_count_as_extreme(signs, nonzero[:, None])[0]) / patterns


def _sampled_p(samples: Sequence[Sequence[float]], n: int, flips: int, seed: int) -> list[float]:
    import numpy as np

    units = np.column_stack([to_units(differences)[0] for differences in samples])
    draws, step = RandomDraws(seed, _PURPOSE), rows_at_once(n)
    counts = np.zeros(len(samples), dtype=np.int64)
    for start in range(0, flips, step):
        counts += _count_as_extreme(draws.signs(min(step, flips - start), n), units)
    return [(1 + count) / (1 + flips) for count in counts.tolist()]


def _count_as_extreme(signs: NDArray[np.float64], units: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count, per column of units, the rows of signs whose sum is at least as far from 0 as the observed sum."""
    import numpy as np

    observed = np.abs(units.sum(axis=0))
    # Rounding to units moves each term by at most one half, so two equal sums differ by at most the number of terms.
    slack = (units != 0.0).sum(axis=0)
    counts: NDArray[np.int64] = (np.abs(signs @ units) >= observed - slack).sum(axis=0)
    return counts
