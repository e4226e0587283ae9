"""The comparable form of an aspect term."""

import unicodedata
from functools import lru_cache
from typing import Final

from episodic_absa.language.korean_analyser import strip_particle

_OUTER: Final = " .,;:!?'\"‘’“”「」『』`()[]{}<>"


@lru_cache(maxsize=32768)  # metrics compare the same few thousand terms again and again
def norm(s: str | None) -> str:
    """Return NFC, lower case, single spaces, without outer punctuation, quotes and brackets; "" for None."""
    lowered = unicodedata.normalize("NFC", s or "").lower()
    # Again NFC: lower-casing may leave a letter and a mark that compose.
    return " ".join(unicodedata.normalize("NFC", lowered).split()).strip(_OUTER)


def norm_key(term: str | None, text: str | None = None) -> str:
    """Return `norm` without the one trailing particle that the analyser sees there in this text."""
    key = norm(term)
    if text is None:
        return key
    return norm(strip_particle(key, text)) or key
