"""What is read in a text, and what a reader of one language answers."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from episodic_absa.reader.reading import TextLabel
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import POLARITIES, Language, Polarity


class ReadPair(NamedTuple):
    """A judged term of a text."""

    term: str
    """As the text has it."""
    start: int
    end: int
    polarity: Polarity
    p: float
    """How likely the pair is right, by the calibration of its language; rounded to three digits."""
    topic: str
    """What the term is about: one of fifteen plain topics, `other` among them."""


class Reading(NamedTuple):
    """What is read in a text.

    Example:
        >>> from episodic_absa import read
        >>> reading = read("The shop opens at nine.")
        >>> reading.label, reading.pairs
        ('none', ())
    """

    language: Language
    pairs: tuple[ReadPair, ...] = ()
    """From left to right."""
    candidates: tuple[ReadPair, ...] = ()
    """Terms that are possible and not likely enough to be named."""
    label: TextLabel | None = None
    """`none`: the text judges nothing. None: there is no reader of its language, or nothing to read."""
    label_p: float = 0.0

    @property
    def opinion(self) -> Polarity | None:
        """The polarity of an opinion without a target: that of a text in which no term is named."""
        return None if self.pairs else next((polarity for polarity in POLARITIES if polarity == self.label), None)


class LanguageReader(Protocol):
    """Reads one language; threads may share one."""

    def readings(self, texts: Sequence[str]) -> list[Reading]:
        """Return what is read in each text."""

    def reading(self, text: str) -> Reading:
        """Return what is read in a text; the last texts are remembered."""

    def view(self, text: str, term: str) -> ReaderView | None:
        """Return how likely a term is a target, and its polarity; None if the text does not hold it."""

    def pairs(self, text: str) -> tuple[ReaderPair, ...]:
        """Return the named pairs from left to right, each with its view."""
