"""RQ1: how often results are structurally wrong, as shares of the successful samples."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from episodic_absa.final_tuples import pairs, representatives
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs
from episodic_absa.metrics.per_sample.sample_values import ScoredSample
from episodic_absa.metrics.per_sample.structural_errors import BUCKETS, count_polarity_errors, pairs_conflict
from episodic_absa.metrics.ratios import count, rate
from episodic_absa.vocabulary import DropReason, RiskId

_SCOPE_RISKS: frozenset[RiskId] = frozenset({"NEGATION_SCOPE", "CONTRAST_SCOPE"})


def compute_structural_errors(samples: Sequence[ScoredSample]) -> Iterator[MetricValue]:
    """Yield the RQ1 metrics of successful samples."""
    n, cards = len(samples), [sample.card for sample in samples]
    yield from _polarity("", [(sample.predicted, sample.gold) for sample in samples])
    yield from _polarity("_s1", [(pairs(sample.before), sample.gold) for sample in samples])
    yield count("conflict_resolved_by_representative_n", sum(map(_representatives_resolve_conflict, samples)))
    buckets = Counter(sample.bucket for sample in samples)
    for bucket in BUCKETS:
        yield rate(f"{bucket}_rate", buckets[bucket], n)
    yield rate("aspect_hallucination_rate", sum(sample.hallucinates for sample in samples), n)
    for reason in get_args(DropReason):
        yield rate(f"{reason}_rate", sum(any(drop.drop_reason == reason for drop in card.drops) for card in cards), n)
    risky = sum(any(risk.type in _SCOPE_RISKS for risk in card.risks_s1) for card in cards)
    yield rate("negation_contrast_risk_rate", risky, n)


def _polarity(suffix: str, samples: Sequence[tuple[Pairs, Pairs | None]]) -> Iterator[MetricValue]:
    errors = [count_polarity_errors(predicted, gold) for predicted, gold in samples if gold is not None]
    wrong_n = sum(sample.wrong for sample in errors)
    yield count(f"severe_polarity_error_L3_count{suffix}", wrong_n)
    yield rate(f"severe_polarity_error_L3_rate{suffix}", wrong_n, sum(sample.about_gold for sample in errors))
    yield rate(f"severe_polarity_error_L3_sample_rate{suffix}", sum(sample.wrong > 0 for sample in errors), len(errors))
    conflicts = sum(pairs_conflict(predicted) for predicted, _ in samples)
    yield rate(f"polarity_conflict_rate{suffix}", conflicts, len(samples))


def _representatives_resolve_conflict(sample: ScoredSample) -> bool:
    return sample.has_conflict and not pairs_conflict(pairs(representatives(sample.final).values()))
