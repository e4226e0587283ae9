"""Guesses the second target of a contrast: the first noun after the marker."""

import re
from functools import cache
from typing import Final

from episodic_absa.language.cues import find_contrasts
from episodic_absa.language.korean_analyser import morphemes
from episodic_absa.language.lexicon import forms
from episodic_absa.vocabulary import Language

_KOREAN_NOUNS: Final = frozenset({"NNG", "NNP"})
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|[^\sA-Za-z]")
_LONGEST_PHRASE: Final = 5


def guess_second_aspect(text: str, language: Language) -> tuple[int, int] | None:
    """Return start and end of the second target in the NFC text, None if there is no contrast or no noun."""
    contrasts = find_contrasts(text, language)
    if not contrasts:
        return None
    if language == "ko":
        return _first_korean_noun(text, contrasts[0].end)
    return _head_of_first_phrase(text, contrasts[0].end)


def _first_korean_noun(text: str, start: int) -> tuple[int, int] | None:
    noun: tuple[int, int] | None = None
    for morpheme in morphemes(text) or ():
        if morpheme.start < start:
            continue
        is_noun = morpheme.tag in _KOREAN_NOUNS
        if noun is None:
            noun = (morpheme.start, morpheme.end) if is_noun else None
        elif is_noun and morpheme.start == noun[1]:
            noun = (noun[0], morpheme.end)
        else:
            break
    return noun


def _head_of_first_phrase(text: str, start: int) -> tuple[int, int] | None:
    """Return the head, the last word, of `[determiner] [adverb] words` before a verb, a function word or a stop.

    A single word without determiner or verb is no phrase: "but slow." names no target.
    """
    words: list[re.Match[str]] = []
    has_determiner = has_verb = False
    for match in _WORD.finditer(text, start):
        word = match.group().lower()
        if not words and (word in _closed("determiners") or word in _closed("adverbs") or word == ","):
            has_determiner |= word in _closed("determiners")
        elif word in _closed("adverbs"):
            break
        elif word in _closed("verbs") or (words and _looks_past(word)):
            has_verb = True
            break
        elif word in _closed("function_words") or not word[0].isalpha() or len(words) == _LONGEST_PHRASE:
            break
        else:
            words.append(match)
    if len(words) > 1 and has_determiner and not has_verb and words[-1].group().lower().endswith("s"):
        # A clause has a verb. If no word is a known verb, the last one is taken for it: "the battery drains".
        words.pop()
    if not words or (len(words) == 1 and not has_determiner and not has_verb):
        return None
    return None if words[-1].group().lower() in _closed("adjectives") else words[-1].span()


def _looks_past(word: str) -> bool:
    return word.endswith("ed") and len(word) > 4


@cache
def _closed(word_class: str) -> frozenset[str]:
    return frozenset(forms("en", "closed_classes", word_class))
