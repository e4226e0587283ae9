"""The lines of scorecards.jsonl: a sample's values and its gold. The only module where a result meets its gold."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from episodic_absa.final_tuples import conflicting_aspects, pairs
from episodic_absa.language import norm, occurs
from episodic_absa.runs.derived.sample_facts import AnalysisFacts, SampleFacts, usage_of
from episodic_absa.schemas.absa import FinalTuple, SentimentItem, StructuralRisk
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.sample_record import Analysis
from episodic_absa.schemas.run_files.scorecard import (
    AdoptionScore,
    FailureFlags,
    JudgedSentiment,
    ModeratorScore,
    OverrideScore,
    Scorecard,
    ScoredRisk,
    StageDelta,
)
from episodic_absa.vocabulary import OverrideSkip


def scorecard_of(facts: SampleFacts, *, text: str, gold: tuple[GoldTuple, ...] | None, store_size: int) -> Scorecard:
    """Return the scorecard of a sample.

    Args:
        facts: what follows from its record.
        text: the review.
        gold: of the review.
        store_size: how many episodes were in use after the sample.
    """
    record, manifest = facts.record, facts.manifest
    fields: dict[str, Any] = {
        "run_id": manifest.run_id,
        "condition": manifest.condition.name,
        "memory_mode": manifest.condition.memory_mode,
        "seed": manifest.seed,
        "order": manifest.order,
        "cfg_hash": manifest.cfg_hash,
        "uid": record.uid,
        "sample_index": record.sample_index,
        "language_code": record.input.language,
        "split": record.input.split,
        "domain_id": record.input.domain_id,
        "case_type": record.input.case_type,
        "gold_tuples": gold,
        "usage": usage_of(record.calls),
    }
    if facts.analysed is not None:
        return Scorecard(**fields, **_of_analysis(facts, facts.analysed, text, store_size))
    kind = record.error.type if record.error else None
    return Scorecard(
        **fields,
        status="error",
        error_type=kind,
        flags=FailureFlags(
            parse_failed=kind in ("json_parse_error", "schema_validation_error"),
            generate_failed=kind in ("provider_error", "timeout"),
        ),
    )


def _of_analysis(facts: SampleFacts, analysed: AnalysisFacts, text: str, store_size: int) -> dict[str, Any]:
    analysis, final = analysed.analysis, analysed.final
    stage1, adoption = analysis.stage1, analysis.adoption
    risks1 = stage1.validator.structural_risks
    risks2 = analysis.stage2.validator.structural_risks if analysis.stage2 else ()
    judged = _judged(analysis, text)
    drops = stage1.ate.drops
    all_failed = bool(drops) and all(drop.drop_reason == "alignment_failure" for drop in drops)
    return {
        "status": "ok",
        "stage1_tuples": final.stage1_tuples,
        "stage2_tuples": final.stage2_tuples,
        "final_tuples": final.final_tuples,
        "label": final.label,
        "label_s1": analysis.labels.stage1,
        "label_s2": analysis.labels.stage2,
        "drops": drops,
        "span_repaired": stage1.ate.span_repaired,
        "implicit_grounding_candidate": not stage1.ate.aspects or (all_failed and not stage1.ate.aspects),
        "risks_s1": _scored(risks1),
        "risks_s2": _scored(risks2),
        "risk_before": analysed.risk_before,
        "risk_after": analysed.risk_after,
        "stage_delta": _stage_delta(analysed),
        "override": OverrideScore(
            success=analysis.override.success,
            harm=analysis.override.harm,
            skip_counts=dict(Counter(decision.reason for decision in analysis.override_decisions if decision.reason)),
        ),
        "adoption": AdoptionScore(
            adopt=adoption.adopt,
            reason=adoption.reason,
            ev_score=adoption.ev_score,
            ev_threshold=adoption.ev_threshold,
            components=adoption.components.model_dump(),
        ),
        "moderator": ModeratorScore(
            selected_stage=analysis.moderator.selected_stage, applied_rules=analysis.moderator.applied_rules
        ),
        "debate": analysis.debate_read,
        "sentiments_judged": judged,
        "memory": facts.memory,
        "store_decision": analysis.kept.store_decision,
        "store_size_after": store_size,
        "coverage": analysed.coverage,
        "stage1_structural_risk": bool(risks1)
        or bool(conflicting_aspects(final.stage1_tuples))
        or sum(drop.drop_reason == "alignment_failure" for drop in drops) >= 2
        or _explicit_failure(judged),
        "stage2_structural_risk": bool(risks2),
        "polarity_read_count": analysis.polarity_words.read,
        "polarity_repair_count": analysis.polarity_words.repaired,
        "polarity_invalid_count": analysis.polarity_words.invalid,
    }


def _scored(risks: Sequence[StructuralRisk]) -> tuple[ScoredRisk, ...]:
    return tuple(ScoredRisk(type=risk.type, severity=risk.severity) for risk in risks)


def _stage_delta(analysed: AnalysisFacts) -> StageDelta:
    analysis, final = analysed.analysis, analysed.final
    before, after = pairs(final.stage1_tuples), pairs(final.final_tuples)
    changed = before != after
    return StageDelta(
        changed=changed,
        label_changed=final.label != analysis.labels.stage1,
        n_s1_pairs=len(before),
        n_final_pairs=len(after),
        change_type="none" if not changed else "guided" if analysis.adoption.adopt else "unguided",
        override_applied=analysis.override.applied,
        override_gate_applied_n=sum(decision.decision == "APPLY" for decision in analysis.override_decisions),
        override_reason=_override_reason(analysis),
    )


def _override_reason(analysis: Analysis) -> OverrideSkip | Literal[""] | None:
    """Return "" for an applied override, else why the first aspect was skipped, None without any decision."""
    decisions = analysis.override_decisions
    if not decisions:
        return None
    return "" if any(decision.decision == "APPLY" for decision in decisions) else decisions[0].reason


def _judged(analysis: Analysis, text: str) -> tuple[JudgedSentiment, ...]:
    judged = []
    for final_tuple in analysis.final_tuples:
        evidence = _evidence_of(final_tuple, analysis.final_sentiments)
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
