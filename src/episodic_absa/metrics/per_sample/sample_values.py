"""What one sample adds to the metrics on which two conditions are compared: a value, or counts for a ratio of sums."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES, explicit, score_explicit
from episodic_absa.metrics.per_sample.structural_errors import (
    bucket_of,
    count_polarity_errors,
    has_conflict,
    has_hallucination,
    has_residual_risk,
)
from episodic_absa.schemas.run_files.scorecard import Scorecard

_PAIRED_SCORES: Final = (
    "tuple_f1_explicit",
    "tuple_f1_overall",
    "tuple_f1_lenient",
    "tuple_f1_implicit",
    "tuple_f1_after_rep",
    "exact_match",
)


class ExplicitCounts(NamedTuple):
    """The explicit pairs of one sample."""

    hits: int
    predicted: int
    gold: int


def sample_value(metric: str, card: Scorecard, *, count_backfilled: bool = False) -> float | None:
    """Return the value of a paired metric for one sample.

    Args:
        metric: one of PAIRED_METRICS, but none of MICRO_METRICS.
        card: the scorecard of the sample.
        count_backfilled: whether a backfilled tuple counts as a prediction.

    Returns:
        The value; None if the sample failed or lacks the gold that the metric needs.

    Raises:
        KeyError: the metric has no value per sample.
    """
    with_gold, without_gold = _WITH_GOLD.get(metric), _WITHOUT_GOLD.get(metric)
    if with_gold is None and without_gold is None:
        raise KeyError(metric)
    if card.status == "error":
        return None
    if without_gold is not None:
        return without_gold(card, count_backfilled)
    gold = valid_gold(card)
    return None if gold is None or with_gold is None else with_gold(card, gold, count_backfilled)


def sample_values(card: Scorecard, *, count_backfilled: bool = False) -> dict[str, float | None]:
    """Return every value of one sample, as `sample_value` does; the gold is read once."""
    if card.status == "error":
        return dict.fromkeys(VALUE_METRICS)
    gold = valid_gold(card)
    scores = {
        metric: None if gold is None else score(card, gold, count_backfilled) for metric, score in _WITH_GOLD.items()
    }
    return {**scores, **{metric: value_of(card, count_backfilled) for metric, value_of in _WITHOUT_GOLD.items()}}


def explicit_counts(card: Scorecard, *, count_backfilled: bool = False) -> ExplicitCounts | None:
    """Return what one sample adds to the micro metrics; None if it failed or has no explicit gold."""
    gold = valid_gold(card) if card.status == "ok" else None
    expected = explicit(gold) if gold else None
    if not expected:
        return None
    predicted = explicit(pairs(predictions(card, count_backfilled=count_backfilled)))
    return ExplicitCounts(len(predicted & expected), len(predicted), len(expected))


def delta_f1(card: Scorecard, gold: Pairs, count_backfilled: bool) -> float | None:  # noqa: FBT001 - one signature for all
    """Return explicit F1 of the final tuples minus that of the Stage1 tuples; None without explicit gold."""
    final = score_explicit(predictions(card, count_backfilled=count_backfilled), gold)
    before = score_explicit(predictions(card, "stage1", count_backfilled=count_backfilled), gold)
    return None if final is None or before is None else final - before


def delta_risk(card: Scorecard) -> int:
    """Return the severity sum after minus before; a negative value means that risk fell."""
    before, after = card.risk_before, card.risk_after
    return (after.severity_sum if after else 0) - (before.severity_sum if before else 0)


def was_changed(card: Scorecard) -> bool:
    """Return whether the final pairs differ from the Stage1 pairs."""
    return card.stage_delta is not None and card.stage_delta.changed


def _pair_score(metric: str) -> "_WithGold":
    score = PAIR_SCORES[metric]
    return lambda card, gold, backfilled: score(predictions(card, count_backfilled=backfilled), gold)


def _severe(card: Scorecard, gold: Pairs, count_backfilled: bool) -> float:  # noqa: FBT001 - one signature for all
    return float(count_polarity_errors(predictions(card, count_backfilled=count_backfilled), gold).wrong > 0)


_WithGold = Callable[[Scorecard, Pairs, bool], float | None]
_WithoutGold = Callable[[Scorecard, bool], float | None]

_WITH_GOLD: Final[Mapping[str, _WithGold]] = {
    **{metric: _pair_score(metric) for metric in _PAIRED_SCORES},
    "delta_f1": delta_f1,
    "severe_polarity_error": _severe,
}
_WITHOUT_GOLD: Final[Mapping[str, _WithoutGold]] = {
    "polarity_conflict": lambda card, backfilled: float(has_conflict(predictions(card, count_backfilled=backfilled))),
    "unsupported": lambda card, backfilled: float(bucket_of(card, count_backfilled=backfilled) == "unsupported"),
    "aspect_hallucination": lambda card, backfilled: float(has_hallucination(card, count_backfilled=backfilled)),
    "changed": lambda card, _: float(was_changed(card)),
    "delta_risk": lambda card, _: float(delta_risk(card)),
    "outcome_residual_risk": lambda card, backfilled: float(has_residual_risk(card, count_backfilled=backfilled)),
    "validator_residual_risk": lambda card, _: float(bool(card.stage2_structural_risk)),
    "tokens_in": lambda card, _: float(card.usage.tokens_in),
    "tokens_out": lambda card, _: float(card.usage.tokens_out),
    "calls": lambda card, _: float(card.usage.calls),
}

VALUE_METRICS: Final[tuple[str, ...]] = (*_WITH_GOLD, *_WITHOUT_GOLD)
"""The paired metrics with a value per sample: a condition's figure is the mean of these values."""
RECALL: Final = "tuple_micro_recall_explicit"
MICRO_METRICS: Final[tuple[str, ...]] = ("tuple_micro_f1_explicit", "tuple_micro_precision_explicit", RECALL)
"""The paired metrics that are ratios of sums over all samples."""
PAIRED_METRICS: Final[tuple[str, ...]] = (VALUE_METRICS[0], *MICRO_METRICS, *VALUE_METRICS[1:])
"""Outcome metrics first, then process, then efficiency; `definition_of` gives the kind."""
