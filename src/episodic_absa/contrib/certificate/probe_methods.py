"""The methods of the probes: a guess of the gold polarity, and a match of words with reviews, each against chance.

Chance is what the same probe reaches if the answers are shuffled among reviews that may be confused with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_absa.metrics.statistics import RandomDraws

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED: Final = 20_261_116
SHUFFLES: Final = 999
_SHUFFLED: Final = 11
_FOLDED: Final = 12
_FOLDS: Final = 5
_CHOSEN: Final = 5
"""Features per fold: those that separate the classes best in the other folds."""
_LARGEST: Final = 1_000
"""Features at most; beyond that, those that most evenly split the reviews."""
_UNITS: Final = 1_024
"""Weights and log probabilities are rounded to whole units, so that every machine adds up to the same scores."""
_AT_ONCE: Final = 2**22


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


def probe_polarity(
    documents: Sequence[Iterable[str]], gold: Sequence[str], groups: Sequence[Hashable], *, shuffles: int = SHUFFLES
) -> Figure:
    """Return how often the gold polarity is predicted right, and how often shuffled gold is.

    Args:
        documents: the features of each review.
        gold: the polarity of each review.
        groups: what chance keeps; gold is shuffled among the reviews of a group.
        shuffles: how many times.
    """
    import numpy as np

    table, answers = _table(documents), codes_of(gold)
    class_n = int(answers.max()) + 1
    places = shuffled_places(codes_of(groups), shuffles)
    labels = np.concatenate([answers[None, :], answers[places]])
    step = max(1, _AT_ONCE // max(1, table.shape[1] * class_n))
    folds = folds_of(len(answers), min(_FOLDS, len(answers)))
    hits = np.concatenate(
        [_hits(table, labels[start : start + step], class_n, folds) for start in range(0, len(labels), step)]
    )
    shares = hits.mean(axis=1).tolist()
    return Figure(shares[0], tuple(hits[0].tolist()), tuple(shares[1:]))


def _table(documents: Sequence[Iterable[str]]) -> NDArray[np.float64]:
    """Return which review has which feature; features of one review, of all, and repeated columns are left out."""
    import numpy as np

    features = [frozenset(document) for document in documents]
    counts = Counter(feature for document in features for feature in document)
    n = len(features)
    known = sorted(feature for feature, count in counts.items() if 1 < count < n)
    columns = {bytes(feature in document for document in features): None for feature in known}
    evenest = sorted(columns, key=lambda column: abs(2 * sum(column) - n))[:_LARGEST]
    if not evenest:
        return np.zeros((n, 0))
    return np.array([list(column) for column in evenest], dtype=np.float64).T


def _hits(
    table: NDArray[np.float64], labels: NDArray[np.int64], class_n: int, folds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return for each row of labels which reviews are predicted right; a fold is predicted from the other folds."""
    import numpy as np

    # Axes: review, labelling, class.
    members = (labels.T[:, :, None] == np.arange(class_n)).astype(np.float64)
    right = np.zeros(labels.shape)
    for fold in range(int(folds.max()) + 1):
        tested = folds == fold
        scores = _scores(table[~tested], members[~tested], table[tested])
        right[:, tested] = labels[:, tested] == scores.argmax(axis=2).T
    return right


def _scores(
    known: NDArray[np.float64], members: NDArray[np.float64], tested: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log score of each class for each tested review and labelling."""
    import numpy as np

    n, labelling_n, class_n = members.shape
    class_counts = members.sum(axis=0)
    present = (known.T @ members.reshape(n, -1)).reshape(-1, labelling_n, class_n)
    chances = (present + 0.5) / (class_counts + 1.0)
    on, off = (np.rint(_UNITS * np.log(part)) for part in (chances, 1.0 - chances))
    chosen = _chosen(present, class_counts, known.sum(axis=0), n)
    weights = np.where(chosen, on - off, 0.0).reshape(len(present), -1)
    base = np.where(chosen, off, 0.0).sum(axis=0) + np.rint(_UNITS * np.log((class_counts + 0.5) / (n + 1.0)))
    scores: NDArray[np.float64] = (tested @ weights).reshape(len(tested), labelling_n, class_n) + base
    return scores


def _chosen(
    present: NDArray[np.float64], class_counts: NDArray[np.float64], totals: NDArray[np.float64], n: int
) -> NDArray[np.bool_]:
    """Return which features each labelling uses: those with the largest chi-square, equal ones together."""
    import numpy as np

    expected = totals[:, None, None] * class_counts / n
    parts = np.divide((present - expected) ** 2, expected, out=np.zeros_like(present), where=expected > 0)
    strength = parts.sum(axis=2).round(9)
    if len(strength) > _CHOSEN:
        least = -np.partition(-strength, _CHOSEN - 1, axis=0)[_CHOSEN - 1]
        return np.asarray((strength >= least)[:, :, None])
    return np.ones((*strength.shape, 1), dtype=bool)
