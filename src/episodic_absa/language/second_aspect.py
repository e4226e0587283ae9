"""Guesses the other target of a contrast: the first noun behind the marker."""

import re
from typing import Final

from episodic_absa.language.cues import find_contrasts
from episodic_absa.language.korean_analyser import morphemes
from episodic_absa.language.lexicon import load_lexicon
from episodic_absa.vocabulary import Language

_KOREAN_NOUNS: Final = frozenset({"NNG", "NNP"})
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|[^\sA-Za-z]")
_LONGEST_PHRASE: Final = 5


def guess_second_aspect(text: str, language: Language) -> tuple[int, int] | None:
    """Return where it stands in the NFC text, or None where no noun can be told."""
    contrasts = find_contrasts(text, language)
    if not contrasts:
        return None
    if language == "ko":
        return _first_korean_noun(text, contrasts[0].end)
    return _head_of_first_phrase(text, contrasts[0].end)


def _first_korean_noun(text: str, start: int) -> tuple[int, int] | None:
    found: tuple[int, int] | None = None
    for morpheme in morphemes(text) or ():
        if morpheme.start < start:
            continue
        is_noun = morpheme.tag in _KOREAN_NOUNS
        if found is None:
            found = (morpheme.start, morpheme.end) if is_noun else None
        elif is_noun and morpheme.start == found[1]:
            found = (found[0], morpheme.end)
        else:
            break
    return found


def _head_of_first_phrase(text: str, start: int) -> tuple[int, int] | None:
    """Read `[determiner] words` up to a verb or another function word; the last word is the head.

    Without a determiner a following verb must show that the words are a noun phrase: "but slow." names nothing.
    """
    closed = load_lexicon().en.closed_classes
    head: tuple[int, int] | None = None
    has_determiner = False
    length = 0
    for match in _WORD.finditer(text, start):
        word = match.group().lower()
        if head is None and word in closed.determiners:
            has_determiner = True
        elif head is None and word == ",":
            continue
        elif word in closed.verbs or (head is not None and has_determiner and word.endswith("ed")):
            return head
        elif word in closed.function_words or not word[0].isalpha() or word.endswith("ly"):
            return head if has_determiner and word not in closed.pronouns else None
        else:
            length += 1
            if length > _LONGEST_PHRASE:
                return None
            head = match.span()
    return head if has_determiner else None
