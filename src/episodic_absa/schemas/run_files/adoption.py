"""Whether the patched result became the final one, and how its override turned out."""

from typing import NamedTuple

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import AdoptReason


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
