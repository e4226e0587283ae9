"""Builds the lines of traces.jsonl: a case trace per sample, with its text, its calls and the clock."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from episodic_absa.final_tuples import conflicting_aspects
from episodic_absa.memory import SignatureBuilder, SlotAnswer
from episodic_absa.memory.episodes.episode_builder import risk_vector
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.records.scoring import coverage_of
from episodic_absa.schemas.absa import DebateOutput, DebateTurn, Sample
from episodic_absa.schemas.advisory_v1_2 import bundle_of
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.call_record import CallRecord
from episodic_absa.schemas.run_files.case_trace import (
    CaseTraceV1_1,
    DebateLogEntry,
    TraceOverride,
    TraceRetrieval,
    TraceRisk,
    TraceRunMeta,
)
from episodic_absa.schemas.run_files.scorecard import Coverage
from episodic_absa.schemas.run_files.trace_line import TraceError, TraceLine, TraceTiming

_LONGEST_MESSAGE = 600


class Tracer:
    """Builds the traces of one cell."""

    def __init__(self, *, run_id: str, condition: Condition, seed: int) -> None:
        self._run_id = run_id
        self._condition = condition
        self._seed = seed
        self._signatures = SignatureBuilder()

    def trace(self, result: SampleResult, sample_index: int) -> TraceLine:
        """Return the trace of a sample that succeeded."""
        stage2 = result.stage2
        before = risk_vector(result.stage1.validator.structural_risks)
        after = risk_vector(stage2.validator.structural_risks) if stage2 and result.adoption.adopt else before
        final = result.final_result
        trace = CaseTraceV1_1(
            run_meta=self._run_meta(),
            case_id=result.sample.uid,
            sample_index=sample_index,
            input_signature=self._signatures.build(
                result.sample.text, result.sample.language_code, len(result.stage1.ate.aspects)
            ),
            stage1_output=result.stage1,
            debate_log=tuple(_debate_log(result.debate)),
            memory_bundle=bundle_of(result.memory_bundle),
            retrieval=TraceRetrieval(
                k=result.memory.retrieved_k,
                hit=result.memory.retrieved_k > 0,
                returned_ids=result.memory.retrieved_ids,
            ),
            final_output=final,
            risk=TraceRisk(
                flagged=before.severity_sum > 0,
                residual=after.severity_sum > 0 or bool(conflicting_aspects(final.final_tuples)),
                severity_before=before.severity_sum,
                severity_after=after.severity_sum,
                tags_before=before.tags,
                tags_after=after.tags,
            ),
            override=TraceOverride(
                eligible=bool(result.override_decisions),
                applied=result.override.applied,
                success=result.override.success,
                harm=result.override.harm,
                accepted_changes=stage2.accepted_changes if stage2 else (),
                rejected_changes=stage2.rejected_changes if stage2 else (),
            ),
            coverage=coverage_of(result),
        )
        return TraceLine(
            case_trace=trace,
            text=result.sample.text,
            memory=result.memory,
            calls=result.calls,
            timing=_timing(result.calls),
        )

    def trace_failure(
        self,
        sample: Sample,
        sample_index: int,
        *,
        error: TraceError,
        calls: tuple[CallRecord, ...],
        empty_slot: SlotAnswer,
    ) -> TraceLine:
        """Return the trace of a sample that failed; it shows an empty memory slot."""
        trace = CaseTraceV1_1(
            run_meta=self._run_meta(),
            case_id=sample.uid,
            sample_index=sample_index,
            input_signature=self._signatures.build(sample.text, sample.language_code, 0),
            stage1_output=None,
            debate_log=(),
            memory_bundle=bundle_of(empty_slot.slot),
            retrieval=TraceRetrieval(k=0, hit=False, returned_ids=()),
            final_output=None,
            risk=TraceRisk(
                flagged=False, residual=False, severity_before=0, severity_after=0, tags_before=(), tags_after=()
            ),
            override=TraceOverride(
                eligible=False, applied=False, success=False, harm=False, accepted_changes=(), rejected_changes=()
            ),
            coverage=Coverage(),
        )
        return TraceLine(
            case_trace=trace,
            text=sample.text,
            memory=empty_slot.meta,
            calls=calls,
            timing=_timing(calls),
            error=error,
        )

    def _run_meta(self) -> TraceRunMeta:
        return TraceRunMeta(
            run_id=self._run_id,
            condition=self._condition.name,
            seed=self._seed,
            timestamp=datetime.now(UTC).isoformat(),
            memory_mode=self._condition.memory_mode,
        )


def _timing(calls: Sequence[CallRecord]) -> TraceTiming:
    return TraceTiming(
        latency_ms_sum=round(sum(call.latency_ms for call in calls), 3),
        waited_ms_sum=round(sum(call.waited_ms or 0.0 for call in calls), 3),
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
