"""The calls of a sample as traces and scorecards show them: with their place, their stage and their times."""

from collections.abc import Sequence

from episodic_absa.schemas.run_files.call_record import CallRecord
from episodic_absa.schemas.run_files.sample_record import NANO, RecordedCall, SampleTiming
from episodic_absa.schemas.run_files.scorecard import UsageSums
from episodic_absa.vocabulary import STAGE_OF_ROLE


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
