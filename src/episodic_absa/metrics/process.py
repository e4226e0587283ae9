"""RQ3: what debate, Stage2, override and adoption did. Process, not outcome: no value says that results are right."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.sample_values import ScoredSample, delta_risk, was_changed
from episodic_absa.metrics.ratios import count, mean, rate
from episodic_absa.schemas.run_files.scorecard import Scorecard, ScoredRisk
from episodic_absa.vocabulary import SEVERITY_WEIGHT, AdoptReason, OverrideSkip


def compute_process(samples: Sequence[ScoredSample]) -> Iterator[MetricValue]:
    """Yield the RQ3 metrics of successful samples, after the share whose Stage1 and Stage2 labels differ."""
    cards = [sample.card for sample in samples]
    yield rate("stage_mismatch_rate", sum(card.label_s1 != card.label_s2 for card in cards), len(cards))
    yield from _risk(cards)
    yield rate("outcome_residual_risk_rate", sum(sample.leaves_risk for sample in samples), len(samples))
    yield from _change(cards)
    deltas = [sample.delta_f1 or 0.0 for sample in samples if was_changed(sample.card) and sample.gold is not None]
    yield rate("changed_improved_rate", sum(delta > 0 for delta in deltas), len(deltas))
    yield rate("changed_degraded_rate", sum(delta < 0 for delta in deltas), len(deltas))
    yield from _override(cards)
    yield from _adoption(cards)
    yield from _coverage_and_parsing(cards)


def _risk(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    n = len(cards)
    yield rate("risk_flagged_rate", sum(bool(card.stage1_structural_risk) for card in cards), n)
    at_risk = [card for card in cards if card.risks_s1]
    yield rate("validator_clear_rate", sum(not card.risks_s2 for card in at_risk), len(at_risk))
    yield rate("validator_residual_risk_rate", sum(bool(card.stage2_structural_risk) for card in cards), n)
    yield mean("risk_before_mean", (card.risk_before.severity_sum if card.risk_before else 0 for card in cards))
    yield mean("risk_after_mean", (card.risk_after.severity_sum if card.risk_after else 0 for card in cards))
    yield mean("delta_risk_mean", (delta_risk(card) for card in cards))


def _change(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    changed = [card for card in cards if was_changed(card)]
    unchanged = [card for card in cards if not was_changed(card)]
    flagged = [card for card in cards if card.stage1_structural_risk]
    for metric, group in (("with_change", changed), ("without_change", unchanged)):
        yield rate(f"risk_resolved_{metric}_rate", sum(map(_severity_fell, group)), len(group))
    flagged_and_changed = sum(map(was_changed, flagged))
    yield rate("risk_affected_change_rate", flagged_and_changed, len(flagged))
    yield rate("ignored_proposal_rate", len(flagged) - flagged_and_changed, len(flagged))
    yield rate("changed_rate", len(changed), len(cards))
    kinds = Counter(card.stage_delta.change_type for card in changed if card.stage_delta)
    yield rate("guided_change_rate", kinds["guided"], len(changed))
    yield rate("unguided_drift_rate", kinds["unguided"], len(cards))


def _override(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    recorded = [(card, card.stage_delta, card.override) for card in cards if card.stage_delta and card.override]
    applied = [override for _, delta, override in recorded if delta.override_applied]
    skips: Counter[str] = Counter()
    for _, _, override in recorded:
        skips.update(override.skip_counts)
    decided = [
        delta for _, delta, override in recorded if delta.override_gate_applied_n or any(override.skip_counts.values())
    ]
    with_apply = [card for card, delta, _ in recorded if delta.override_gate_applied_n]
    yield rate("override_applied_rate", len(applied), len(cards))
    yield rate("override_skipped_rate", sum(not delta.override_gate_applied_n for delta in decided), len(decided))
    for reason in get_args(OverrideSkip):
        yield count(f"override_skip_{reason}_n", skips[reason])
    yield rate("override_success_rate", sum(override.success for override in applied), len(applied))
    yield rate("override_harm_rate", sum(override.harm for override in applied), len(applied))
    rejected = sum(not (card.adoption and card.adoption.adopt) for card in with_apply)
    yield rate("override_ev_rejected_rate", rejected, len(with_apply))


def _adoption(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    reasons = Counter(card.adoption.reason for card in cards if card.adoption)
    for reason in get_args(AdoptReason):
        yield count(f"adopt_reason_{reason}_n", reasons[reason])


def _coverage_and_parsing(cards: Sequence[Scorecard]) -> Iterator[MetricValue]:
    """Yield how many risk tags advice covers, and how many polarities and debate turns could be parsed."""
    with_retrieval = [card for card in cards if card.memory and card.memory.retrieval_calls]
    yield rate("coverage_rate", sum(map(_covered_n, with_retrieval)), sum(len(_tags(card)) for card in with_retrieval))
    debates = [card.debate for card in cards if card.debate]
    invalid_n = sum(debate.hint_invalid_n for debate in debates)
    yield rate("hint_invalid_rate", invalid_n, invalid_n + sum(debate.hint_valid_n for debate in debates))
    read_n = sum(card.polarity_read_count for card in cards)
    yield rate("polarity_repair_rate", sum(card.polarity_repair_count for card in cards), read_n)
    yield rate("polarity_invalid_rate", sum(card.polarity_invalid_count for card in cards), read_n)
    turns: Counter[str] = Counter()
    for debate in debates:
        turns.update(debate.mapping_stats)
    yield rate("mapping_coverage", turns["direct"] + turns["fallback"], turns.total())
    for mapping in ("direct", "fallback", "none"):
        yield rate(f"mapping_{mapping}", turns[mapping], turns.total())


def _tags(card: Scorecard) -> frozenset[str]:
    return frozenset(card.risk_before.tags if card.risk_before else ())


def _covered_n(card: Scorecard) -> int:
    mappings = card.coverage.risk_tag_to_principle_mapped if card.coverage else ()
    return len(_tags(card) & {mapping.risk_tag for mapping in mappings})


def _severity_fell(card: Scorecard) -> bool:
    """Return whether the Stage2 validator's severity sum is below Stage1's, adopted or not."""
    return _severity(card.risks_s2) < _severity(card.risks_s1)


def _severity(risks: Sequence[ScoredRisk]) -> int:
    return sum(SEVERITY_WEIGHT[risk.severity] for risk in risks)
