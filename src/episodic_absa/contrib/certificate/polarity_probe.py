"""Predicts the gold polarity of a review from fields and words: naive Bayes, cross-validated, against shuffled gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from episodic_absa.contrib.certificate.chance import SHUFFLES, Figure, codes_of, folds_of, shuffled_places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FOLDS: Final = 5
_CHOSEN: Final = 5
"""Features per fold: those that separate the classes best in the other folds."""
_LARGEST: Final = 1_000
"""Features at most; beyond that, those that most evenly split the reviews."""
_UNITS: Final = 1_024
"""Log probabilities are rounded to whole units, so that every machine adds up to the same scores."""
_AT_ONCE: Final = 2**22


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
