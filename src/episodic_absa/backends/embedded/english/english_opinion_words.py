"""Finds opinion words and idioms in English; what they are said of is decided later."""

from functools import lru_cache
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens
from episodic_absa.backends.embedded.opinion_lexicon import (
    Idiom,
    english_lexicon,
    english_words,
    vader_scores,
)

_MIN_VADER: Final = 1.2


class EnglishHit(NamedTuple):
    """An opinion by token positions, before it is scored."""

    first: int
    last: int
    form: str
    score: float
    idiom: Idiom | None = None
    is_object_verb: bool = False
    is_coloured: bool = False


def find_hits(tokens: EnglishTokens) -> list[EnglishHit]:
    """Return opinion words and idioms from left to right, none inside another."""
    hits: list[EnglishHit] = []
    at = 0
    while at < len(tokens.items):
        hit = _hit_at(tokens, at)
        if hit is None:
            at += 1
            continue
        if hit.idiom is None or not hit.idiom.skip:
            hits.append(hit)
        at = hit.last + 1
    return hits


def _hit_at(tokens: EnglishTokens, at: int) -> EnglishHit | None:
    found = tokens.lexicon.longest_idiom(tokens.forms, at)
    if found is not None and _holds(tokens, *found):
        idiom, end = found
        end += idiom.comparative
        return EnglishHit(at, end - 1 - idiom.keep_last, idiom.seq, idiom.score, idiom)
    word = tokens.forms[at]
    verb = tokens.lexicon.object_verbs.get(word)
    if verb is not None and (tokens.tag(at) == "V" or word not in tokens.lexicon.words) and tokens.tag(at) != "I":
        return EnglishHit(at, at, word, verb, is_object_verb=True)
    if (
        word in ("like", "likes", "liked")
        and tokens.tag(at - 1) in ("P", "X", "R", "N")
        and tokens.form(at - 1) in ("i", "we", "n't", "not", "really", "also", "they", "you", "did")
    ):
        return EnglishHit(at, at, word, 2.0, is_object_verb=True)
    colour = tokens.lexicon.by_target.get(word)
    if colour is not None:
        return EnglishHit(at, at, word, colour.other, is_coloured=True)
    score = word_score(word)
    if score is not None and not (word == "pretty" and tokens.tag(at + 1) in ("A", "R")):
        return EnglishHit(at, at, word, score)
    # Too much of anything displeases.
    if tokens.form(at - 1) == "too" and tokens.tag(at) == "A":
        return EnglishHit(at, at, word, -1.0)
    return None


def _holds(tokens: EnglishTokens, idiom: Idiom, end: int) -> bool:
    if not idiom.comparative:
        return True
    word = tokens.form(end)
    return word in ("better", "more", "less") or (word.endswith("er") and tokens.tag(end) == "A")


@lru_cache(maxsize=8192)
def word_score(word: str) -> float | None:
    """Return the strength of a word by our list, else by VADER, else by the adjective it compares."""
    lexicon = english_lexicon()
    score = lexicon.words.get(word)
    if score is not None:
        return score
    words = english_words()
    if word in lexicon.not_opinions or word in words.nouns or not word[0].isalpha():
        return None
    found = vader_scores().get(word)
    if found is None or abs(found) < _MIN_VADER:
        return _compared_score(word)
    # VADER runs to 4; our strengths run to 3.
    return max(-3.0, min(3.0, found * 0.9))


def _compared_score(word: str) -> float | None:
    """Return the score of the adjective inside a comparative or superlative (brighter, brightest)."""
    for ending in ("er", "est"):
        if not word.endswith(ending) or len(word) < len(ending) + 3:
            continue
        stem = word.removesuffix(ending)
        doubled = stem[:-1] if stem[-1] == stem[-2] else stem
        for base in (stem, f"{stem}e", f"{stem[:-1]}y" if stem.endswith("i") else stem, doubled):
            score = english_lexicon().words.get(base)
            if score is not None:
                return score
    return None
