"""What a condition may change of the pipeline, so that one grid can hold several efforts."""

from typing import Annotated, Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.vocabulary import Effort

VoteCount = Annotated[int, Field(strict=True, ge=1, le=99)]
Temperature = Annotated[float, Field(ge=0.0, le=2.0)]


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
