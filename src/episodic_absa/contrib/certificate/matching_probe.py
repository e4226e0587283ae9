"""Matches what memory holds of a review with the texts of reviews like it: whose is it, and how much of it is text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import log, sqrt
from typing import TYPE_CHECKING, Final

from episodic_absa.contrib.certificate.chance import SHUFFLES, Figure, codes_of, shuffled_places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_UNITS: Final = 1_024


class Matching:
    """The n-grams that memory holds of each review beside the texts of all reviews of its group."""

    def __init__(self, held: Sequence[set[str]], texts: Sequence[set[str]], groups: Sequence[Hashable]) -> None:
        """Weigh what each review shares with each text of its group.

        Args:
            held: n-grams that memory holds of each review.
            texts: n-grams of the review itself, in the same order.
            groups: reviews of one group are rivals.
        """
        import numpy as np

        self._groups = codes_of(groups)
        weights = _weights(texts)
        n = len(texts)
        self._shares, self._nearness = np.zeros((n, n)), np.full((n, n), -1.0)
        lengths = [sqrt(sum(weights[gram] ** 2 for gram in text)) or 1.0 for text in texts]
        for group in range(int(self._groups.max(initial=-1)) + 1):
            rivals = np.flatnonzero(self._groups == group).tolist()
            for review in rivals:
                grams = held[review]
                total = sum(weights.get(gram, 0) for gram in grams)
                for rival in rivals:
                    shared = sum(weights[gram] for gram in grams & texts[rival])
                    self._shares[review, rival] = shared / total if total else 0.0
                    self._nearness[review, rival] = shared / lengths[rival]

    def overlap(self, shuffles: int = SHUFFLES) -> Figure:
        """Return the mean share of the held n-grams, weighted by their rarity, that stand in the review itself."""
        return self._figure(self._shares, shuffles)

    def identity(self, shuffles: int = SHUFFLES) -> Figure:
        """Return how often the nearest text is that of the review; k equally near ones count 1/k."""
        import numpy as np

        nearest = self._nearness == self._nearness.max(axis=1, keepdims=True)
        return self._figure(np.asarray(nearest / nearest.sum(axis=1, keepdims=True)), shuffles)

    def _figure(self, table: NDArray[np.float64], shuffles: int) -> Figure:
        import numpy as np

        places = shuffled_places(self._groups, shuffles)
        shuffled = table[np.arange(len(table)), places].mean(axis=1).round(12).tolist()
        own = table.diagonal()
        return Figure(round(float(own.mean()), 12), tuple(own.tolist()), tuple(shuffled))


def _weights(texts: Sequence[set[str]]) -> dict[str, int]:
    """Return the weight of each n-gram of the texts: the rarer, the larger, in whole units; at least 1."""
    counts = Counter(gram for text in texts for gram in text)
    return {gram: max(1, round(_UNITS * log(len(texts) / count))) for gram, count in counts.items()}
