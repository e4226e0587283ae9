"""What a condition may change of the pipeline, so that one grid can hold several efforts."""

from typing import Annotated

from pydantic import Field

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
