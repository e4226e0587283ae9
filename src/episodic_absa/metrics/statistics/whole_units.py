"""Values as whole numbers of a small unit, so that sums are exact in whatever order a machine adds them up.

That is what makes resampled results equal everywhere, and ties between permutations real ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FINEST_DIGITS: Final = 9
_LARGEST_SUM: Final = 2**52
"""Whole numbers up to twice this are exact in a float."""


def to_units(values: Sequence[float]) -> tuple[NDArray[np.float64], float]:
    """Return values as whole numbers (held in floats) and how many make 1: 10**9, or fewer where sums would not fit."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    reach = float(np.abs(array).max(initial=0.0)) * max(len(array), 1)
    digits = FINEST_DIGITS
    while reach * 10.0**digits > _LARGEST_SUM:
        digits -= 1
    per_one = 10.0**digits
    return np.rint(array * per_one), per_one


def has_spread(values: Sequence[float]) -> bool:
    """Say whether values differ by more than the noise of floating-point arithmetic."""
    units, _ = to_units(values)
    return len(units) > 1 and float(units.max() - units.min()) > 1.0
