"""Reads the polarity words of a model's answer. An unreadable word is missing, never neutral."""

from typing import Final, Literal, NamedTuple

from episodic_absa.vocabulary import POLARITIES, Polarity, SentenceLabel

_SHORT_FORMS: Final[dict[str, Polarity]] = {"pos": "positive", "neg": "negative", "neu": "neutral"}
_FARTHEST_REPAIR: Final = 2


class PolarityReading(NamedTuple):
    """The polarity of a word, and how it was read."""

    polarity: Polarity | None
    how: Literal["exact", "repaired", "invalid"]


def read_polarity(word: str | None) -> PolarityReading:
    """Return the polarity of a full or short form, in any case.

    A word one or two letters away from exactly one full form is repaired; any other word is invalid.
    """
    folded = (word or "").strip().lower()
    if folded in POLARITIES:
        return PolarityReading(folded, "exact")
    if folded in _SHORT_FORMS:
        return PolarityReading(_SHORT_FORMS[folded], "exact")
    distances = sorted((_distance(folded, polarity), polarity) for polarity in POLARITIES)
    (nearest, polarity), (next_nearest, _), *_ = distances
    if nearest <= _FARTHEST_REPAIR and nearest < next_nearest:
        return PolarityReading(polarity, "repaired")
    return PolarityReading(None, "invalid")


def read_label(word: str | None) -> SentenceLabel | None:
    """Return the sentence label of a word, a polarity or mixed; None if it cannot be read."""
    if word is None:
        return None
    return "mixed" if word.strip().lower() == "mixed" else read_polarity(word).polarity


def _distance(a: str, b: str) -> int:
    """Return the Levenshtein distance; long words need no exact one."""
    if abs(len(a) - len(b)) > _FARTHEST_REPAIR:
        return _FARTHEST_REPAIR + 1
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        previous, row[0] = row[0], i
        for j, right in enumerate(b, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]
