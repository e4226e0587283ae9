"""The test of an interaction: whether the mean difference is the same in every group of reviews.

If it is, a review deviates from the common mean by chance, as likely upwards as downwards, whatever its groups are. The
test flips the signs of these deviations (a wild bootstrap with clusters). A review is flipped as a whole, with all its
orders and seeds, and stays in its groups. The test therefore holds for groups that overlap, for reviews that are
measured several times, and for groups whose differences vary more than those of others. A permutation of the groups
needs equal variation: where reviews of one group never differ, it calls chance an interaction in half of the cases.

Reviews of one order share a memory, so that luck of the order may move a whole group. From three orders on, a t test
over orders asks whether some group deviates from the others whatever the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED, rows_at_once
from episodic_absa.metrics.statistics.random_draws import RandomDraws
from episodic_absa.metrics.statistics.whole_units import has_spread, to_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PURPOSE: Final = 11
_FEWEST_ORDERS: Final = 3
_SLACK: Final = 1e-9
"""Two statistics that differ by a smaller share are equal: only rounding tells them apart."""


class GroupedDifference(NamedTuple):
    """The difference of one pair of samples, and the groups that the pair belongs to."""

    uid: str
    difference: float
    groups: tuple[str, ...]
    order: int = 0


def interaction_p_value(
    pairs: Sequence[GroupedDifference], *, flips: int = RESAMPLES, seed: int = SEED
) -> float | None:
    """Return the p of the hypothesis that the mean difference is the same in every group.

    The statistic is the spread of the group means: the sum of n * (mean of the group - mean of all)**2.

    Args:
        pairs: the differences; a review has one per order and seed. Pairs without a group are left out.
        flips: random sign patterns; p = (1 + patterns as extreme as observed) / (1 + flips).
        seed: seed of the random draws; equal seeds give equal p on every machine.

    Returns:
        p; None for fewer than two groups or for differences without variation.

    Example:
        >>> pairs = [GroupedDifference(f"r{n}", n % 5 / 10, ("ko" if n < 20 else "en",)) for n in range(40)]
        >>> interaction_p_value(pairs)
        1.0
    """
    pairs = [pair for pair in pairs if pair.groups]
    groups = sorted({group for pair in pairs for group in pair.groups})
    if len(groups) < 2 or not has_spread([pair.difference for pair in pairs]):
        return None
    import numpy as np

    deviations, sizes = _tabulate(pairs, groups)
    n = len(deviations)
    observed = _spreads(np.ones((1, n)) @ deviations, sizes)[0]
    draws, step = RandomDraws(seed, _PURPOSE), rows_at_once(n)
    extreme = 0
    for start in range(0, flips, step):
        sums = draws.signs(min(step, flips - start), n) @ deviations
        extreme += int((_spreads(sums, sizes) >= observed * (1 - _SLACK)).sum())
    return (1 + extreme) / (1 + flips)


def order_interaction_p(pairs: Sequence[GroupedDifference]) -> float | None:
    """Return the p of the hypothesis that no group deviates from the mean of all, with orders as the random unit.

    Each group has a t test over orders of its mean minus the mean of all pairs of that order; p is the smallest, times
    the number of groups (Bonferroni).

    Returns:
        p; None if fewer than two groups are known in three orders.

    Example:
        >>> luck = {1: 0.3, 2: -0.2, 3: 0.1, 4: -0.1, 5: 0.2}
        >>> pairs = [GroupedDifference(f"r{n}", luck[o] * (n < 5), ("ab"[n >= 5],), o) for o in luck for n in range(10)]
        >>> order_interaction_p(pairs) > 0.5
        True
    """
    by_order: dict[int, list[GroupedDifference]] = {}
    for pair in pairs:
        if pair.groups:
            by_order.setdefault(pair.order, []).append(pair)
    deviations: dict[str, list[float]] = {}
    for members in by_order.values():
        overall = fmean([pair.difference for pair in members])
        for group in {group for pair in members for group in pair.groups}:
            mean = fmean([pair.difference for pair in members if group in pair.groups])
            deviations.setdefault(group, []).append(mean - overall)
    p_values = [_t_test(means) for means in deviations.values() if len(means) >= _FEWEST_ORDERS]
    return min(1.0, len(p_values) * min(p_values)) if len(p_values) > 1 else None


def _t_test(means: Sequence[float]) -> float:
    from scipy.special import stdtr

    mean, error = fmean(means), stdev(means) / sqrt(len(means))
    if error < _SLACK:
        return 1.0 if abs(mean) < _SLACK else 0.0
    return float(2 * stdtr(len(means) - 1, -abs(mean) / error))


def _tabulate(
    pairs: Sequence[GroupedDifference], groups: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the summed deviations per review (row) and group (column) in whole units, and the pairs per group."""
    import numpy as np

    # Sorted, so that the order of lines in a file does not change p.
    rows = {uid: place for place, uid in enumerate(sorted({pair.uid for pair in pairs}))}
    columns = {group: place for place, group in enumerate(groups)}
    common = fmean([pair.difference for pair in pairs])
    units, _ = to_units([pair.difference - common for pair in pairs])
    deviations, sizes = np.zeros((len(rows), len(groups))), np.zeros(len(groups))
    for pair, unit in zip(pairs, units, strict=True):
        places = [columns[group] for group in pair.groups]
        deviations[rows[pair.uid], places] += unit
        sizes[places] += 1.0
    return deviations, sizes


def _spreads(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the spread of the group means, one per row of sums."""
    overall = sums.sum(axis=1, keepdims=True) / sizes.sum()
    spreads: NDArray[np.float64] = (sizes * (sums / sizes - overall) ** 2).sum(axis=1)
    return spreads
