"""What follows from the record of one sample and the manifest of its cell. Each fact is derived once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.schemas.absa import FinalResult, risk_vector
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.sample_record import (
    NANO,
    Analysis,
    CallRecord,
    RecordedCall,
    SampleRecord,
    SampleTiming,
)
from episodic_absa.schemas.run_files.scorecard import Coverage, MappedTag, UsageSums
from episodic_absa.vocabulary import DEBATE_CALLS, STAGE_OF_ROLE


@dataclass(frozen=True)
class SampleFacts:
    """One sample of a cell."""

    record: SampleRecord
    manifest: Manifest

    @cached_property
    def memory(self) -> MemoryMeta:
        """What the memory did, with what follows from the condition, the bundle and the calls."""
        record, condition, memory = self.record, self.manifest.condition, self.record.memory
        advisories, warnings = record.bundle.retrieved, record.bundle.warnings
        seen = {call.role for call in record.calls if call.slot_shown} if record.analysis is not None else set()
        return MemoryMeta(
            **dict(memory),
            condition=condition.name,
            memory_mode=condition.memory_mode,
            retrieved_k=len(memory.retrieved_ids),
            exposed_to_debate=condition.exposed_to_debate,
            exposed_to_stage2=condition.exposed_to_stage2,
            injection_trigger_reason=next(iter(memory.injection_trigger_reasons), None),
            memory_access_policy={"debate": self.manifest.config.pipeline.debate.memory_visible_to},
            memory_debate_slot_present_for=tuple(filter(seen.__contains__, DEBATE_CALLS)),
            stage2_memory_gate_reason=next(iter(memory.stage2_memory_gate_reasons), None),
            advice_from=condition.advice.source,
            offered_principles=tuple(dict.fromkeys(advisory.evidence.principle_id for advisory in advisories)),
            offered_chars=sum(len(advisory.message) for advisory in advisories) + sum(map(len, warnings)),
        )

    @cached_property
    def analysed(self) -> "AnalysisFacts | None":
        """What follows from the analysis; None if the sample failed."""
        return None if self.record.analysis is None else AnalysisFacts(self.record.analysis, self.record)


@dataclass(frozen=True)
class AnalysisFacts:
    """One sample that did not fail."""

    analysis: Analysis
    record: SampleRecord

    @cached_property
    def final(self) -> FinalResult:
        """Label and tuples of every stage."""
        analysis, moderator = self.analysis, self.analysis.moderator
        stage1 = extract_tuples(analysis.stage1.atsa.sentiments)
        return FinalResult(
            label=moderator.final_label,
            confidence=moderator.confidence,
            rationale=moderator.rationale,
            stage1_tuples=stage1,
            stage2_tuples=stage1 if analysis.patched_sentiments is None else extract_tuples(analysis.stage2_sentiments),
            final_tuples=analysis.final_tuples,
        )

    @cached_property
    def risk_before(self) -> RiskVectorV1_1:
        """The risks of Stage1."""
        return risk_vector(self.analysis.stage1.validator.structural_risks)

    @cached_property
    def risk_after(self) -> RiskVectorV1_1:
        """Validator2's risks if Stage2 was adopted, else those of Stage1: its tuples are final."""
        stage2 = self.analysis.stage2
        if not self.analysis.adoption.adopt:
            return self.risk_before
        return risk_vector(stage2.validator.structural_risks if stage2 else ())

    @cached_property
    def coverage(self) -> Coverage:
        """Each risk tag with the principle of the first retrieved advisory about it."""
        tags = self.risk_before.tags
        mapped = []
        for tag in tags:
            for advisory in self.record.bundle.retrieved:
                if tag in advisory.evidence.risk_tags:
                    mapped.append(MappedTag(risk_tag=tag, principle_id=advisory.evidence.principle_id))
                    break
        return Coverage(
            risk_tag_to_principle_mapped=tuple(mapped), mapping_coverage_hit=len(mapped) == len(tags) if tags else None
        )


def calls_of(calls: Sequence[RecordedCall], timing: SampleTiming | None) -> tuple[CallRecord, ...]:
    """Return the calls; their times are unknown if the timing is lost or belongs to other calls."""
    times = timing.calls if timing is not None and len(timing.calls) == len(calls) else (None,) * len(calls)
    return tuple(
        CallRecord(
            stage=STAGE_OF_ROLE[call.role],
            agent=call.role,
            call_index=place,
            prompt_hash=call.prompt_sha256,
            memory_slot_present=call.slot_shown,
            model=call.model,
            attempts=call.attempts,
            tokens_in=call.tokens_in,
            tokens_out=call.tokens_out,
            cost_usd=_dollars(call.cost_nano_usd),
            cached=time is not None and time.cached,
            latency_ms=0.0 if time is None else time.latency_ms,
            waited_ms=None if time is None else time.waited_ms,
            started_at="" if time is None else time.started_at,
            error=call.error,
        )
        for place, (call, time) in enumerate(zip(calls, times, strict=True))
    )


def usage_of(calls: Sequence[RecordedCall]) -> UsageSums:
    """Return the sums over all calls; if the cost of one call is unknown, so is the sum."""
    costs = [call.cost_nano_usd for call in calls]
    return UsageSums(
        calls=len(calls),
        attempts=sum(call.attempts for call in calls),
        tokens_in=sum(call.tokens_in for call in calls),
        tokens_out=sum(call.tokens_out for call in calls),
        cost_usd=None if any(cost is None for cost in costs) else _dollars(sum(cost or 0 for cost in costs)),
    )


def _dollars(nano: int | None) -> float | None:
    return None if nano is None else round(nano / NANO, 6)
