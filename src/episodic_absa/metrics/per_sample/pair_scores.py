"""How well the tuples of one sample meet its gold. None: the sample takes no part in the metric's mean."""

from collections.abc import Callable, Mapping
from typing import Final

from episodic_absa.final_tuples import pairs, representatives
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples
from episodic_absa.metrics.per_sample.term_similarity import count_similar_pairs

PairScore = Callable[[Tuples, Pairs], float | None]


def explicit(found: Pairs) -> Pairs:
    """Keep the pairs that name a term."""
    return frozenset(pair for pair in found if pair[0])


def implicit(found: Pairs) -> Pairs:
    """Keep the pairs without a term."""
    return frozenset(pair for pair in found if not pair[0])


def score_explicit(tuples: Tuples, gold: Pairs) -> float | None:
    """F1 over explicit pairs alone."""
    found, meant = explicit(pairs(tuples)), explicit(gold)
    return _f1(len(found & meant), found, meant)


def score_overall(tuples: Tuples, gold: Pairs) -> float | None:
    """F1 over explicit and implicit pairs together."""
    found = pairs(tuples)
    return _f1(len(found & gold), found, gold)


def score_implicit(tuples: Tuples, gold: Pairs) -> float | None:
    """F1 over implicit pairs alone: an empty term with the gold's polarity."""
    found, meant = implicit(pairs(tuples)), implicit(gold)
    return _f1(len(found & meant), found, meant)


def score_lenient(tuples: Tuples, gold: Pairs) -> float | None:
    """F1 where an implicit gold pair may also meet one prediction of its polarity that nothing else met."""
    found = pairs(tuples)
    hit_n = len(found & gold)
    free = [polarity for _, polarity in found - gold]
    # A set holds at most one implicit pair per polarity, so which of the free predictions it takes is no matter.
    hit_n += sum(polarity in free for _, polarity in implicit(gold) - found)
    return _f1(hit_n, found, gold)


def score_after_representative(tuples: Tuples, gold: Pairs) -> float | None:
    """F1 as overall, with one tuple per predicted aspect."""
    return score_overall(tuple(representatives(tuples).values()), gold)


def score_precision_explicit(tuples: Tuples, gold: Pairs) -> float | None:
    """Share of explicit predictions that are gold; with gold and no prediction 0."""
    found, meant = explicit(pairs(tuples)), explicit(gold)
    return (len(found & meant) / len(found) if found else 0.0) if meant else None


def score_recall_explicit(tuples: Tuples, gold: Pairs) -> float | None:
    """Share of explicit gold that was predicted."""
    meant = explicit(gold)
    return len(explicit(pairs(tuples)) & meant) / len(meant) if meant else None


def score_exact(tuples: Tuples, gold: Pairs) -> float | None:
    """1 if exactly the gold pairs were predicted; annotated and without opinion is gold, too."""
    return float(pairs(tuples) == gold)


def score_implicit_missed(tuples: Tuples, gold: Pairs) -> float | None:
    """1 if there is implicit gold and no implicit prediction."""
    return float(not implicit(pairs(tuples))) if implicit(gold) else None


def score_generalized(tuples: Tuples, gold: Pairs) -> float | None:
    """F1 as overall, where nearly equal terms count as equal."""
    found = pairs(tuples)
    return _f1(count_similar_pairs(found, gold), found, gold) if gold else None


PAIR_SCORES: Final[Mapping[str, PairScore]] = {
    "tuple_f1_explicit": score_explicit,
    "tuple_precision_explicit": score_precision_explicit,
    "tuple_recall_explicit": score_recall_explicit,
    "tuple_f1_overall": score_overall,
    "tuple_f1_implicit": score_implicit,
    "tuple_f1_lenient": score_lenient,
    "tuple_f1_after_rep": score_after_representative,
    "exact_match": score_exact,
    "implicit_invalid_pred_rate": score_implicit_missed,
    "generalized_f1@0.95": score_generalized,
}
"""The quality metrics that are the mean of a score per sample."""


def _f1(hit_n: int, found: Pairs, gold: Pairs) -> float | None:
    return 2 * hit_n / (len(found) + len(gold)) if gold else None
