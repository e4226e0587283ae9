"""Turns the network's scores into probabilities, by tables that training fits on dev texts."""

import json
from bisect import bisect_right
from typing import NamedTuple

from episodic_absa.reader.reading import DIGITS
from episodic_absa.reader.weights_folder import CALIBRATION, WeightsFolder


class MonotoneMap(NamedTuple):
    """A table of points with rising values; between two points the map is a straight line."""

    scores: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()

    def __call__(self, score: float) -> float:
        """Return the probability of a score, rounded; an empty table leaves the score as it is, within 0 and 1."""
        if not self.scores:
            return round(min(1.0, max(0.0, score)), DIGITS)
        at = bisect_right(self.scores, score)
        if at == 0:
            return round(self.probabilities[0], DIGITS)
        if at == len(self.scores):
            return round(self.probabilities[-1], DIGITS)
        left, right = self.scores[at - 1], self.scores[at]
        low, high = self.probabilities[at - 1], self.probabilities[at]
        return round(low + (high - low) * (score - left) / (right - left), DIGITS)


class Calibration(NamedTuple):
    """How a language is read: what its entry in calibration.json says."""

    tag: str
    """The corpus tag that texts are read under."""
    threshold: float
    """From this score on a pair is named; below it is a candidate."""
    known_up_to_tokens: int
    """Texts of at most so many tokens count as a kind that the network knows: short everyday reviews."""
    known: MonotoneMap
    unknown: MonotoneMap

    def map_of(self, tokens_n: int) -> MonotoneMap:
        """Return the table for a text of so many tokens."""
        return self.known if tokens_n <= self.known_up_to_tokens else self.unknown


def load_calibration(folder: WeightsFolder, language: str) -> Calibration:
    """Return the entry of a language."""
    stored = json.loads(folder.content(CALIBRATION))[language]
    known, unknown = (
        MonotoneMap(tuple(table["scores"]), tuple(table["probabilities"]))
        for table in (stored["known"], stored["unknown"])
    )
    return Calibration(stored["tag"], stored["threshold"], stored["known_up_to_tokens"], known, unknown)
