"""The majority polarity of gold, as the manifest names it."""

from typing import Literal

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Polarity


class Majority(FrozenModel):
    """The most frequent polarity of gold, and the gold it was counted in."""

    polarity: Polarity
    source: Literal["train", "evaluation"]

    @property
    def note(self) -> str:
        """The note beside every value of the baseline."""
        return f"majority: {self.polarity}, from {self.source} gold"
