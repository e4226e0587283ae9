"""The confidence of a pair under rules v3: how likely the reader holds it to be right."""

from typing import Final

from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.vocabulary import POLARITIES, Language

UNKNOWN: Final = 0.5
"""Where no reader can say anything: another language, `pipeline.reader: false`, an opinion without a target."""


def with_confidence(item: SentimentItem, text: str, language: Language, reader: Reader | None) -> SentimentItem:
    """Return a pair with its calibrated confidence; what is no pair stays as it is.

    The reader's two probabilities are calibrated on dev texts (training/reader_calibration.py). Their product is the
    share of right pairs also for pairs that a model names: benchmarks/calibration.py measures both.
    """
    if item.is_backfilled or item.polarity is None:
        return item
    known = calibrated_confidence(item, text, language, reader)
    return item.model_copy(update={"confidence": UNKNOWN if known is None else known})


def calibrated_confidence(item: SentimentItem, text: str, language: Language, reader: Reader | None) -> float | None:
    """Return how likely the reader holds a pair to be right; None if it cannot say anything."""
    view = reader.view(text, language, item.aspect_term) if reader and item.aspect_term else None
    if view is None:
        return None
    others_n = len(POLARITIES) - 1
    p_polarity = view.p_polarity if view.polarity == item.polarity else (1.0 - view.p_polarity) / others_n
    return round(view.p_target * p_polarity, 4)
