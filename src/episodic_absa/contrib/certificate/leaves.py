"""The single values inside advisories and store lines, and the words and n-grams of strings."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

_IDS: Final = frozenset(
    {"advisory_id", "episode_id", "format", "provenance", "schema_version", "sha256", "source_episode_ids", "source_id"}
)
"""Keys that name a review or a line openly, on purpose. Nothing has to be guessed from them."""
_TERM_KEYS: Final = "polarities"
"""The keys below it are terms."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_HANGUL = re.compile(r"[가-힣]")
_PIECE: Final = 4
_HANGUL_PIECE: Final = 2


class Leaf(NamedTuple):
    """One string, number or flag, and the keys that lead to it."""

    path: str
    value: str | float | bool | None

    @property
    def field(self) -> str:
        """The value with its path; numbers are rounded to 2 decimals."""
        value = round(self.value, 2) if isinstance(self.value, float) else self.value
        return f"{self.path}={value}"


def leaves_of(value: Any, path: str = "") -> Iterator[Leaf]:
    """Yield every value of a JSON object, without ids and versions; the terms of `polarities` are values, too."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if path.endswith(_TERM_KEYS):
                yield Leaf(f"{path}.term", str(key))
                yield from leaves_of(item, f"{path}.of_term")
            elif key not in _IDS:
                yield from leaves_of(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves_of(item, path)
    else:
        yield Leaf(path, value)


def folded(string: str) -> str:
    """Return a string in one case and one form, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", string).casefold().split())


def words_of(string: str) -> set[str]:
    """Return the words of two letters and more.

    Example:
        >>> sorted(words_of("The room, the ROOM; 3 beds"))
        ['beds', 'room', 'the']
    """
    return set(_WORD.findall(folded(string)))


def ngrams_of(string: str) -> set[str]:
    """Return the words and their character n-grams: 2 characters in Korean words, 4 in others.

    Example:
        >>> sorted(ngrams_of("방이 rooms"))
        ['rooms', '~ooms', '~room', '~방이', '방이']
    """
    grams: set[str] = set()
    for word in words_of(string):
        size = _HANGUL_PIECE if _HANGUL.search(word) else _PIECE
        grams.add(word)
        grams.update(f"~{word[start : start + size]}" for start in range(len(word) - size + 1))
    return grams
