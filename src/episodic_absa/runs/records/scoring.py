"""Builds a sample's scorecard from its result. The only module where a result meets its gold."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from episodic_absa.final_tuples import conflicting_aspects, pairs
from episodic_absa.language import effective_language, norm, occurs
from episodic_absa.memory.episodes.episode_builder import risk_vector
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import FinalTuple, Sample, SentimentItem, StructuralRisk
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.call_record import CallRecord
from episodic_absa.schemas.run_files.scorecard import (
    AdoptionScore,
    Coverage,
    DebateScore,
    FailureFlags,
    JudgedSentiment,
    MappedTag,
    ModeratorScore,
    OverrideScore,
    Scorecard,
    ScoredRisk,
    StageDelta,
    UsageSums,
)
from episodic_absa.vocabulary import ErrorType, OverrideSkip


class Scorer:
    """Builds the scorecards of one cell."""

    def __init__(self, *, run_id: str, condition: Condition, seed: int, cfg_hash: str, order: int = 0) -> None:
        self._cell: dict[str, Any] = {
            "run_id": run_id,
            "condition": condition.name,
            "memory_mode": condition.memory_mode,
            "seed": seed,
            "order": order,
            "cfg_hash": cfg_hash,
        }

    def score(
        self, result: SampleResult, *, sample_index: int, gold: tuple[GoldTuple, ...] | None, store_size: int
    ) -> Scorecard:
        """Return the scorecard of a sample that succeeded."""
        stage1, stage2 = result.stage1, result.stage2
        risks1 = stage1.validator.structural_risks
        risks2 = stage2.validator.structural_risks if stage2 else ()
        judged = _judged(result)
        drops = stage1.ate.drops
        final = result.final_result
        label_s1, label_s2 = result.stage_labels
        return Scorecard(
            **self._cell,
            **_sample_fields(result.sample),
            sample_index=sample_index,
            status="ok",
            stage1_tuples=final.stage1_tuples,
            stage2_tuples=final.stage2_tuples,
            final_tuples=final.final_tuples,
            gold_tuples=gold,
            label=final.label,
            label_s1=label_s1,
            label_s2=label_s2,
            drops=drops,
            span_repaired=stage1.ate.span_repaired,
            implicit_grounding_candidate=not stage1.ate.aspects
            or (
                bool(drops)
                and all(drop.drop_reason == "alignment_failure" for drop in drops)
                and not stage1.ate.aspects
            ),
            risks_s1=_scored(risks1),
            risks_s2=_scored(risks2),
            risk_before=risk_vector(risks1),
            risk_after=risk_vector(risks2 if result.adoption.adopt else risks1),
            stage_delta=_stage_delta(result),
            override=OverrideScore(
                success=result.override.success,
                harm=result.override.harm,
                skip_counts=dict(Counter(decision.reason for decision in result.override_decisions if decision.reason)),
            ),
            adoption=AdoptionScore(
                adopt=result.adoption.adopt,
                reason=result.adoption.reason,
                ev_score=result.adoption.ev_score,
                ev_threshold=result.adoption.ev_threshold,
                components=result.adoption.components.model_dump(),
            ),
            moderator=ModeratorScore(
                selected_stage=result.moderator.selected_stage, applied_rules=result.moderator.applied_rules
            ),
            debate=DebateScore(**result.debate_mapping._asdict()) if result.debate_mapping else None,
            sentiments_judged=judged,
            memory=result.memory,
            store_decision=result.store.store_decision,
            store_size_after=store_size,
            coverage=coverage_of(result),
            stage1_structural_risk=bool(risks1)
            or bool(conflicting_aspects(final.stage1_tuples))
            or sum(drop.drop_reason == "alignment_failure" for drop in drops) >= 2
            or _explicit_failure(judged),
            stage2_structural_risk=bool(risks2),
            usage=usage_of(result.calls),
            polarity_read_count=result.polarity_counts.read_n,
            polarity_repair_count=result.polarity_counts.repaired_n,
            polarity_invalid_count=result.polarity_counts.invalid_n,
        )

    def score_failure(
        self,
        sample: Sample,
        *,
        sample_index: int,
        error_type: ErrorType,
        gold: tuple[GoldTuple, ...] | None,
        calls: Sequence[CallRecord],
    ) -> Scorecard:
        """Return the scorecard of a sample that failed."""
        return Scorecard(
            **self._cell,
            **_sample_fields(sample),
            sample_index=sample_index,
            status="error",
            error_type=error_type,
            gold_tuples=gold,
            usage=usage_of(calls),
            flags=FailureFlags(
                parse_failed=error_type in ("json_parse_error", "schema_validation_error"),
                generate_failed=error_type in ("provider_error", "timeout"),
            ),
        )


def usage_of(calls: Sequence[CallRecord]) -> UsageSums:
    """Return the sums over all calls; if the cost of one call is unknown, so is the sum."""
    costs = [call.cost_usd for call in calls]
    return UsageSums(
        calls=len(calls),
        attempts=sum(call.attempts for call in calls),
        tokens_in=sum(call.tokens_in for call in calls),
        tokens_out=sum(call.tokens_out for call in calls),
        cost_usd=None if any(cost is None for cost in costs) else round(sum(cost or 0.0 for cost in costs), 6),
    )


def coverage_of(result: SampleResult) -> Coverage:
    """Map each risk tag to the principle of the first advisory about it."""
    tags = risk_vector(result.stage1.validator.structural_risks).tags
    mapped = []
    for tag in tags:
        for advisory in result.memory_bundle["retrieved"]:
            if tag in advisory["evidence"]["risk_tags"]:
                mapped.append(MappedTag(risk_tag=tag, principle_id=advisory["evidence"]["principle_id"]))
                break
    return Coverage(
        risk_tag_to_principle_mapped=tuple(mapped), mapping_coverage_hit=len(mapped) == len(tags) if tags else None
    )


def _sample_fields(sample: Sample) -> dict[str, Any]:
    return {
        "uid": sample.uid,
        "language_code": effective_language(sample.language_code, sample.text),
        "split": sample.split,
        "domain_id": sample.domain_id,
        "case_type": sample.case_type,
    }


def _scored(risks: Sequence[StructuralRisk]) -> tuple[ScoredRisk, ...]:
    return tuple(ScoredRisk(type=risk.type, severity=risk.severity) for risk in risks)


def _stage_delta(result: SampleResult) -> StageDelta:
    final = result.final_result
    before, after = pairs(final.stage1_tuples), pairs(final.final_tuples)
    changed = before != after
    applied = [decision for decision in result.override_decisions if decision.decision == "APPLY"]
    return StageDelta(
        changed=changed,
        label_changed=final.label != result.stage_labels.stage1,
        n_s1_pairs=len(before),
        n_final_pairs=len(after),
        change_type="none" if not changed else "guided" if result.adoption.adopt else "unguided",
        override_applied=result.override.applied,
        override_gate_applied_n=len(applied),
        override_reason=_override_reason(result),
    )


def _override_reason(result: SampleResult) -> OverrideSkip | Literal[""] | None:
    """Return "" for an applied override, else why the first aspect was skipped, None without any decision."""
    decisions = result.override_decisions
    if not decisions:
        return None
    return "" if any(decision.decision == "APPLY" for decision in decisions) else decisions[0].reason


def _judged(result: SampleResult) -> tuple[JudgedSentiment, ...]:
    text = result.sample.text
    judged = []
    for final_tuple in result.final_result.final_tuples:
        evidence = _evidence_of(final_tuple, result.final_sentiments)
        span = final_tuple.span
        judged.append(
            JudgedSentiment(
                aspect_term=final_tuple.aspect_term,
                polarity=final_tuple.polarity,
                term_in_text=not final_tuple.aspect_term or occurs(final_tuple.aspect_term, text),
                grounded=bool(final_tuple.aspect_term)
                and span is not None
                and text[span.start : span.end] == final_tuple.aspect_term,
                evidence_in_text=not evidence or occurs(evidence, text),
            )
        )
    return tuple(judged)


def _evidence_of(final_tuple: FinalTuple, sentiments: Sequence[SentimentItem]) -> str:
    return next(
        (
            item.evidence
            for item in sentiments
            if item.polarity == final_tuple.polarity and norm(item.aspect_term) == norm(final_tuple.aspect_term)
        ),
        "",
    )


def _explicit_failure(judged: Sequence[JudgedSentiment]) -> bool:
    return bool(judged) and bool(judged[0].aspect_term) and not judged[0].grounded
