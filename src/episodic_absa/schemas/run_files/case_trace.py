"""CaseTrace v1.1: the full record of one sample. It occurs in traces.jsonl only."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from episodic_absa.schemas.absa import Change, FinalResult, Stage1Result
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel, Score
from episodic_absa.schemas.memory_v1_1 import EpisodeId, InputSignatureV1_1, RiskTags, SchemaVersion
from episodic_absa.schemas.memory_v1_2 import AnyBundle
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.sample_record import CallRecord, FailureRecord
from episodic_absa.schemas.run_files.scorecard import Coverage
from episodic_absa.vocabulary import DebateCall, MemoryMode


class TraceRunMeta(FrozenModel):
    """Which run the sample belongs to."""

    run_id: str
    condition: str
    seed: int
    timestamp: str
    memory_mode: MemoryMode


class DebateLogEntry(FrozenModel):
    """One turn in short: pro confirms only, con changes or drops, else neutral."""

    round: Annotated[int, Field(ge=1)]
    speaker: DebateCall
    stance: Literal["pro", "con", "neutral"]
    message: Annotated[str, Field(max_length=600)]
    confidence: Score


class TraceRetrieval(FrozenModel):
    """What was retrieved."""

    k: Count
    hit: Flag
    returned_ids: tuple[EpisodeId, ...]


class TraceRisk(FrozenModel):
    """Risk before and after."""

    flagged: Flag
    residual: Flag
    severity_before: Count
    severity_after: Count
    tags_before: RiskTags
    tags_after: RiskTags


class TraceOverride(FrozenModel):
    """What Stage2 changed."""

    eligible: Flag
    applied: Flag
    success: Flag
    harm: Flag
    accepted_changes: tuple[Change, ...]
    rejected_changes: tuple[Change, ...]


class CaseTraceV1_1(FrozenModel):  # noqa: N801 - V1_1 marks what is persisted
    """One sample."""

    schema_version: SchemaVersion = "1.1"
    run_meta: TraceRunMeta
    case_id: str
    sample_index: Count
    input_signature: InputSignatureV1_1
    stage1_output: Stage1Result | None
    debate_log: tuple[DebateLogEntry, ...]
    memory_bundle: AnyBundle
    retrieval: TraceRetrieval
    final_output: FinalResult | None
    risk: TraceRisk
    override: TraceOverride
    coverage: Coverage


class TraceTiming(FrozenModel):
    """The time that a sample's calls took."""

    latency_ms_sum: float
    """Waiting included."""
    waited_ms_sum: float | None = None
    """See `CallRecord.waited_ms`; None in a trace of version 0.1, which does not keep the waiting apart."""

    @property
    def answering_ms(self) -> float | None:
        """The time without waiting; None if the waiting is unknown."""
        return None if self.waited_ms_sum is None else max(0.0, self.latency_ms_sum - self.waited_ms_sum)


class TraceLine(FrozenModel):
    """One sample. The line holds `error` only if the sample failed."""

    case_trace: CaseTraceV1_1
    text: str
    memory: MemoryMeta
    calls: tuple[CallRecord, ...]
    timing: TraceTiming
    error: FailureRecord | None = None

    @model_serializer(mode="wrap")
    def _error_if_any(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if self.error is None:
            del fields["error"]
        return fields
