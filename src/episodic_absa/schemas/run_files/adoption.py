"""Whether the patched result became the final one, and how its override turned out."""

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.vocabulary import AdoptReason, OverrideSkip, Polarity


class EvComponents(FrozenModel):
    """The parts of the evidence value, before their weights."""

    debate_support: int
    validator_resolved: int
    grounding: int
    confidence_gain: float


class Adoption(FrozenModel):
    """Whether the patched result was adopted, with the reason and the evidence value."""

    adopt: bool
    reason: AdoptReason
    ev_score: float
    ev_threshold: float
    components: EvComponents


class OverrideFlags(NamedTuple):
    """How an override turned out, judged by risk and conflict alone."""

    applied: bool
    success: bool
    harm: bool


Weight = Annotated[float, Field(ge=0.0)]


class OverrideThresholds(FrozenModel):
    """The agreement that a change of polarity needs, and the evidence that adoption needs."""

    min_total: Weight
    min_margin: Weight
    min_target_conf: Score
    l3_conservative: Flag
    ev_threshold: Score


class OverrideDecision(FrozenModel):
    """The decision for one aspect, with the weights and thresholds it rests on."""

    aspect: str
    pos: float
    neg: float
    total: float
    margin: float
    target: Literal["positive", "negative"]
    decision: Literal["APPLY", "SKIP"]
    reason: OverrideSkip | Literal[""]
    thresholds: OverrideThresholds


class OverrideDecisionLine(OverrideDecision):
    """One line of override_gate_debug.jsonl."""

    uid: str


class PatchLogEntry(FrozenModel):
    """What became of one proposal, verdict or guard."""

    step: Literal["proposal", "ate_review", "atsa_review", "judge_drop", "anchor_guard", "placeholder", "reduction"]
    what: str
    """The proposal type, the verdict's action, or what the step did."""
    change_id: str | None = None
    aspect_term: str
    applied: bool
    reason: str = ""
    polarity: Polarity | None = None
    """What a flip or an added sentiment set."""
