"""The switches of the pipeline. Every key has an effect. What the memory does is decided by the condition."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from episodic_absa.errors import ConfigError
from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.schemas.overlays import Temperature, VoteCount, effort_problem
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.adoption import OverrideThresholds, Weight
from episodic_absa.vocabulary import DEBATE_CALLS, SPEAKERS, DebateCall, Effort, Rules, Speaker

OverrideProfile = Literal["t0", "t1", "t2"]


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
    """Thresholds that replace those of the profile; None keeps the profile's value."""

    min_total: Weight | None = None
    """The least weight in favour of the new polarity."""
    min_margin: Weight | None = None
    """The least lead of that weight over the next polarity."""
    min_target_conf: Score | None = None
    """The least confidence of the new polarity."""
    l3_conservative: Flag | None = None
    """Whether a polarity stays as it is where a risk that may reverse it touches the target."""
    ev_threshold: Score | None = None
    """The least evidence value of an adopted change. Only seed rules decide by it."""


class Stage1Settings(FrozenModel):
    """Settings of Stage1."""

    independent: Flag = False
    """Whether every Stage1 agent sees the text alone. Only seed rules have this."""
    joint: Flag | None = None
    """Whether one ask names targets and judges them. None: one ask under rules v3, two under seed rules."""
    span_repair: Flag = True
    """Whether a wrong or missing span moves to the nearest occurrence of its term."""
    allowlist: Path | None = None
    """A file with one short term per line; each counts as a target beside the built-in ones."""


class DebateSettings(FrozenModel):
    """The speakers in order, the number of rounds, and the calls that may see memory."""

    rounds: Annotated[int, Field(ge=1, le=3)] = 1
    """How often every speaker speaks."""
    order: tuple[Speaker, ...] = SPEAKERS
    """The speakers, in the order in which they speak."""
    memory_visible_to: tuple[DebateCall, ...] = DEBATE_CALLS
    """The calls whose prompt may hold the memory slot."""

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        for names in (self.order, self.memory_visible_to):
            if len(set(names)) < len(names):
                raise ValueError(f"a speaker is named twice: {', '.join(names)}; name each at most once")
        if not self.order:
            raise ValueError(f"order needs at least one speaker of {', '.join(SPEAKERS)}")
        return self


class PipelineSettings(FrozenModel):
    """The switches of the whole pipeline.

    Raises:
        ValidationError: a value is out of range, or a key is unknown.

    Example:
        >>> from episodic_absa import PipelineSettings, analyze
        >>> result = analyze("The screen is too dark.", pipeline=PipelineSettings(enable_debate=False))
        >>> result.debate is None
        True
    """

    enable_stage2: Flag = True
    """Whether Stage2 gives verdicts on Stage1."""
    enable_validator: Flag = True
    """Whether the validators of Stage1 and Stage2 are asked."""
    enable_debate: Flag = True
    """Whether there is a debate. Without one, memory is neither read nor shown."""
    enable_debate_override: Flag = True
    """Whether hints of the debate may change a polarity. Only seed rules have this."""
    override_profile: OverrideProfile = "t0"
    """From t0, which needs most agreement before a polarity is changed, to t2, which needs least."""
    debate_override: DebateOverride = DebateOverride()
    """Single thresholds that replace those of the profile."""
    ev_weights: tuple[Weight, Weight, Weight, Weight] = (0.4, 0.3, 0.2, 0.1)
    """The weights of the four parts of the evidence score."""
    stage1: Stage1Settings = Stage1Settings()
    """Settings of Stage1."""
    debate: DebateSettings = DebateSettings()
    """Settings of the debate."""
    reader: Flag = True
    """Whether the reader is heard. Only rules v3 hear it."""
    decision_weights: Path | None = None
    """A file of weights in place of the shipped one. Only rules v3 weigh candidates."""
    effort: Effort = "full"
    """How much is asked per sample. `reader`, `one_call` and `adaptive` need rules v3."""
    votes: VoteCount = 1
    """How often `one_call` asks; pairs that most answers hold are kept."""
    vote_temperature: Temperature = 0.7
    """The sampling temperature of the votes, if there are several."""
    memory_prompt_injection_chars_cap: Annotated[int, Field(strict=True, ge=0)] | None = None
    """The most characters of memory in a prompt. None: no limit. 0: no memory in any prompt."""

    @model_validator(mode="after")
    def _votes_need_one_call(self) -> Self:
        if problem := effort_problem("v3", effort=self.effort, votes=self.votes, joint=None):
            raise ValueError(problem)
        if self.effort == "reader" and not self.reader:
            raise ValueError("effort: reader asks the reader alone; leave reader: false out")
        return self

    def under(self, condition: Condition) -> "PipelineSettings":
        """Return the settings in force under a condition: with its overlay, and the switches that the effort implies.

        Raises:
            ConfigError: the condition's overlay or rules contradict these settings.
        """
        overlay = condition.pipeline.model_dump(exclude_none=True)
        stage1 = self.stage1.model_dump() | overlay.pop("stage1", {})
        settings = self.model_copy(update={**overlay, "stage1": Stage1Settings.model_validate(stage1)})
        if problem := _rules_problem(settings, condition.rules):
            raise ConfigError(f"condition {condition.name}: pipeline.{problem}", key="pipeline")
        return settings.model_copy(update=_IMPLIED[settings.effort])

    @property
    def thresholds(self) -> OverrideThresholds:
        """The thresholds in force: those of the profile, replaced where `debate_override` gives a value."""
        profile = OVERRIDE_PROFILES[self.override_profile]
        return profile.model_copy(update=self.debate_override.model_dump(exclude_none=True))


_STAGE1_ALONE: Final[Mapping[str, bool]] = {"enable_debate": False, "enable_stage2": False}
_IMPLIED: Final[Mapping[Effort, Mapping[str, bool]]] = {
    "reader": {**_STAGE1_ALONE, "enable_validator": False},
    "one_call": {**_STAGE1_ALONE, "enable_validator": False},
    "stage1": _STAGE1_ALONE,
    "adaptive": {},
    "full": {},
}


def _rules_problem(settings: PipelineSettings, rules: Rules) -> str | None:
    """Return which switches contradict each other or the rules, None if none do."""
    if rules == "v3" and settings.stage1.independent:
        return "stage1.independent is for rules seed; set it to false"
    return effort_problem(rules, effort=settings.effort, votes=settings.votes, joint=settings.stage1.joint)
