"""Reads the polarity words of a model's answer. An unreadable word is missing, never neutral."""

from typing import Final, Literal, NamedTuple

from episodic_absa.vocabulary import POLARITIES, Polarity, SentenceLabel

_SHORT_FORMS: Final[dict[str, Polarity]] = {"pos": "positive", "neg": "negative", "neu": "neutral"}
_FARTHEST_REPAIR: Final = 2


class PolarityReading(NamedTuple):
    """The polarity of a word, and how it was read."""

    polarity: Polarity | None
    how: Literal["exact", "repaired", "invalid"]


class PolarityCounts(NamedTuple):
    """How many polarity words were read, repaired and unreadable."""

    read_n: int = 0
    repaired_n: int = 0
    invalid_n: int = 0

    def plus(self, other: "PolarityCounts") -> "PolarityCounts":
        """Return the sums of both."""
        return PolarityCounts(*map(sum, zip(self, other, strict=True)))

    def after(self, reading: PolarityReading) -> "PolarityCounts":
        """Return the counts with one more word."""
        return self.plus(PolarityCounts(1, reading.how == "repaired", reading.how == "invalid"))


NOTHING_READ: Final = PolarityCounts()


def read_polarity(word: str | None) -> PolarityReading:
    """Return the polarity of a full or short form, in any case.

    A word one or two letters away from exactly one full form is repaired; any other word is invalid.
    """
    folded = (word or "").strip().lower()
    if folded in POLARITIES:
        return PolarityReading(folded, "exact")
    if folded in _SHORT_FORMS:
        return PolarityReading(_SHORT_FORMS[folded], "exact")
    # Imported here: a model that spells its words right never needs it.
    from rapidfuzz.distance.Levenshtein import distance

    # The cutoff makes every word that is too far away equally far.
    distances = sorted((distance(folded, polarity, score_cutoff=_FARTHEST_REPAIR), polarity) for polarity in POLARITIES)
    (nearest, polarity), (next_nearest, _), *_ = distances
    if nearest <= _FARTHEST_REPAIR and nearest < next_nearest:
        return PolarityReading(polarity, "repaired")
    return PolarityReading(None, "invalid")


def read_label(word: str | None) -> SentenceLabel | None:
    """Return the sentence label of a word, a polarity or mixed; None if it cannot be read."""
    if word is None:
        return None
    return "mixed" if word.strip().lower() == "mixed" else read_polarity(word).polarity
