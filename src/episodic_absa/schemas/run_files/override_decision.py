"""One decision of the override gate, and its line in override_gate_debug.jsonl."""

from typing import Annotated, Literal

from pydantic import Field

from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.vocabulary import OverrideSkip

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
