"""What a probe reaches, and what it reaches by chance."""

from typing import NamedTuple

from episodic_absa.verification.certificate.chance import p_of


class Figure(NamedTuple):
    """The figure of one probe."""

    value: float
    of_reviews: tuple[float, ...]
    """What each review adds: the value is their mean."""
    shuffled: tuple[float, ...]
    """The values with shuffled answers."""

    @property
    def p_value(self) -> float:
        """The share of shuffles that reach the value."""
        return p_of(self.value, self.shuffled)
