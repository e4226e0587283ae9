"""One line of traces.jsonl: a sample's case trace with its text, its calls and the clock."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.call_record import CallRecord
from episodic_absa.schemas.run_files.case_trace import CaseTraceV1_1
from episodic_absa.schemas.run_files.sample_record import FailureRecord


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
