"""Values as whole numbers of a small unit. Sums of whole numbers are exact in any order of addition.

Resampled results are therefore equal on every machine, and ties between permutations are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FINEST_DIGITS: Final = 9
_LARGEST_SUM: Final = 2**52
"""A float represents whole numbers up to twice this value exactly."""


def to_units(values: Sequence[float] | NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return the values as whole units (in floats), and the units per 1: 10**9, or fewer if a sum would not fit."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    largest_sum = float(np.abs(array).max(initial=0.0)) * max(len(array), 1)
    digits = FINEST_DIGITS
    while largest_sum * 10.0**digits > _LARGEST_SUM:
        digits -= 1
    per_one = 10.0**digits
    return np.rint(array * per_one), per_one


def has_spread(values: Sequence[float] | NDArray[np.float64]) -> bool:
    """Return whether the values differ by more than floating-point noise."""
    units, _ = to_units(values)
    return len(units) > 1 and float(units.max() - units.min()) > 1.0
