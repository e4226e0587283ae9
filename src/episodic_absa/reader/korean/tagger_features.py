"""Features of the aspect tagger, word by word. Training and the engine both read words through this module."""

from collections.abc import Sequence
from itertools import compress, pairwise
from typing import Final

from episodic_absa.reader.korean.reading import Reading, Word
from episodic_absa.reader.korean.word_marks import WordMarks, mark_words

_EDGES: Final = ("|", "|")
_OF_DOMAIN: Final = (
    *("b", "w=", "r=", "n=", "t=", "w-1w=", "ww+1=", "o=", "l=", "s3=", "d=", "p="),
    *("tt=", "t-1=", "t+1=", "rt=", "e=", "pe=", "r-1=", "r1="),
)
"""What a domain's own annotation decides: which words, and how much the rules' marks are worth."""
_BUCKETS: Final = ("0", "1", "2", "3", "4", "4", "6", "6", "6", "9")
_DIGIT: Final = ("0", "1")
_REACH: Final = 2
"""How many words to either side an attribute may look at."""


def tagger_features(reading: Reading) -> list[list[str]]:
    """Return the attributes of every word of a reading."""
    marks = mark_words(reading)
    lexical = [_EDGES, _EDGES, *(_lexical(word) for word in reading.words), _EDGES, _EDGES]
    glances = [f"{mark.target[:1]},{mark.opinion},{mark.lexicon},{_DIGIT[mark.is_listed]}" for mark in marks]
    shapes = _shapes(reading)
    return [
        _lexical_features(lexical[at : at + 5], mark) + _neighbours(glances, at) + shape
        for at, (mark, shape) in enumerate(zip(marks, shapes, strict=True))
    ]


def adapted(features: list[list[str]], domain: str | None) -> list[list[str]]:
    """Add the domain's own copies of its attributes; none for an unknown domain."""
    if domain is None:
        return features
    copy_of = f"{domain}|".__add__
    # Words as far from the edges have the same attributes in the same order: which to copy is decided once for them.
    chosen: dict[tuple[int, int], list[bool]] = {}
    both = []
    for at, attributes in enumerate(features):
        edges = min(at, _REACH), min(len(features) - 1 - at, _REACH)
        if edges not in chosen:
            chosen[edges] = [attribute.startswith(_OF_DOMAIN) for attribute in attributes]
        both.append([*attributes, *map(copy_of, compress(attributes, chosen[edges]))])
    return both


def _lexical(word: Word) -> tuple[str, str]:
    """Return the comparable form of a word, and its class."""
    tag = word.tag.split("-")[0]
    return ("0" if tag == "SN" else word.form), tag


def _lexical_features(around: Sequence[tuple[str, str]], mark: WordMarks) -> list[str]:
    """Return what a word, the two words to either side and the rules' mark on it say."""
    (before2, before2_tag), (before, before_tag), (form, tag), (after, after_tag), (after2, after2_tag) = around
    target, opinion, lexicon, is_listed, to_opinion, from_opinion = mark
    listed = _DIGIT[is_listed]
    distances = f"{_BUCKETS[to_opinion]},{_BUCKETS[from_opinion]}"
    return [
        "b",
        f"w={form}",
        f"t={tag}",
        f"w-1={before}",
        f"w+1={after}",
        f"t-1={before_tag}",
        f"t+1={after_tag}",
        f"w-2={before2}",
        f"w+2={after2}",
        f"tt={before_tag},{tag},{after_tag}",
        f"t-2={before2_tag},{before_tag}",
        f"t+2={after_tag},{after2_tag}",
        f"w-1w={before},{form}",
        f"ww+1={form},{after}",
        f"r={target}",
        f"rt={target},{tag}",
        f"o={opinion}",
        f"l={lexicon}",
        f"n={listed}",
        f"nt={listed},{tag},{after_tag}",
        f"d={distances}",
        f"dn={distances},{listed},{tag}",
    ]


def _neighbours(glances: Sequence[str], at: int) -> list[str]:
    """Return how the rules see the words to either side, as far as there are any."""
    return [f"r{offset}={glances[at + offset]}" for offset in (-2, -1, 1, 2) if 0 <= at + offset < len(glances)]


def _shapes(reading: Reading) -> list[list[str]]:
    """Where each morpheme stands in its eojeol, and what the eojeol ends in."""
    words = reading.words
    opens = [True, *(before.end < word.start for before, word in pairwise(words))]
    closes = [*opens[1:], True]
    found: list[list[str]] = []
    particle = ""
    for word, is_first, is_last in zip(reversed(words), reversed(opens), reversed(closes), strict=False):
        if is_last:
            particle = word.form if word.tag.startswith(("J", "E")) else word.tag
        found.append(
            [
                f"e={_DIGIT[is_first]}{_DIGIT[is_last]}",
                f"p={particle}",
                f"pe={particle},{word.tag}",
                f"c={word.form[-1:]}",
                f"c0={word.form[:1]}",
            ]
        )
    return found[::-1]
