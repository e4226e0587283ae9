"""Builds the one record of a sample from its result or its failure, and the line of its times beside it."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from episodic_absa.errors import BackendResponseError, BackendUnavailableError, LeakageError
from episodic_absa.language import effective_language
from episodic_absa.memory import SignatureBuilder, SlotAnswer
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.ordered_run import SampleError, SampleFailure
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.memory_v1_2 import bundle_of
from episodic_absa.schemas.run_files.sample_record import (
    NANO,
    CallRecord,
    CallTiming,
    FailureRecord,
    InputReference,
    RecordedCall,
    SampleRecord,
    SampleTiming,
)
from episodic_absa.serialization.redaction import redacted
from episodic_absa.vocabulary import ErrorType, Language


class Recorded(NamedTuple):
    """What is written about one sample."""

    record: SampleRecord
    timing: SampleTiming


class Recorder:
    """Builds the records of one cell."""

    def __init__(self) -> None:
        self._signatures = SignatureBuilder()

    def of_result(self, result: SampleResult, index: int) -> Recorded:
        """Return the record of a sample that succeeded."""
        sample = result.sample
        record = SampleRecord(
            uid=sample.uid,
            sample_index=index,
            input=self._input(sample, result.language, len(result.stage1.ate.aspects)),
            analysis=result.analysis,
            memory=result.memory.record,
            bundle=bundle_of(result.memory_bundle),
            calls=_calls(result.calls),
        )
        return Recorded(record, _timing(sample, result.calls))

    def of_failure(self, failure: SampleFailure, index: int, empty_slot: SlotAnswer) -> Recorded:
        """Return the record of a sample that failed; it shows an empty memory slot."""
        sample = failure.sample
        error = FailureRecord(
            type=error_type_of(failure.error), stage=_stage_of(failure), message=redacted(str(failure.error))
        )
        record = SampleRecord(
            uid=sample.uid,
            sample_index=index,
            input=self._input(sample, effective_language(sample.language_code, sample.text), 0),
            memory=empty_slot.meta.record,
            bundle=bundle_of(empty_slot.slot),
            calls=_calls(failure.calls),
            error=error,
        )
        return Recorded(record, _timing(sample, failure.calls))

    def _input(self, sample: Sample, language: Language, aspect_n: int) -> InputReference:
        return InputReference(
            sha256=text_sha256(sample.text),
            language=language,
            split=sample.split,
            domain_id=sample.domain_id,
            case_type=sample.case_type,
            signature=self._signatures.build(sample.text, language, aspect_n),
        )


def text_sha256(text: str) -> str:
    """Return the hash by which a record names a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def error_type_of(error: SampleError) -> ErrorType:
    """Return the name that records give a sample's failure."""
    if isinstance(error, BackendUnavailableError | BackendResponseError):
        return error.kind
    return "leakage_error" if isinstance(error, LeakageError) else "contract_error"


def _stage_of(failure: SampleFailure) -> str:
    if isinstance(failure.error, LeakageError):
        return "memory"
    return failure.calls[-1].stage if failure.calls else "stage1"


def _calls(calls: Iterable[CallRecord]) -> tuple[RecordedCall, ...]:
    return tuple(
        RecordedCall(
            role=call.agent,
            model=call.model,
            attempts=call.attempts,
            tokens_in=call.tokens_in,
            tokens_out=call.tokens_out,
            cost_nano_usd=None if call.cost_usd is None else round(call.cost_usd * NANO),
            prompt_sha256=call.prompt_hash,
            slot_shown=call.memory_slot_present,
            error=call.error,
        )
        for call in calls
    )


def _timing(sample: Sample, calls: Sequence[CallRecord]) -> SampleTiming:
    return SampleTiming(
        uid=sample.uid,
        recorded_at=datetime.now(UTC).isoformat(),
        calls=tuple(
            CallTiming(
                cached=call.cached, latency_ms=call.latency_ms, waited_ms=call.waited_ms, started_at=call.started_at
            )
            for call in calls
        ),
    )
