"""Similarity of terms (cosine of character n-grams) and the largest one-to-one matching of similar pairs."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import Final

from episodic_absa.metrics.per_sample.gold_and_predictions import Pair, Pairs

SIMILARITY_NAME: Final = "character 2- and 3-gram cosine"
"""Shown with every value that depends on it: another similarity gives another value."""
THRESHOLD: Final = 0.95
_SIZES: Final = (2, 3)
_ROUNDING: Final = 1e-9


def similarity(a: str, b: str) -> float:
    """Return the n-gram cosine of two normalised terms, 0..1. An empty term is similar only to an empty term."""
    if a == b:
        return 1.0
    grams_a, grams_b = _grams(a), _grams(b)
    shared = sum(count * grams_b[gram] for gram, count in grams_a.items())
    if not shared:
        return 0.0
    return shared / sqrt(_squared(grams_a) * _squared(grams_b))


def count_similar_pairs(predicted: Pairs, gold: Pairs) -> int:
    """Return the size of the largest one-to-one matching of pairs with equal polarity and similar terms."""
    matches = [[_is_similar(pair, gold_pair) for gold_pair in sorted(gold)] for pair in sorted(predicted)]
    if not any(map(any, matches)):
        return 0
    if _is_unambiguous(matches):
        return sum(map(sum, matches))
    # Imported here because scipy is slow to import and few samples have competing matches.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(matches, maximize=True)
    return sum(matches[row][column] for row, column in zip(rows, columns, strict=True))


def _is_similar(pair: Pair, gold_pair: Pair) -> bool:
    return pair[1] == gold_pair[1] and similarity(pair[0], gold_pair[0]) >= THRESHOLD - _ROUNDING


def _is_unambiguous(matches: Sequence[Sequence[bool]]) -> bool:
    return all(sum(row) <= 1 for row in matches) and all(sum(column) <= 1 for column in zip(*matches, strict=True))


@lru_cache(maxsize=4096)
def _grams(term: str) -> Counter[str]:
    # Padding gives the first and the last letter as many n-grams as the others.
    padded = f" {term} " if term else ""
    return Counter(padded[at : at + size] for size in _SIZES for at in range(len(padded) - size + 1))


def _squared(grams: Counter[str]) -> int:
    return sum(count * count for count in grams.values())
