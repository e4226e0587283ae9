"""Writes traces.jsonl: one CaseTrace per sample, with text, calls and clock. The only run file that tells time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from episodic_absa.agents.asking import CallRecord
from episodic_absa.agents.sample_result import SampleResult
from episodic_absa.final_tuples import conflicting_aspects
from episodic_absa.memory import EpisodicOrchestrator, SignatureBuilder
from episodic_absa.memory.episodes.episode_builder import risk_vector
from episodic_absa.runs.scoring import coverage_of
from episodic_absa.schemas.absa import DebateOutput, DebateTurn, Sample
from episodic_absa.schemas.case_trace import (
    CaseTraceV1_1,
    DebateLogEntry,
    TraceOverride,
    TraceRetrieval,
    TraceRisk,
    TraceRunMeta,
)
from episodic_absa.schemas.memory_v1_1 import AdvisoryBundleV1_1
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.scorecard import Coverage

_LONGEST_MESSAGE = 600


class Tracer:
    """Writes the traces of one cell."""

    def __init__(self, *, run_id: str, condition: Condition, seed: int) -> None:
        self._run_id = run_id
        self._condition = condition
        self._seed = seed
        self._signatures = SignatureBuilder()

    def trace(self, result: SampleResult, sample_index: int) -> dict[str, Any]:
        """Tell a sample that ended well."""
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
            memory_bundle=AdvisoryBundleV1_1.model_validate(result.memory_bundle),
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
        calls = [call.model_dump(mode="json") for call in result.calls]
        return {
            "case_trace": trace.model_dump(mode="json"),
            "text": result.sample.text,
            "memory": result.memory.model_dump(mode="json"),
            "calls": calls,
            "timing": {"latency_ms_sum": round(sum(call["latency_ms"] for call in calls), 3)},
        }

    def trace_failure(
        self,
        sample: Sample,
        sample_index: int,
        orchestrator: EpisodicOrchestrator,
        error: dict[str, str],
        calls: Sequence[CallRecord],
    ) -> dict[str, Any]:
        """Tell a sample that failed."""
        empty = orchestrator.empty_slot_without_debate()
        trace = CaseTraceV1_1(
            run_meta=self._run_meta(),
            case_id=sample.uid,
            sample_index=sample_index,
            input_signature=self._signatures.build(sample.text, sample.language_code, 0),
            stage1_output=None,
            debate_log=(),
            memory_bundle=AdvisoryBundleV1_1.model_validate(empty.slot),
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
        return {
            "case_trace": trace.model_dump(mode="json"),
            "text": sample.text,
            "memory": empty.meta.model_dump(mode="json"),
            "calls": [call.model_dump(mode="json") for call in calls],
            "timing": {"latency_ms_sum": round(sum(call.latency_ms for call in calls), 3)},
            "error": error,
        }

    def _run_meta(self) -> TraceRunMeta:
        return TraceRunMeta(
            run_id=self._run_id,
            condition=self._condition.name,
            seed=self._seed,
            timestamp=datetime.now(UTC).isoformat(),
            memory_mode=self._condition.memory_mode,
        )


def _debate_log(debate: DebateOutput | None) -> Sequence[DebateLogEntry]:
    entries: list[DebateLogEntry] = []
    for one in debate.rounds if debate else ():
        for turn in one.turns:
            confidences = [edit.confidence for edit in turn.proposed_edits if edit.confidence is not None]
            told = "; ".join(
                f"{edit.op} {edit.target.aspect_ref}{' -> ' + edit.value if edit.value else ''}"
                for edit in turn.proposed_edits
            )
            entries.append(
                DebateLogEntry(
                    round=one.round_index,
                    speaker=turn.agent,
                    stance=_stance(turn),
                    message=told[:_LONGEST_MESSAGE],
                    confidence=round(sum(confidences) / len(confidences), 6) if confidences else 0.5,
                )
            )
    return entries


def _stance(turn: DebateTurn) -> Any:
    operations = {edit.op for edit in turn.proposed_edits}
    if operations & {"set_polarity", "drop_tuple"}:
        return "con"
    return "pro" if operations == {"confirm_tuple"} else "neutral"
