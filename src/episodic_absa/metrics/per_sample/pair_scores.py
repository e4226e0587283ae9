"""Scores of one sample's tuples against its gold. A score of None keeps the sample out of the metric's mean."""

from collections.abc import Callable, Mapping
from typing import Final

from episodic_absa.final_tuples import pairs as pairs_of
from episodic_absa.final_tuples import representatives
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples
from episodic_absa.metrics.per_sample.term_similarity import count_similar_pairs

PairScore = Callable[[Tuples, Pairs], float | None]


def explicit(pairs: Pairs) -> Pairs:
    """Return the pairs with a term."""
    return frozenset(pair for pair in pairs if pair[0])


def implicit(pairs: Pairs) -> Pairs:
    """Return the pairs without a term."""
    return frozenset(pair for pair in pairs if not pair[0])


def f1_explicit(predicted: Pairs, gold: Pairs) -> float | None:
    """Return F1 over explicit pairs; None without explicit gold."""
    predicted, expected = explicit(predicted), explicit(gold)
    return _f1(len(predicted & expected), predicted, expected)


def f1_overall(predicted: Pairs, gold: Pairs) -> float | None:
    """Return F1 over explicit and implicit pairs together; None without gold pairs."""
    return _f1(len(predicted & gold), predicted, gold)


def f1_implicit(predicted: Pairs, gold: Pairs) -> float | None:
    """Return F1 over implicit pairs; None without implicit gold."""
    expected = implicit(gold)
    if not expected:
        return None
    predicted = implicit(predicted)
    return _f1(len(predicted & expected), predicted, expected)


def f1_lenient(predicted: Pairs, gold: Pairs) -> float | None:
    """Return F1 where an implicit gold pair may match any unmatched prediction of its polarity."""
    hit_n = len(predicted & gold)
    unmatched = [polarity for _, polarity in predicted - gold]
    # Gold has at most one implicit pair per polarity, so two gold pairs never compete for the same prediction.
    hit_n += sum(polarity in unmatched for _, polarity in implicit(gold) - predicted)
    return _f1(hit_n, predicted, gold)


def exact_match(predicted: Pairs, gold: Pairs) -> float | None:
    """Return 1 if the predicted pairs equal the gold pairs, else 0; empty gold is gold without an opinion."""
    return float(predicted == gold)


def score_after_representative(tuples: Tuples, gold: Pairs) -> float | None:
    """Return `f1_overall` with one representative tuple per predicted aspect."""
    return f1_overall(pairs_of(representatives(tuples).values()), gold)


def score_precision_explicit(tuples: Tuples, gold: Pairs) -> float | None:
    """Return the share of explicit predictions that are gold: 0 without a prediction, None without explicit gold."""
    predicted, expected = explicit(pairs_of(tuples)), explicit(gold)
    return (len(predicted & expected) / len(predicted) if predicted else 0.0) if expected else None


def score_recall_explicit(tuples: Tuples, gold: Pairs) -> float | None:
    """Return the share of explicit gold that was predicted; None without explicit gold."""
    expected = explicit(gold)
    return len(explicit(pairs_of(tuples)) & expected) / len(expected) if expected else None


def score_exact(tuples: Tuples, gold: Pairs) -> float | None:
    """Return `exact_match` of tuples."""
    return exact_match(pairs_of(tuples), gold)


def score_implicit_missed(tuples: Tuples, gold: Pairs) -> float | None:
    """Return 1 if no implicit pair was predicted, else 0; None without implicit gold."""
    return float(not implicit(pairs_of(tuples))) if implicit(gold) else None


def score_generalized(tuples: Tuples, gold: Pairs) -> float | None:
    """Return `f1_overall` where similar terms count as equal."""
    predicted = pairs_of(tuples)
    return _f1(count_similar_pairs(predicted, gold), predicted, gold) if gold else None


def _of_pairs(score: Callable[[Pairs, Pairs], float | None]) -> PairScore:
    return lambda tuples, gold: score(pairs_of(tuples), gold)


PAIR_SCORES: Final[Mapping[str, PairScore]] = {
    "tuple_f1_explicit": _of_pairs(f1_explicit),
    "tuple_precision_explicit": score_precision_explicit,
    "tuple_recall_explicit": score_recall_explicit,
    "tuple_f1_overall": _of_pairs(f1_overall),
    "tuple_f1_implicit": _of_pairs(f1_implicit),
    "tuple_f1_lenient": _of_pairs(f1_lenient),
    "tuple_f1_after_rep": score_after_representative,
    "exact_match": score_exact,
    "implicit_invalid_pred_rate": score_implicit_missed,
    "generalized_f1@0.95": score_generalized,
}
"""The quality metrics that are means of a score per sample."""


def _f1(hit_n: int, predicted: Pairs, gold: Pairs) -> float | None:
    return 2 * hit_n / (len(predicted) + len(gold)) if gold else None
