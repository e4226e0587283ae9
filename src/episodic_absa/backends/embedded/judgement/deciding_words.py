"""The words of a text that speak most for its label, so that a label can be shown with what decides it."""

import re
from typing import Final

from episodic_absa.backends.embedded.model.polarity_features import word_features
from episodic_absa.backends.embedded.model.weighing import weigh, weighed_text
from episodic_absa.backends.embedded.weighed_reading import WeighedReading

_MOST_WORDS: Final = 2
_OPPOSITE: Final[dict[str, str]] = {"positive": "negative", "negative": "positive"}
_EMPTY: Final = frozenset("DPICXS")
_WORD: Final = re.compile(r"\S+")


def deciding_words(reading: WeighedReading, label: str | None) -> tuple[str, ...]:
    """Return at most two words, in the order of the text; none for a label without a side or a text without words."""
    if label is None or label not in _OPPOSITE or weighed_text(reading) is None:
        return ()
    model, domain = reading.weights.text, weigh(reading).domain
    own, other = model.classes.index(label), model.classes.index(_OPPOSITE[label])
    speaking: list[tuple[float, int, str]] = []
    for match in _WORD.finditer(reading.text):
        if _is_empty(reading, match.start(), match.end()):
            continue
        scores = model.scores(word_features(reading, match.start(), match.end(), domain))
        if scores[own] > scores[other]:
            speaking.append((scores[other] - scores[own], match.start(), match.group()))
    strongest = sorted(speaking)[:_MOST_WORDS]
    return tuple(word for _, word in sorted((start, word) for _, start, word in strongest))


def _is_empty(reading: WeighedReading, start: int, end: int) -> bool:
    """Whether English words between two places mean nothing alone: articles, pronouns, prepositions, signs."""
    tags = [word.tag for word in reading.words if start <= word.start < end]
    return reading.language == "en" and all(tag in _EMPTY for tag in tags)
