"""What the patch did with every proposal, verdict and guard, step by step."""

from typing import Literal

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Polarity


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
