"""How the pipeline is switched. Every key has an effect; none of them concerns memory conditions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.vocabulary import DEBATE_CALLS, SPEAKERS, DebateCall, Speaker

OverrideProfile = Literal["t0", "t1", "t2"]
_Weight = Annotated[float, Field(ge=0.0)]


class OverrideThresholds(FrozenModel):
    """How much the debate must agree before a polarity is changed, and how much evidence adoption needs."""

    min_total: _Weight
    min_margin: _Weight
    min_target_conf: Score
    l3_conservative: Flag
    ev_threshold: Score


OVERRIDE_PROFILES: Final[Mapping[OverrideProfile, OverrideThresholds]] = {
    "t0": OverrideThresholds(
        min_total=1.6, min_margin=0.8, min_target_conf=0.7, l3_conservative=True, ev_threshold=0.3
    ),
    "t1": OverrideThresholds(
        min_total=1.0, min_margin=0.5, min_target_conf=0.6, l3_conservative=True, ev_threshold=0.3
    ),
    "t2": OverrideThresholds(
        min_total=0.6, min_margin=0.3, min_target_conf=0.55, l3_conservative=False, ev_threshold=0.3
    ),
}


class DebateOverride(FrozenModel):
    """Single thresholds that beat the profile."""

    min_total: _Weight | None = None
    min_margin: _Weight | None = None
    min_target_conf: Score | None = None
    l3_conservative: Flag | None = None
    ev_threshold: Score | None = None


class Stage1Settings(FrozenModel):
    """The first analysis."""

    independent: Flag = False
    """Every Stage1 agent sees the text alone."""
    span_repair: Flag = True
    allowlist: Path | None = None
    """A file with one short term per line that counts as a target beside the built-in ones."""


class DebateSettings(FrozenModel):
    """Who speaks, how often, and who of them may see memory."""

    rounds: Annotated[int, Field(ge=1, le=3)] = 1
    order: tuple[Speaker, ...] = SPEAKERS
    memory_visible_to: tuple[DebateCall, ...] = DEBATE_CALLS

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        for names in (self.order, self.memory_visible_to):
            if len(set(names)) < len(names):
                raise ValueError(f"a speaker is named twice: {', '.join(names)}")
        if not self.order:
            raise ValueError(f"order needs at least one speaker of {', '.join(SPEAKERS)}")
        return self


class PipelineSettings(FrozenModel):
    """The whole pipeline."""

    enable_stage2: Flag = True
    enable_validator: Flag = True
    enable_debate: Flag = True
    enable_debate_override: Flag = True
    override_profile: OverrideProfile = "t0"
    debate_override: DebateOverride = DebateOverride()
    ev_weights: tuple[_Weight, _Weight, _Weight, _Weight] = (0.4, 0.3, 0.2, 0.1)
    stage1: Stage1Settings = Stage1Settings()
    debate: DebateSettings = DebateSettings()
    memory_prompt_injection_chars_cap: Annotated[int, Field(strict=True, ge=0)] | None = None

    @property
    def thresholds(self) -> OverrideThresholds:
        """The profile with its single keys replaced."""
        profile = OVERRIDE_PROFILES[self.override_profile]
        return profile.model_copy(update=self.debate_override.model_dump(exclude_none=True))
