"""One line of a recording: an answer as a model gave it."""

from decimal import Decimal

from pydantic import field_serializer

from episodic_absa.schemas.frozen_model import Count, FrozenModel


class RecordedUsage(FrozenModel):
    """The tokens and cost of one answer."""

    tokens_in: Count
    tokens_out: Count
    cost_usd: float | None
    """Written as decimal text: canonical JSON rounds numbers to six decimals, and a cheap call costs less than that."""

    @field_serializer("cost_usd")
    def _as_decimal_text(self, cost_usd: float | None) -> str | None:
        return None if cost_usd is None else f"{Decimal(repr(cost_usd)):f}"


class RecordedReply(FrozenModel):
    """One line of a recording. Only `key` is looked up; the other names tell a reader what it is."""

    key: str
    role: str
    prompt_name: str
    seed: int
    attempt: Count
    text: str
    """As the model wrote it, half surrogate pairs included."""
    model: str
    usage: RecordedUsage
    dropped: bool = False
    """Whether the call of the earlier answer with this key failed: a later line may answer otherwise. Without text."""
