"""Chance: what a probe reaches if the answers are shuffled among reviews that may be confused with each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_absa.metrics.statistics import RandomDraws

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED: Final = 20_261_116
SHUFFLES: Final = 999
_SHUFFLED: Final = 11
_FOLDED: Final = 12


class Figure(NamedTuple):
    """What one probe reaches, and what it reaches by chance."""

    value: float
    of_reviews: tuple[float, ...]
    """What each review adds: the value is their mean."""
    shuffled: tuple[float, ...]
    """The values with shuffled answers."""

    @property
    def p_value(self) -> float:
        """The share of shuffles that reach the value, the observed one among them."""
        slack = 1e-12
        return (1 + sum(figure >= self.value - slack for figure in self.shuffled)) / (1 + len(self.shuffled))


def codes_of(values: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return a whole number per value; equal values have equal numbers, in order of their first place."""
    import numpy as np

    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def shuffled_places(groups: NDArray[np.int64], shuffles: int) -> NDArray[np.int64]:
    """Return for each shuffle, per place, the place whose answer it gets; answers stay within their group."""
    import numpy as np

    keys = RandomDraws(SEED, _SHUFFLED).keys(shuffles, len(groups))
    home = np.argsort(groups, kind="stable")
    places = np.empty((shuffles, len(groups)), dtype=np.int64)
    for shuffle in range(shuffles):
        places[shuffle, home] = np.lexsort((keys[shuffle], groups))
    return places


def folds_of(n: int, fold_n: int) -> NDArray[np.int64]:
    """Return the fold of each place; the folds are random and equally large."""
    import numpy as np

    order = np.argsort(RandomDraws(SEED, _FOLDED).keys(1, n)[0], kind="stable")
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % fold_n
    return folds
