"""Compares rules and weights: where they differ, and by how much the weights prefer one polarity."""

from typing import Final

from episodic_absa.backends.embedded.judgement.aspect_judgement import find_term
from episodic_absa.backends.embedded.judgement.judged_targets import judged_at
from episodic_absa.backends.embedded.judgement.target_union import KEPT, NAMED, named_targets, support
from episodic_absa.backends.embedded.model.weighing import Weights3, likelihood, weigh, weighed_polarity, weighed_text
from episodic_absa.backends.embedded.reading import Reading, polarity_of
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.vocabulary import Polarity

_SURE_TARGET: Final = 0.5
_SURE_LEAD: Final = 0.3


def place_of_tuple(reading: WeighedReading, sentiment: SentimentItem) -> tuple[int, int] | None:
    """Return where the target of a tuple stands: where it was named, else its own place, else the first of the term."""
    for named in named_targets(reading):
        if named.target.term == sentiment.aspect_term:
            return named.target.start, named.target.end
    if sentiment.span is not None and reading.text[sentiment.span.start : sentiment.span.end] == sentiment.aspect_term:
        return sentiment.span.start, sentiment.span.end
    return find_term(reading, sentiment.aspect_term)


def weights_for(reading: WeighedReading, sentiment: SentimentItem) -> Weights3 | None:
    """Return what the weights say of a tuple's target, or of the text if it names none."""
    if not sentiment.aspect_term:
        return weighed_text(reading)
    return weighed_polarity(reading, sentiment.aspect_term, place_of_tuple(reading, sentiment))


def weights_lead(reading: WeighedReading, sentiment: SentimentItem, other: Polarity) -> float:
    """Return by how much the weights prefer a tuple's polarity to another; 0 where they say nothing."""
    weighed = weights_for(reading, sentiment)
    if weighed is None or sentiment.polarity is None:
        return 0.0
    return round(float(getattr(weighed, sentiment.polarity)) - float(getattr(weighed, other)), 5)


def weights_back(reading: WeighedReading, sentiment: SentimentItem) -> bool:
    """Whether the weights alone support a tuple: a likely target, clearly of this polarity."""
    weighed = weights_for(reading, sentiment)
    if weighed is None or weighed.best != sentiment.polarity or weighed.margin < _SURE_LEAD:
        return False
    place = place_of_tuple(reading, sentiment)
    return place is None or likelihood(reading, weigh(reading), *place) >= _SURE_TARGET


def is_doubtful(reading: WeighedReading, sentiment: SentimentItem) -> bool:
    """Return whether to drop a target: it is unlikely, and its polarity is unclear. ATE could not know the polarity."""
    place = place_of_tuple(reading, sentiment)
    weighed = weights_for(reading, sentiment)
    if (
        not sentiment.aspect_term
        or place is None
        or weighed is None
        or sentiment.polarity is None
        or sentiment.is_backfilled
    ):
        return False
    words = weigh(reading)
    # Outside the domains and the everyday reviews the tagger is too shy: what it gives little is often right.
    is_elsewhere = words.domain is None and not words.is_everyday
    if is_elsewhere or round(support(reading, words, *place) * max(weighed), 5) >= KEPT[reading.language]:
        return False
    return not _is_plainly_said(reading, sentiment, place)


def _is_plainly_said(reading: Reading, sentiment: SentimentItem, place: tuple[int, int]) -> bool:
    """Whether the rules tie opinions of this very polarity to the target."""
    judged = judged_at(reading, *place)
    if judged is None:
        return False
    return polarity_of(sum(reading.opinions[at].first for at in reading.opinions_of[judged])) == sentiment.polarity


def is_mere_guess(reading: WeighedReading, sentiment: SentimentItem) -> bool:
    """Whether a tuple is backfilled for a target that neither rules nor weights see."""
    place = place_of_tuple(reading, sentiment)
    return sentiment.is_backfilled and (place is None or support(reading, weigh(reading), *place) < NAMED)
