"""One call of a backend, as traces.jsonl keeps it."""

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Role


class CallRecord(FrozenModel):
    """One call: what was asked, what it took, and how it ended."""

    stage: str
    agent: Role
    call_index: int
    prompt_hash: str
    memory_slot_present: bool
    """Computed by searching the rendered prompt."""
    model: str
    attempts: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    cached: bool
    latency_ms: float
    """From the ask to its answer, waiting included."""
    waited_ms: float | None = None
    """The part of `latency_ms` in queues, in failed requests and in the pauses after them; None in a trace of 0.1."""
    started_at: str
    error: str | None = None
