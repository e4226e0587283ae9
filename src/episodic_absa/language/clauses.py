"""Divides a text into clauses, so that a quote can be told to lie beside its aspect. Needs no analyser.

Borders, in this order of certainty:
- the end of a sentence: stops followed by white space, and line breaks;
- a contrast cue: before a word (but, 하지만), after an ending (좋지만);
- a comma between two parts that each have a predicate. English: a listed verb or a past form in -ed on both sides.
  Korean: the word before the comma has a connective or final ending. A comma in a list ("food, service and price")
  or one whose sides show no predicate is no border. In other languages no comma is one.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from episodic_absa.language.cues import find_contrasts
from episodic_absa.language.lexicon import forms
from episodic_absa.vocabulary import Language

_SENTENCE_END: Final = re.compile(r"[.!?…。！？]+(?=\s|\Z)|\n+")
_COMMA: Final = re.compile(r"[,，;](?=\s)")
_ENGLISH_WORD: Final = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
# A noun that ends alike (창고, 필요) makes a border too many: a quote is then less often at home, never more often.
_KOREAN_PREDICATE_END: Final = re.compile(
    r"[가-힣](?:고|며|면서|아서|어서|해서|니까|다|요|죠|함)$|[있없좋았었했였겠]음$"
)


@lru_cache(maxsize=1024)  # every witness of a sample asks about the same text
def clauses(text: str, language: Language) -> tuple[tuple[int, int], ...]:
    """Return start and end of each clause of the NFC text, in order; together they cover the text."""
    borders = {match.end() for match in _SENTENCE_END.finditer(text)}
    # An ending (-지만) closes its clause, a word (but) opens the next one.
    borders |= {cue.end if cue.form.startswith("-") else cue.start for cue in find_contrasts(text, language)}
    for start, end in list(_between(borders, len(text))):
        borders |= set(_comma_borders(text, start, end, language))
    return tuple(_between(borders, len(text)))


def _between(borders: set[int], length: int) -> Iterator[tuple[int, int]]:
    marks = sorted({0, length, *(border for border in borders if 0 < border < length)})
    yield from pairwise(marks)


def _comma_borders(text: str, start: int, end: int, language: Language) -> Iterator[int]:
    part_start = start
    for match in _COMMA.finditer(text, start, end):
        if language == "ko":
            is_border = _KOREAN_PREDICATE_END.search(text[part_start : match.start()]) is not None
        else:
            before, after = text[part_start : match.start()], text[match.end() : end]
            is_border = language == "en" and _has_verb(before) and _has_verb(_up_to_comma(after))
        if is_border:
            yield match.end()
            part_start = match.end()


def _up_to_comma(part: str) -> str:
    return _COMMA.split(part, maxsplit=1)[0]


def _has_verb(part: str) -> bool:
    verbs = frozenset(forms("en", "closed_classes", "verbs"))
    words = [word.lower() for word in _ENGLISH_WORD.findall(part)]
    return any(word in verbs or (word.endswith("ed") and len(word) > 4) for word in words)
