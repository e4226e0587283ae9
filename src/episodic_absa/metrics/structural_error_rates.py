"""RQ1: how often results are structurally wrong, as shares of the successful samples."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from episodic_absa.final_tuples import pairs, representatives
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.metrics.per_sample.structural_errors import (
    BUCKETS,
    bucket_of,
    count_polarity_errors,
    has_conflict,
    has_hallucination,
)
from episodic_absa.metrics.ratios import count, rate
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import DropReason, RiskId

_SCOPE_RISKS: frozenset[RiskId] = frozenset({"NEGATION_SCOPE", "CONTRAST_SCOPE"})


def compute_structural_errors(cards: Sequence[Scorecard], *, count_backfilled: bool) -> Iterator[MetricValue]:
    """Yield the RQ1 metrics of successful samples."""
    n = len(cards)
    yield from _polarity(cards, "final", count_backfilled=count_backfilled)
    yield from _polarity(cards, "stage1", count_backfilled=count_backfilled)
    resolved = sum(_representatives_resolve_conflict(card, count_backfilled=count_backfilled) for card in cards)
    yield count("conflict_resolved_by_representative_n", resolved)
    buckets = Counter(bucket_of(card, count_backfilled=count_backfilled) for card in cards)
    for bucket in BUCKETS:
        yield rate(f"{bucket}_rate", buckets[bucket], n)
    hallucinated = sum(has_hallucination(card, count_backfilled=count_backfilled) for card in cards)
    yield rate("aspect_hallucination_rate", hallucinated, n)
    for reason in get_args(DropReason):
        yield rate(f"{reason}_rate", sum(any(drop.drop_reason == reason for drop in card.drops) for card in cards), n)
    risky = sum(any(risk.type in _SCOPE_RISKS for risk in card.risks_s1) for card in cards)
    yield rate("negation_contrast_risk_rate", risky, n)


def _polarity(
    cards: Sequence[Scorecard], stage: Literal["stage1", "final"], *, count_backfilled: bool
) -> Iterator[MetricValue]:
    suffix = "_s1" if stage == "stage1" else ""
    samples = [(predictions(card, stage, count_backfilled=count_backfilled), valid_gold(card)) for card in cards]
    errors = [count_polarity_errors(pairs(tuples), gold) for tuples, gold in samples if gold is not None]
    wrong_n = sum(sample.wrong for sample in errors)
    yield count(f"severe_polarity_error_L3_count{suffix}", wrong_n)
    yield rate(f"severe_polarity_error_L3_rate{suffix}", wrong_n, sum(sample.about_gold for sample in errors))
    yield rate(f"severe_polarity_error_L3_sample_rate{suffix}", sum(sample.wrong > 0 for sample in errors), len(errors))
    conflicts = sum(has_conflict(tuples) for tuples, _ in samples)
    yield rate(f"polarity_conflict_rate{suffix}", conflicts, len(cards))


def _representatives_resolve_conflict(card: Scorecard, *, count_backfilled: bool) -> bool:
    tuples = predictions(card, count_backfilled=count_backfilled)
    return has_conflict(tuples) and not has_conflict(tuple(representatives(tuples).values()))
