"""What the reader makes of one term: the independent witness of rules v3. It never enters a prompt."""

from typing import NamedTuple

from episodic_absa.vocabulary import POLARITIES, Polarity


class ReaderView(NamedTuple):
    """The reader's own reading of a text for one term."""

    p_target: float
    """How likely the term is a target of opinion, 0 to 1."""
    polarity: Polarity
    """The likeliest polarity of the term."""
    p_polarity: float
    """How likely that polarity is, 0 to 1."""

    def p_of(self, polarity: Polarity) -> float:
        """Return how likely the term is a target of this polarity."""
        others_n = len(POLARITIES) - 1
        p_polarity = self.p_polarity if self.polarity == polarity else (1.0 - self.p_polarity) / others_n
        return round(self.p_target * p_polarity, 4)


class ReaderPair(NamedTuple):
    """A pair that the reader finds by itself."""

    term: str
    start: int
    end: int
    view: ReaderView
