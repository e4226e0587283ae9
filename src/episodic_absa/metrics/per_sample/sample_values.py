"""What one sample adds to the metrics on which two conditions are compared: a value, or counts for a ratio of sums."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples, predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_scores import (
    exact_match,
    explicit,
    f1_explicit,
    f1_implicit,
    f1_lenient,
    f1_overall,
    score_after_representative,
)
from episodic_absa.metrics.per_sample.structural_errors import Bucket, count_polarity_errors, pairs_conflict
from episodic_absa.schemas.run_files.scorecard import JudgedSentiment, Scorecard


class ExplicitCounts(NamedTuple):
    """The explicit pairs of one sample."""

    hits: int
    predicted: int
    gold: int


class ScoredSample:
    """One successful sample: what several metrics read of its scorecard is computed once."""

    def __init__(self, card: Scorecard, *, count_backfilled: bool) -> None:
        self.card = card
        self._count_backfilled = count_backfilled

    @cached_property
    def gold(self) -> Pairs | None:
        """The gold pairs; None without valid gold."""
        return valid_gold(self.card)

    @cached_property
    def final(self) -> Tuples:
        """The final tuples that count as predictions."""
        return predictions(self.card, count_backfilled=self._count_backfilled)

    @cached_property
    def predicted(self) -> Pairs:
        """The pairs of the final tuples."""
        return pairs(self.final)

    @cached_property
    def before(self) -> Tuples:
        """The Stage1 tuples that count as predictions."""
        return predictions(self.card, "stage1", count_backfilled=self._count_backfilled)

    @cached_property
    def has_conflict(self) -> bool:
        """Whether the final pairs give one term two polarities."""
        return pairs_conflict(self.predicted)

    @cached_property
    def judged(self) -> tuple[JudgedSentiment, ...]:
        """The grounding judgement of each predicted final tuple, in order."""
        # sentiments_judged has one entry per final tuple, in the same order; only the tuple has the backfill flag.
        both = zip(self.card.final_tuples, self.card.sentiments_judged, strict=False)
        return tuple(judged for final, judged in both if self._count_backfilled or not final.is_backfilled)

    @cached_property
    def bucket(self) -> Bucket:
        """The grounding bucket: that of the first predicted tuple."""
        moderator = self.card.moderator
        has_label = moderator is not None and moderator.applied_rules != ("Z",)
        if not self.judged:
            return "implicit" if has_label else "unsupported"
        first = self.judged[0]
        if not first.aspect_term:
            return "implicit"
        if not first.grounded:
            return "implicit" if self.card.implicit_grounding_candidate and has_label else "explicit_failure"
        return "explicit" if first.evidence_in_text else "unsupported"

    @property
    def leaves_risk(self) -> bool:
        """Whether the final result still has a risk or a polarity conflict, or is unsupported."""
        after = self.card.risk_after
        return bool(after and after.tags) or self.has_conflict or self.bucket == "unsupported"

    @property
    def hallucinates(self) -> bool:
        """Whether a predicted term does not occur in the text."""
        return any(not judged.term_in_text for judged in self.judged)

    @property
    def delta_f1(self) -> float | None:
        """Explicit F1 of the final tuples minus that of the Stage1 tuples; None without explicit gold."""
        gold = self.gold or frozenset()
        final, before = f1_explicit(self.predicted, gold), f1_explicit(pairs(self.before), gold)
        return None if final is None or before is None else final - before

    def values(self) -> tuple[float | None, ...]:
        """Return the values of VALUE_METRICS."""
        gold = self.gold
        with_gold = (None if gold is None else score(self, gold) for score in _WITH_GOLD.values())
        return (*with_gold, *(value_of(self) for value_of in _WITHOUT_GOLD.values()))

    def explicit_counts(self) -> ExplicitCounts | None:
        """Return what the sample adds to MICRO_METRICS; None without explicit gold."""
        expected = explicit(self.gold) if self.gold else None
        if not expected:
            return None
        predicted = explicit(self.predicted)
        return ExplicitCounts(len(predicted & expected), len(predicted), len(expected))


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
    sample = ScoredSample(card, count_backfilled=count_backfilled)
    if without_gold is not None:
        return without_gold(sample)
    return None if sample.gold is None or with_gold is None else with_gold(sample, sample.gold)


def delta_risk(card: Scorecard) -> int:
    """Return the severity sum after minus before; a negative value means that risk fell."""
    before, after = card.risk_before, card.risk_after
    return (after.severity_sum if after else 0) - (before.severity_sum if before else 0)


def was_changed(card: Scorecard) -> bool:
    """Return whether the final pairs differ from the Stage1 pairs."""
    return card.stage_delta is not None and card.stage_delta.changed


def _after_representative(sample: ScoredSample, gold: Pairs) -> float | None:
    # Without a conflict every tuple is the representative of its aspect.
    if not sample.has_conflict:
        return f1_overall(sample.predicted, gold)
    return score_after_representative(sample.final, gold)


_WITH_GOLD: Final[Mapping[str, Callable[[ScoredSample, Pairs], float | None]]] = {
    "tuple_f1_explicit": lambda sample, gold: f1_explicit(sample.predicted, gold),
    "tuple_f1_overall": lambda sample, gold: f1_overall(sample.predicted, gold),
    "tuple_f1_lenient": lambda sample, gold: f1_lenient(sample.predicted, gold),
    "tuple_f1_implicit": lambda sample, gold: f1_implicit(sample.predicted, gold),
    "tuple_f1_after_rep": _after_representative,
    "exact_match": lambda sample, gold: exact_match(sample.predicted, gold),
    "delta_f1": lambda sample, _: sample.delta_f1,
    "severe_polarity_error": lambda sample, gold: float(count_polarity_errors(sample.predicted, gold).wrong > 0),
}
_WITHOUT_GOLD: Final[Mapping[str, Callable[[ScoredSample], float | None]]] = {
    "polarity_conflict": lambda sample: float(sample.has_conflict),
    "unsupported": lambda sample: float(sample.bucket == "unsupported"),
    "aspect_hallucination": lambda sample: float(sample.hallucinates),
    "changed": lambda sample: float(was_changed(sample.card)),
    "delta_risk": lambda sample: float(delta_risk(sample.card)),
    "outcome_residual_risk": lambda sample: float(sample.leaves_risk),
    "validator_residual_risk": lambda sample: float(bool(sample.card.stage2_structural_risk)),
    "tokens_in": lambda sample: float(sample.card.usage.tokens_in),
    "tokens_out": lambda sample: float(sample.card.usage.tokens_out),
    "calls": lambda sample: float(sample.card.usage.calls),
}

VALUE_METRICS: Final[tuple[str, ...]] = (*_WITH_GOLD, *_WITHOUT_GOLD)
"""The paired metrics with a value per sample: a condition's figure is the mean of these values."""
MICRO_F1: Final = "tuple_f1_explicit_micro"
MICRO_PRECISION: Final = "tuple_precision_explicit_micro"
MICRO_RECALL: Final = "tuple_recall_explicit_micro"
MICRO_METRICS: Final[tuple[str, ...]] = (MICRO_F1, MICRO_PRECISION, MICRO_RECALL)
"""The paired metrics that are ratios of sums over all samples."""
PAIRED_METRICS: Final[tuple[str, ...]] = (VALUE_METRICS[0], *MICRO_METRICS, *VALUE_METRICS[1:])
"""Outcome metrics first, then process, then efficiency; `definition_of` gives the kind."""
