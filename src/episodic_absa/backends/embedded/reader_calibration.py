"""Turns the scores of the embedded reader into probabilities, by tables that training/reader_calibration.py fits."""

import json
from bisect import bisect_right
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from episodic_absa.vocabulary import Language

CALIBRATION_FILE: Final = Path(__file__).with_name("reader_calibration.json")
Score: TypeAlias = Literal[
    "named_target",
    "named_elsewhere",
    "overlapping_target",
    "other_target",
    "polarity",
    "rules_target",
    "rules_polarity",
    "weights_target",
    "weights_polarity",
]
"""What a table is for: a target that the reader names by itself in a text of a trained domain, or in any other text; a
term that overlaps such a target, any other term;
the polarity of a term; and the same two questions put to the rules alone and to the weights alone."""
SCORES: Final[tuple[Score, ...]] = get_args(Score)
_DIGITS: Final = 4


class MonotoneMap(NamedTuple):
    """A table of points with rising values; between two points the map is a straight line."""

    scores: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()

    def __call__(self, score: float) -> float:
        """Return the probability of a score; an empty table leaves the score as it is, within 0 and 1."""
        if not self.scores:
            return round(min(1.0, max(0.0, score)), _DIGITS)
        at = bisect_right(self.scores, score)
        if at == 0:
            return self.probabilities[0]
        if at == len(self.scores):
            return self.probabilities[-1]
        left, right = self.scores[at - 1], self.scores[at]
        low, high = self.probabilities[at - 1], self.probabilities[at]
        return round(low + (high - low) * (score - left) / (right - left), _DIGITS)


IDENTITY: Final = MonotoneMap()
"""The map of a score without a table."""


class ReaderCalibration(NamedTuple):
    """The tables of both languages."""

    maps: Mapping[tuple[Language, Score], MonotoneMap]

    def probability(self, language: Language, kind: Score, score: float) -> float:
        """Return how often what has this score is right."""
        return self.maps.get((language, kind), IDENTITY)(score)


UNCALIBRATED: Final = ReaderCalibration({})
"""Leaves every score as it is."""


@cache
def shipped_calibration() -> ReaderCalibration:
    """Return the tables that come with the shipped weights."""
    stored = json.loads(CALIBRATION_FILE.read_text("utf-8"))
    languages: tuple[Language, ...] = ("ko", "en")
    return ReaderCalibration(
        {
            (language, kind): MonotoneMap(tuple(table["scores"]), tuple(table["probabilities"]))
            for language in languages
            for kind in SCORES
            if (table := stored["maps"][language].get(kind)) is not None
        }
    )
