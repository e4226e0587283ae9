"""Chooses typical quotes: confident ones of middle length. Equal reviews give equal quotes."""

from collections.abc import Sequence
from statistics import median_low
from typing import Final, NamedTuple

from episodic_absa.vocabulary import Polarity

MOST_QUOTES: Final[dict[Polarity, int]] = {"positive": 20, "negative": 20, "neutral": 10}
"""Per aspect; together at most 50."""


class Candidate(NamedTuple):
    """A mention that may be quoted."""

    review: int
    """The place of its review in the table."""
    aspect: int
    """The place of the aspect in its review."""
    confidence: float
    length: int
    """Of the review, in characters."""
    text: str


def typical(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return at most `most` candidates of different texts, the most typical first.

    The less confident half is left out if enough others remain. The rest is ordered by how far the length of the
    review is from the median length, then by confidence, then by the order of the table.
    """
    different = list({candidate.text: candidate for candidate in reversed(candidates)}.values())
    different.sort(key=lambda candidate: (-candidate.confidence, candidate.review))
    confident = different[: max(most, (len(different) + 1) // 2)]
    if not confident:
        return []
    middle = median_low([candidate.length for candidate in confident])
    confident.sort(key=lambda candidate: (abs(candidate.length - middle), -candidate.confidence, candidate.review))
    return confident[:most]
