"""Weighs doubtful targets by how often earlier reviews had them as final targets. No term and no label is read."""

import json
from functools import cache
from math import exp, log, log1p
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.judgement.two_readers import is_doubtful
from episodic_absa.backends.embedded.roles.second_looks import Record, SecondLooks
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.final_tuples import asked_targets
from episodic_absa.schemas.absa import SentimentItem, Stage1Result

FAMILIARITY_FILE: Final = Path(__file__).with_name("familiarity.json")
LEAST_REVIEWS: Final = 100
"""With fewer earlier reviews, never seen says little."""
LEAST_CONFIDENCE: Final = 0.02
MOST_PER_THOUSAND: Final = 20.0
"""A target of every fiftieth review is familiar; a higher rate does not make it likelier right."""
_DIGITS: Final = 4
_DROP_BELOW: Final[dict[Record, float]] = {"mostly_wrong": 0.2, "undecided": 0.25, "mostly_right": 0.28}
"""A pair that is right less often than half of F1 costs more than it gives; experience with drops moves the bound."""
_HOLD_FROM: Final = 0.5
"""What is more likely right than wrong is held, whatever else the engine doubts."""


class FamiliarityCurve(NamedTuple):
    """The log odds that a pair is right: a line in the log odds of its confidence and the logarithm of the rate.

    Example:
        >>> curve = FamiliarityCurve(start=-0.4, by_confidence=0.9, by_rate=0.2)
        >>> curve.probability(0.4, seen_in=0, of=500), curve.probability(0.4, seen_in=25, of=500)
        (0.3176, 0.4611)
    """

    start: float
    by_confidence: float
    by_rate: float

    def probability(self, confidence: float, *, seen_in: int, of: int) -> float:
        """Return how likely a pair is right, rounded so that every machine gives the same.

        Args:
            confidence: the calibrated confidence of the pair.
            seen_in: the earlier reviews in which the target was a final target.
            of: all earlier reviews, at least one.
        """
        features = curve_features(confidence, seen_in, of)
        odds = self.start + self.by_confidence * features[0] + self.by_rate * features[1]
        return round(1.0 / (1.0 + exp(-odds)), _DIGITS)


class WeighedTargets(NamedTuple):
    """The terms that familiarity decides about."""

    unfamiliar: frozenset[str] = frozenset()
    """Doubtful targets that earlier reviews did not have: to drop."""
    familiar: frozenset[str] = frozenset()
    """Targets that earlier reviews had so often that doubt is no reason to drop them."""


def curve_features(confidence: float, seen_in: int, of: int) -> tuple[float, float]:
    """Return the log odds of a confidence, and the logarithm of 1 + the rate per thousand reviews, which is bounded."""
    kept = min(1.0 - LEAST_CONFIDENCE, max(LEAST_CONFIDENCE, confidence))
    return log(kept / (1.0 - kept)), log1p(min(MOST_PER_THOUSAND, 1000.0 * seen_in / of))


@cache
def shipped_curve() -> FamiliarityCurve:
    """Return the curve that training/familiarity.py fitted."""
    stored = json.loads(FAMILIARITY_FILE.read_text("utf-8"))
    return FamiliarityCurve(stored["start"], stored["by_confidence"], stored["by_rate"])


def weigh_targets(reading: WeighedReading, stage1: Stage1Result, looks: SecondLooks) -> WeighedTargets:
    """Return which targets of a first analysis familiarity drops and which it holds.

    A target is dropped if the pair is right less often than pays, and familiarity itself speaks against it: it is less
    likely right than its confidence alone says. The likeliest named target of a text always stays.
    """
    if not looks.familiar:
        return WeighedTargets()
    terms = asked_targets(stage1.atsa.sentiments)
    pairs: dict[str, list[SentimentItem]] = {}
    for sentiment in stage1.atsa.sentiments:
        if sentiment.polarity is not None and not sentiment.is_backfilled:
            pairs.setdefault(sentiment.aspect_term, []).append(sentiment)
    chances: dict[str, float] = {}
    confidences: dict[str, float] = {}
    for target in looks.familiar:
        if target.position <= len(terms) and target.of >= LEAST_REVIEWS:
            term = terms[target.position - 1]
            confidences[term] = max(pair.confidence for pair in pairs[term])
            chances[term] = shipped_curve().probability(confidences[term], seen_in=target.seen_in, of=target.of)
    bound = _DROP_BELOW[looks.record("drop")]
    unfamiliar = {term for term, chance in chances.items() if chance < min(bound, confidences[term])}
    familiar = {term for term, chance in chances.items() if chance >= max(_HOLD_FROM, confidences[term])}
    staying = [term for term in dict.fromkeys(terms) if not all(is_doubtful(reading, pair) for pair in pairs[term])]
    if staying and unfamiliar.issuperset(staying):
        unfamiliar.remove(max(staying, key=lambda term: chances[term]))
    return WeighedTargets(frozenset(unfamiliar), frozenset(familiar))
