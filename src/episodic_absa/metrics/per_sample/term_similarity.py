"""Nearly equal terms: cosine of character n-grams, and the best one-to-one matching under it."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import Final

from episodic_absa.metrics.per_sample.gold_and_predictions import Pair, Pairs

SIMILARITY_NAME: Final = "character 2- and 3-gram cosine"
"""Stands beside every value that depends on it: another similarity gives another number."""
THRESHOLD: Final = 0.95
_SIZES: Final = (2, 3)
_ROUNDING: Final = 1e-9


def similarity(a: str, b: str) -> float:
    """Return the cosine of two normalised terms' n-grams, 0..1; an empty term is like nothing but another one."""
    if a == b:
        return 1.0
    grams_a, grams_b = _grams(a), _grams(b)
    shared = sum(count * grams_b[gram] for gram, count in grams_a.items())
    if not shared:
        return 0.0
    return shared / sqrt(_squared(grams_a) * _squared(grams_b))


def count_similar_pairs(found: Pairs, gold: Pairs) -> int:
    """Count the pairs of a largest one-to-one matching of equal polarity and similar terms."""
    predicted, meant = sorted(found), sorted(gold)
    fits = [[_is_similar(one, other) for other in meant] for one in predicted]
    if not any(map(any, fits)):
        return 0
    if _is_unambiguous(fits):
        return sum(map(sum, fits))
    # Imported here: only a sample with rivalling matches needs it, and `--help` never does.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(fits, maximize=True)
    return sum(fits[row][column] for row, column in zip(rows, columns, strict=True))


def _is_similar(one: Pair, other: Pair) -> bool:
    return one[1] == other[1] and similarity(one[0], other[0]) >= THRESHOLD - _ROUNDING


def _is_unambiguous(fits: Sequence[Sequence[bool]]) -> bool:
    return all(sum(row) <= 1 for row in fits) and all(sum(column) <= 1 for column in zip(*fits, strict=True))


@lru_cache(maxsize=4096)
def _grams(term: str) -> Counter[str]:
    # Padded, so that the first and the last letter count as much as those between.
    padded = f" {term} " if term else ""
    return Counter(padded[at : at + size] for size in _SIZES for at in range(len(padded) - size + 1))


def _squared(grams: Counter[str]) -> int:
    return sum(count * count for count in grams.values())
