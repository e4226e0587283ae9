"""The paired permutation test: were the two conditions alike, each difference might as well have the other sign."""

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
    """Return the two-sided p of each sample of differences, None where differences have no spread.

    Signs of zeros are of no consequence. Where the rest have no more sign patterns than `flips`, all are tried and p is
    exact; else p = (1 + as far from 0 as observed) / (1 + flips).
    """
    p_values: list[float | None] = [None] * len(samples)
    sampled: dict[int, list[int]] = {}
    for place, differences in enumerate(samples):
        if not has_spread(differences):
            continue
        units, _ = to_units(differences)
        nonzero = units[units != 0.0]
        if len(nonzero) < flips.bit_length() and 2 ** len(nonzero) <= flips:
            p_values[place] = _exact_p(nonzero)
        else:
            sampled.setdefault(len(units), []).append(place)
    for n, places in sampled.items():
        found = _sampled_p([samples[place] for place in places], n, flips, seed)
        for place, p_value in zip(places, found, strict=True):
            p_values[place] = p_value
    return tuple(p_values)


def _exact_p(nonzero: NDArray[np.float64]) -> float:
    import numpy as np

    patterns = 1 << len(nonzero)
    bits = np.arange(patterns)[:, None] >> np.arange(len(nonzero)) & 1
    signs = 1.0 - 2.0 * bits.astype(np.float64)
    return int(_as_far(signs, nonzero[:, None])[0]) / patterns


def _sampled_p(samples: Sequence[Sequence[float]], n: int, flips: int, seed: int) -> list[float]:
    import numpy as np

    units = np.column_stack([to_units(differences)[0] for differences in samples])
    draws, step = RandomDraws(seed, _PURPOSE), rows_at_once(n)
    counts = np.zeros(len(samples), dtype=np.int64)
    for start in range(0, flips, step):
        counts += _as_far(draws.signs(min(step, flips - start), n), units)
    return [(1 + count) / (1 + flips) for count in counts.tolist()]


def _as_far(signs: NDArray[np.float64], units: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count the rows of signs whose sum is at least as far from 0 as the observed one, per column of units."""
    import numpy as np

    observed = np.abs(units.sum(axis=0))
    # A unit is off by a half at the most: sums that are equal in truth differ by no more than their number of terms.
    slack = (units != 0.0).sum(axis=0)
    found: NDArray[np.int64] = (np.abs(signs @ units) >= observed - slack).sum(axis=0)
    return found
