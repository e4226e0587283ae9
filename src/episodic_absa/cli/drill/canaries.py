"""Finds canaries in strings, however they are written: other case, look-alike letters, invisible characters."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

SHORTEST_CANARY: Final = 5
_BESIDE_LETTERS = re.compile(r"[\W_]+")
_LOOK_ALIKE: Final = str.maketrans(
    {
        letter: latin
        for latin, letters in {
            "a": "\u0430\u03b1",
            "b": "\u0432",
            "c": "\u0441",
            "d": "\u0501",
            "e": "\u0435",
            "h": "\u04bb\u043d",
            "i": "\u0456\u03b9",
            "j": "\u0458",
            "k": "\u043a\u03ba",
            "m": "\u043c",
            "o": "\u043e\u03bf",
            "p": "\u0440\u03c1",
            "r": "\u0433",
            "s": "\u0455",
            "t": "\u0442\u03c4",
            "u": "\u03c5",
            "v": "\u03bd",
            "x": "\u0445",
            "y": "\u0443",
        }.items()
        for letter in letters
    }
)
"""Cyrillic and Greek letters that are read as Latin ones."""
_UNSAFE: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})


def folded(string: str) -> str:
    r"""Return the letters and digits of a string in one case, with look-alike letters as Latin ones.

    Example:
        >>> folded("Sk\u043e\u200bpel_30")
        'skopel30'
    """
    plain = unicodedata.normalize("NFKC", string).casefold().translate(_LOOK_ALIKE)
    return _BESIDE_LETTERS.sub("", plain)


def unsafe_characters(term: str) -> tuple[str, ...]:
    """Return the control, direction and invisible characters of a term, as U+XXXX."""
    return tuple(f"U+{ord(character):04X}" for character in term if unicodedata.category(character) in _UNSAFE)


class CanarySearch:
    """Says whose canaries a string holds.

    Args:
        forms: the forms of each canary, by the id of its review.
    """

    def __init__(self, forms: Mapping[str, Sequence[str]]) -> None:
        self._ids = {folded(form): name for name, given in forms.items() for form in given}
        longest_first = sorted(self._ids, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        # Conditions share most of their prompts.
        self._found = lru_cache(maxsize=8192)(self._search)

    def ids_in(self, string: str) -> frozenset[str]:
        """Return the ids of the reviews whose canary stands in a string."""
        return self._found(string)

    def _search(self, string: str) -> frozenset[str]:
        return frozenset(self._ids[match] for match in self._pattern.findall(folded(string)))
