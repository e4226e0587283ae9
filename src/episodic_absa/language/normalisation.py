"""Normalises aspect terms for comparison."""

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
