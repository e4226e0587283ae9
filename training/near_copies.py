"""Keeps test texts out of the training data: equal texts, and texts that share eight words in a row."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

_RUN: Final = 8
_WORD: Final = re.compile(r"\w+")


class HeldOut:
    """The texts that must not be trained on, as hashes."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = {key for text in texts for key in _keys(text)}

    def resembles(self, text: str) -> bool:
        """Return whether a text equals or nearly equals a held-out one."""
        return any(key in self._known for key in _keys(text))


def _keys(text: str) -> Iterator[bytes]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).lower())
    # Emoji or punctuation alone are no text that could be copied; without this, each would equal every other.
    if words:
        yield _hashed("".join(words))
    for first in range(len(words) - _RUN + 1):
        yield _hashed(" ".join(words[first : first + _RUN]))


def _hashed(words: str) -> bytes:
    return hashlib.sha256(words.encode()).digest()[:12]
