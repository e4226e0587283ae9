"""What a condition may change of the pipeline, so that one grid can hold several efforts."""

from typing import Annotated, Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.vocabulary import Effort, Rules

VoteCount = Annotated[int, Field(strict=True, ge=1, le=99)]
Temperature = Annotated[float, Field(strict=True, ge=0.0, le=2.0)]


def effort_problem(rules: Rules, *, effort: Effort | None, votes: int | None, joint: bool | None) -> str | None:
    """Return which keys of `pipeline` contradict each other or the rules, None if none do. None leaves a key open."""
    votes_n = votes or 1
    if votes_n > 1 and effort not in (None, "one_call"):
        return f"votes: {votes_n} needs effort: one_call, got effort: {effort}"
    if effort == "one_call" and joint is False:
        return "effort: one_call is one joint ask; leave stage1.joint: false out"
    if rules == "v3":
        return None
    if effort in ("reader", "one_call", "adaptive"):
        return f"effort: {effort} needs rules v3; this condition has rules {rules}"
    if votes_n > 1:
        return f"votes: {votes_n} needs rules v3; this condition has rules {rules}"
    return f"stage1.joint needs rules v3; this condition has rules {rules}" if joint else None


class Stage1Overlay(FrozenModel):
    """The keys of `pipeline.stage1` that a condition may set."""

    joint: Flag | None = None


class PipelineOverlay(FrozenModel):
    """The keys of `pipeline` that a condition may set. A key that is left out keeps the experiment's value."""

    effort: Effort | None = None
    votes: VoteCount | None = None
    vote_temperature: Temperature | None = None
    reader: Flag | None = None
    stage1: Stage1Overlay = Stage1Overlay()

    @model_serializer(mode="wrap")
    def _named_keys_only(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        return {key: value for key, value in fields.items() if value is not None and value != {"joint": None}}
