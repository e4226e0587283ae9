"""Marks each word of a reading by the rules: its target, its opinion, the distance to the next opinion.

The tagger and the polarity model both learn from these marks; they hold in domains whose words neither has seen.
"""

from bisect import bisect_right
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.reader.korean.opinion_lexicon import korean_lexicon
from episodic_absa.reader.korean.reading import Reading, Word
from episodic_absa.serialization.yaml_file import read_yaml_file

_NOUNS_FILE: Final = Path(__file__).parent / "aspect_nouns.yaml"
_FAR: Final = 9


class WordMarks(NamedTuple):
    """The marks of one word."""

    target: str
    """"-" outside; else B or I, the phrase's case, whether it can be named and whether an opinion is said of it."""
    opinion: str
    """"-" outside; else the sign of the opinion the word belongs to."""
    lexicon: str
    """The word's own colour by the word lists: "-", "+", "=" or "!" for blame."""
    is_listed: bool
    """A noun that reviews are commonly about."""
    to_opinion: int
    """Words to the nearest opinion word at or after it in its sentence; `_FAR` if there is none."""
    from_opinion: int
    """Words from the nearest opinion word before it in its sentence."""


@cache
def listed_nouns() -> frozenset[str]:
    """Return the nouns that reviews are commonly about."""
    nouns: list[str] = read_yaml_file(_NOUNS_FILE)["ko"]
    return frozenset(nouns)


def mark_words(reading: Reading) -> list[WordMarks]:
    """Mark every word."""
    words = reading.words
    targets = _targets_by_word(reading)
    opinions = _opinions_by_word(reading)
    nouns = listed_nouns()
    to_opinion = _distances(reading, opinions, range(len(words) - 1, -1, -1))
    from_opinion = _distances(reading, opinions, range(len(words)))
    return [
        WordMarks(
            targets[at],
            opinions[at],
            _colour(word),
            word.form in nouns,
            to_opinion[at],
            from_opinion[at],
        )
        for at, word in enumerate(words)
    ]


def sign(score: float) -> str:
    """Return how a score reads at a glance."""
    if abs(score) < 0.3:
        return "="
    return "+" if score > 0 else "!"


def word_colour(word: Word) -> float | None:
    """Return the score of one word by the word lists."""
    lexicon = korean_lexicon()
    score = lexicon.words.get(word.form)
    return score if score is not None else lexicon.words.get(f"{word.form}하")


def _colour(word: Word) -> str:
    score = word_colour(word)
    return "-" if score is None else sign(score)


def _targets_by_word(reading: Reading) -> list[str]:
    marks = ["-"] * len(reading.words)
    at = 0
    for index, target in enumerate(reading.targets):
        while at < len(marks) and reading.words[at].end <= target.start:
            at += 1
        owned = [reading.opinions[opinion].first for opinion in reading.opinions_of.get(index, ())]
        judged = sign(sum(owned)) if owned else "-"
        mark = f"{target.case}:{int(target.is_nameable)}:{judged}"
        head = "B"
        inside = at
        while inside < len(marks) and reading.words[inside].start < target.end:
            marks[inside] = f"{head}:{mark}"
            head = "I"
            inside += 1
    return marks


def _opinions_by_word(reading: Reading) -> list[str]:
    marks = ["-"] * len(reading.words)
    for opinion in reading.opinions:
        at = bisect_right(reading.words, opinion.start, key=lambda word: word.end)
        while at < len(marks) and reading.words[at].start < opinion.end:
            marks[at] = sign(opinion.first)
            at += 1
    return marks


def _distances(reading: Reading, opinions: list[str], order: range) -> list[int]:
    found = [_FAR] * len(opinions)
    distance, sentence = _FAR, -1
    for at in order:
        here = reading.clauses[reading.words[at].clause].sentence
        if here != sentence:
            distance, sentence = _FAR, here
        distance = 0 if opinions[at] != "-" else min(_FAR, distance + 1)
        found[at] = distance
    return found
