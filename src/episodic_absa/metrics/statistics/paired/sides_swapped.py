"""The paired permutation test: if the conditions do not differ, each review may as well have its sides swapped."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED, rows_at_once
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.random_draws import RandomDraws
from episodic_absa.metrics.statistics.whole_units import to_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FLIPS: Final = 2
_RATIO_FLIPS: Final = 4
_LARGEST_DENOMINATOR: Final = 30_000
_TOLERANCE: Final = 1e-12
_LARGEST_SUM: Final = 2**21
_LARGEST_WORK: Final = 10**8
_DIGITS: Final = 12
_LEAST: Final = 2.0**-1000


class SwapTest(NamedTuple):
    """The two-sided p of the permutation test."""

    p_value: float
    is_exact: bool
    """Whether all ways to swap sides were counted, not a sample of them."""


def swap_tests(
    metrics: Sequence[PairedCells], *, flips: int = RESAMPLES, seed: int = SEED
) -> tuple[SwapTest | None, ...]:
    """Return one test per metric; None for a metric whose reviews do not differ between the sides.

    All orders of a review are swapped together. The test of a mean is exact by convolution where the differences are
    multiples of a common unit that is not too small; else it draws `flips` ways to swap.
    """
    return tuple(_swap_test(cells, flips, seed) if cells.can_be_tested else None for cells in metrics)


def _swap_test(cells: PairedCells, flips: int, seed: int) -> SwapTest:
    differences = _linear_differences(cells)
    if differences is None:
        return _ratio_test(cells, flips, seed)
    p_value = exact_p(differences)
    return (
        SwapTest(sampled_p(differences, flips, seed), is_exact=False)
        if p_value is None
        else SwapTest(p_value, is_exact=True)
    )


def sampled_p(differences: Sequence[float], flips: int = RESAMPLES, seed: int = SEED) -> float:
    """Return p from drawn ways to swap sides: (1 + ways as extreme as observed) / (1 + flips)."""
    import numpy as np

    units, _ = to_units(differences)
    units = units[units != 0.0]
    # Rounding to units moves each term by at most one half, so two equal sums differ by at most the number of terms.
    observed = abs(units.sum()) - len(units)
    draws, step, count = RandomDraws(seed, _FLIPS), rows_at_once(max(len(units), 1)), 0
    for start in range(0, flips, step):
        signs = draws.signs(min(step, flips - start), len(units))
        count += int((np.abs(signs @ units) >= observed).sum())
    return (1 + count) / (1 + flips)


def exact_p(differences: Sequence[float]) -> float | None:
    """Return the exact two-sided sign-flip p; None where the differences have no common unit that is large enough.

    Example:
        >>> exact_p([0.5, 0.25, 0.25, 0.0])
        0.25
    """
    units = _whole_multiples(differences)
    if units is None:
        return None
    sizes = sorted(abs(unit) for unit in units)
    total = sum(sizes)
    if total > _LARGEST_SUM or total * len(sizes) // 2 > _LARGEST_WORK:
        return None
    import numpy as np

    # chances[k]: the probability that the differences with a positive sign add up to k.
    chances, reach = np.zeros(total + 1), 0
    chances[0] = 1.0
    for size in sizes:
        shifted = chances[: reach + 1] * 0.5
        chances[: reach + 1] = shifted
        chances[size : reach + size + 1] += shifted
        reach += size
    # A sum s of signed differences has (total + s) / 2 on the positive side.
    lowest = (total - abs(sum(units))) // 2
    tail = 2 * float(np.cumsum(chances[: lowest + 1])[-1]) if 2 * lowest < total else 1.0
    return max(round(min(tail, 1.0), _DIGITS), min(tail, 1.0) if tail < 10.0**-_DIGITS else 0.0, _LEAST)


def _whole_multiples(differences: Sequence[float]) -> list[int] | None:
    """Return the non-zero differences as multiples of their largest common unit; None if there is none."""
    sizes = [abs(difference) for difference in differences if abs(difference) >= _TOLERANCE]
    if not sizes or max(sizes) - min(sizes) < _TOLERANCE:
        return [1 if difference > 0 else -1 for difference in differences if abs(difference) >= _TOLERANCE]
    fractions: dict[float, Fraction] = {}
    common = 1
    for difference in differences:
        if abs(difference) < _TOLERANCE or difference in fractions:
            continue
        fraction = Fraction(difference).limit_denominator(_LARGEST_DENOMINATOR)
        common = lcm(common, fraction.denominator)
        if abs(float(fraction) - difference) > _TOLERANCE * max(1.0, abs(difference)) or common > _LARGEST_SUM:
            return None
        fractions[difference] = fraction
    units = [int(fractions[difference] * common) for difference in differences if difference in fractions]
    shared = gcd(*units)
    return [unit // shared for unit in units]


def _linear_differences(cells: PairedCells) -> list[float] | None:
    """Return what each review adds to the numerator of the difference; None for a ratio whose denominators differ."""
    above, below = cells.numerators.sum(axis=1), cells.denominators.sum(axis=1)
    if cells.is_mean:
        return [float(value) for value in above[:, 0]]
    if (below[:, 0] == below[:, 1]).all():
        return [float(value) for value in above[:, 0] - above[:, 1]]
    return None


def _ratio_test(cells: PairedCells, flips: int, seed: int) -> SwapTest:
    """Return the test of a difference of ratios of sums, by drawing ways to swap the sides of reviews."""
    import numpy as np

    above, below = cells.numerators.sum(axis=1), cells.denominators.sum(axis=1)
    changes = np.column_stack([above[:, 0] - above[:, 1], below[:, 0] - below[:, 1]])
    totals = np.array([above.sum(), below.sum()])
    changes = changes[(changes != 0.0).any(axis=1)]
    n = len(changes)
    observed = float(_difference_of_ratios(totals, changes.sum(axis=0)[None, :])[0])
    if n < flips.bit_length() and 2**n <= flips:
        bits = np.arange(1 << n)[:, None] >> np.arange(n) & 1
        drawn = _difference_of_ratios(totals, (1.0 - 2.0 * bits) @ changes)
        return SwapTest(_as_extreme(drawn, observed) / (1 << n), is_exact=True)
    draws, step, count = RandomDraws(seed, _RATIO_FLIPS), rows_at_once(n), 0
    for start in range(0, flips, step):
        drawn = _difference_of_ratios(totals, draws.signs(min(step, flips - start), n) @ changes)
        count += _as_extreme(drawn, observed)
    return SwapTest((1 + count) / (1 + flips), is_exact=False)


def _difference_of_ratios(totals: NDArray[np.float64], changes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ratio A minus ratio B where A + B are the totals and A - B the changes of each row."""
    import numpy as np

    ratios: list[NDArray[np.float64]] = []
    for sign in (1.0, -1.0):
        above, below = totals[0] + sign * changes[:, 0], totals[1] + sign * changes[:, 1]
        ratios.append(np.divide(above, below, out=np.zeros_like(above), where=below > 0))
    return ratios[0] - ratios[1]


def _as_extreme(drawn: NDArray[np.float64], observed: float) -> int:
    import numpy as np

    return int((np.abs(drawn) >= abs(observed) - _TOLERANCE).sum())
