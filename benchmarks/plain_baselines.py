"""Two plain baselines: noun phrases with a lexicon's polarity, and training terms with the commonest polarity."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from strict_score import Pair, explicit_pairs
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from episodic_absa.backends.embedded.opinion_lexicon import korean_lexicon
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.vocabulary import Language

_VADER_CUT: Final = 0.05
"""VADER's documentation calls a compound score within this range neutral."""


class LexiconBaseline:
    """Every noun phrase is a target; all of them get the polarity of the sentence by word list (VADER in English)."""

    def __init__(self) -> None:
        self._vader = SentimentIntensityAnalyzer()

    def pairs(self, text: str, language: Language) -> set[Pair]:
        """Return the pairs of one text."""
        reading = read_text(text, language)
        polarity = self.label(reading)
        found = [{"aspect_term": target.term, "polarity": polarity} for target in reading.targets if target.is_nameable]
        return explicit_pairs(found)

    def label(self, reading: Reading) -> str:
        """Return the polarity of a text by its words alone."""
        if reading.language == "en":
            score = self._vader.polarity_scores(reading.text)["compound"]
        else:
            words = korean_lexicon().words
            score = sum(words.get(word.form, words.get(f"{word.form}하", 0.0)) for word in reading.words)
        if abs(score) <= _VADER_CUT:
            return "neutral"
        return "positive" if score > 0 else "negative"


class MajorityBaseline:
    """Every term of the training file that stands in the text, with the training file's commonest polarity."""

    def __init__(self, training: Iterable[Mapping[str, Any]]) -> None:
        gold = [gold_tuple for row in training for gold_tuple in row["gold_tuples"] if gold_tuple["aspect_term"]]
        self._terms = sorted({term for term, _ in explicit_pairs(gold)})
        counts = Counter(gold_tuple["polarity"] for gold_tuple in gold)
        self._polarity = max(sorted(counts), key=lambda polarity: counts[polarity]) if counts else "positive"

    def pairs(self, text: str, language: Language) -> set[Pair]:
        """Return the pairs of one text; a Korean term may be followed by its particle."""
        padded, end = f" {' '.join(_words(text))} ", " " if language == "en" else ""
        return {(term, self._polarity) for term in self._terms if f" {' '.join(_words(term))}{end}" in padded}


def _words(text: str) -> Sequence[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.lower()).split()
