"""The lines of traces.jsonl: a case trace per sample, with its text, its calls and the clock."""

from collections.abc import Sequence
from typing import Literal

from episodic_absa.final_tuples import conflicting_aspects
from episodic_absa.runs.derived.sample_facts import AnalysisFacts, SampleFacts, calls_of
from episodic_absa.schemas.absa import DebateOutput, DebateTurn
from episodic_absa.schemas.run_files.case_trace import (
    CaseTraceV1_1,
    DebateLogEntry,
    TraceLine,
    TraceOverride,
    TraceRetrieval,
    TraceRisk,
    TraceRunMeta,
    TraceTiming,
)
from episodic_absa.schemas.run_files.sample_record import Analysis, CallRecord, SampleTiming
from episodic_absa.schemas.run_files.scorecard import Coverage

_LONGEST_MESSAGE = 600


def trace_of(facts: SampleFacts, *, text: str, timing: SampleTiming | None) -> TraceLine:
    """Return the trace of a sample.

    Args:
        facts: what follows from its record.
        text: the review.
        timing: the times of its calls; None if they are lost.
    """
    record, manifest, memory, analysed = facts.record, facts.manifest, facts.memory, facts.analysed
    analysis, calls = record.analysis, calls_of(record.calls, timing)
    is_retrieved = analysis is not None
    trace = CaseTraceV1_1(
        run_meta=TraceRunMeta(
            run_id=manifest.run_id,
            condition=manifest.condition.name,
            seed=manifest.seed,
            timestamp="" if timing is None else timing.recorded_at,
            memory_mode=manifest.condition.memory_mode,
        ),
        case_id=record.uid,
        sample_index=record.sample_index,
        input_signature=record.input.signature,
        stage1_output=None if analysis is None else analysis.stage1,
        debate_log=tuple(_debate_log(None if analysis is None else analysis.debate)),
        memory_bundle=record.bundle,
        retrieval=TraceRetrieval(
            k=memory.retrieved_k if is_retrieved else 0,
            hit=is_retrieved and memory.retrieved_k > 0,
            returned_ids=memory.retrieved_ids if is_retrieved else (),
        ),
        final_output=None if analysed is None else analysed.final,
        risk=_risk(analysed),
        override=_override(analysis),
        coverage=Coverage() if analysed is None else analysed.coverage,
    )
    return TraceLine(
        case_trace=trace,
        text=text,
        memory=memory,
        calls=calls,
        timing=_timing(calls, is_known=timing is not None),
        error=record.error,
    )


def _risk(analysed: AnalysisFacts | None) -> TraceRisk:
    if analysed is None:
        return TraceRisk(
            flagged=False, residual=False, severity_before=0, severity_after=0, tags_before=(), tags_after=()
        )
    before, after = analysed.risk_before, analysed.risk_after
    return TraceRisk(
        flagged=before.severity_sum > 0,
        residual=after.severity_sum > 0 or bool(conflicting_aspects(analysed.analysis.final_tuples)),
        severity_before=before.severity_sum,
        severity_after=after.severity_sum,
        tags_before=before.tags,
        tags_after=after.tags,
    )


def _override(analysis: Analysis | None) -> TraceOverride:
    if analysis is None:
        return TraceOverride(
            eligible=False, applied=False, success=False, harm=False, accepted_changes=(), rejected_changes=()
        )
    stage2 = analysis.stage2
    return TraceOverride(
        eligible=bool(analysis.override_decisions),
        applied=analysis.override.applied,
        success=analysis.override.success,
        harm=analysis.override.harm,
        accepted_changes=stage2.accepted_changes if stage2 else (),
        rejected_changes=stage2.rejected_changes if stage2 else (),
    )


def _timing(calls: Sequence[CallRecord], *, is_known: bool) -> TraceTiming:
    return TraceTiming(
        latency_ms_sum=round(sum(call.latency_ms for call in calls), 3),
        waited_ms_sum=round(sum(call.waited_ms or 0.0 for call in calls), 3) if is_known else None,
    )


def _debate_log(debate: DebateOutput | None) -> Sequence[DebateLogEntry]:
    return [
        _log_entry(debate_round.round_index, turn)
        for debate_round in (debate.rounds if debate else ())
        for turn in debate_round.turns
    ]


def _log_entry(round_index: int, turn: DebateTurn) -> DebateLogEntry:
    confidences = [edit.confidence for edit in turn.proposed_edits if edit.confidence is not None]
    message = "; ".join(
        f"{edit.op} {edit.target.aspect_ref}{' -> ' + edit.value if edit.value else ''}" for edit in turn.proposed_edits
    )
    return DebateLogEntry(
        round=round_index,
        speaker=turn.agent,
        stance=_stance(turn),
        message=message[:_LONGEST_MESSAGE],
        confidence=round(sum(confidences) / len(confidences), 6) if confidences else 0.5,
    )


def _stance(turn: DebateTurn) -> Literal["pro", "con", "neutral"]:
    operations = {edit.op for edit in turn.proposed_edits}
    if operations & {"set_polarity", "drop_tuple"}:
        return "con"
    return "pro" if operations == {"confirm_tuple"} else "neutral"
