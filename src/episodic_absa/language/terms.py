"""Normalises terms for comparison, and finds them in a text. Callers keep the characters of the text."""

import unicodedata
from functools import lru_cache
from typing import Final

from episodic_absa.language.korean_analyser import strip_particle
from episodic_absa.language.lexicon import load_lexicon

_OUTER: Final = " .,;:!?'\"‘’“”「」『』`()[]{}<>"


@lru_cache(maxsize=32768)  # metrics compare the same few thousand terms many times
def norm(s: str | None) -> str:
    """Return a term in NFC and lower case, with single spaces, without outer punctuation; "" for None."""
    lowered = unicodedata.normalize("NFC", s or "").lower()
    # NFC again: lower-casing may leave a letter and a mark that compose.
    return " ".join(unicodedata.normalize("NFC", lowered).split()).strip(_OUTER)


def norm_key(term: str | None, text: str | None = None) -> str:
    """Return `norm` of a term, without a trailing particle if the analyser finds one there in the text."""
    key = norm(term)
    if text is None:
        return key
    return norm(strip_particle(key, text)) or key


def synonyms_of(term: str) -> tuple[str, ...]:
    """Return the synonyms that the lexicon lists for a term, without the term itself."""
    key = norm_key(term)
    return tuple(word for group in load_lexicon()["synonyms"] if key in group for word in group if word != key)


def occurrences(term: str, text: str) -> list[int]:
    """Return the offsets at which a term begins in a text, in order. Occurrences may overlap."""
    needle, hay = _folded(term), _folded(text)
    if not needle or len(hay) != len(text):
        return _exact(term, text)
    return _exact(needle, hay)


def nearest_occurrence(term: str, text: str, start: int) -> tuple[int, int] | None:
    """Return start and end of the occurrence of a term, or of its normalised form, nearest to `start`."""
    for form in (term, norm(term)):
        offsets = occurrences(form, text)
        if offsets:
            nearest = min(offsets, key=lambda offset: (abs(offset - start), offset))
            return nearest, nearest + len(form)
    return None


def occurs(term: str, text: str) -> bool:
    """Return whether a term, or its normalised form, occurs in a text."""
    return nearest_occurrence(term, text, 0) is not None


def _exact(needle: str, hay: str) -> list[int]:
    offsets: list[int] = []
    offset = hay.find(needle) if needle else -1
    while offset >= 0:
        offsets.append(offset)
        offset = hay.find(needle, offset + 1)
    return offsets


def _folded(string: str) -> str:
    # A letter whose lower case is longer keeps its form, so that offsets stay valid.
    lowered = string.lower()
    if len(lowered) == len(string):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in string)
