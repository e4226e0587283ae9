"""Korean morphemes from kiwipiepy, loaded on first use. Without it no particle is ever found."""

import re
import threading
import unicodedata
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from episodic_absa.language.lexicon import forms

_LOCK: Final = threading.Lock()
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Morpheme(NamedTuple):
    """One morpheme; the offsets count code points of the NFC text."""

    form: str
    tag: str
    start: int
    end: int

    @property
    def is_particle(self) -> bool:
        """Whether the analyser tagged the morpheme as a particle (J*)."""
        return self.tag.startswith("J")


def morphemes(text: str) -> tuple[Morpheme, ...] | None:
    """Return the morphemes of a text, None if no analyser is installed."""
    return _analyse(unicodedata.normalize("NFC", text))


def ends_with_particle(text: str, end: int) -> bool:
    """Return whether the syllable before `end` (an offset into the NFC text) is a removable particle in this text."""
    text = unicodedata.normalize("NFC", text)
    if not 0 < end <= len(text) or text[end - 1] not in forms("particles", "removable"):
        return False
    # A particle fused with its noun (학굔) covers the noun's last syllable, and its form differs from the text.
    return any(
        morpheme.is_particle and (morpheme.form, morpheme.start, morpheme.end) == (text[end - 1], end - 1, end)
        for morpheme in _analyse(text) or ()
    )


# The same terms are compared with each other many times within one sample.
@lru_cache(maxsize=4096)
def strip_particle(term: str, text: str) -> str:
    """Return the term (NFC) without a trailing particle, if the analyser finds one there in this text."""
    term = unicodedata.normalize("NFC", term)
    # Checked first, so that most terms never load the analyser.
    if len(term) < 2 or not term.endswith(forms("particles", "removable")):
        return term
    text = unicodedata.normalize("NFC", text)
    end = _end_of_occurrence(term, text)
    bare = term[:-1].rstrip()
    return bare if bare and end is not None and ends_with_particle(text, end) else term


@lru_cache(maxsize=4096)
def ends_in_predicate(term: str) -> bool:
    """Return whether a Korean term is a clause: its last word is a verb or an adjective with an ending.

    Nominalised verbs (걷기) are nouns. Without the analyser no predicate is found.

    Example:
        >>> ends_in_predicate("음식이 정말 맛있었어요"), ends_in_predicate("아침 식사"), ends_in_predicate("breakfast")
        (True, False, False)
    """
    # Checked first, so that terms of other languages never load the analyser.
    if not term or not "가" <= unicodedata.normalize("NFC", term)[-1] <= "힣":
        return False
    last = (morphemes(term) or (None,))[-1]
    # Without a full stop the analyser takes some final endings for connective ones.
    return last is not None and last.tag in ("EF", "EC")


def _end_of_occurrence(term: str, text: str) -> int | None:
    """Return the end of the first occurrence at a word start, else of the first occurrence, else None."""
    # A normalised term has single spaces where the text may have any white space.
    pattern = r"\s+".join(map(re.escape, term.split()))
    for prefix in (r"(?<!\w)", ""):
        if match := re.search(prefix + pattern, text, re.IGNORECASE):
            return match.end()
    return None


@lru_cache(maxsize=256)
def _analyse(text: str) -> tuple[Morpheme, ...] | None:
    with _LOCK:
        kiwi = _kiwi()
        if kiwi is None:
            return None
        # Kiwi refuses lone surrogates; a replacement of the same length keeps the offsets.
        tokens = kiwi.tokenize(LONE_SURROGATE.sub("\ufffd", text))
    return tuple(Morpheme(token.form, token.tag, token.start, token.end) for token in tokens)


@cache
def _kiwi() -> Any | None:
    # The constructor is inside the try because it imports the model, which is another package.
    try:
        # Without names of several words and common misspellings it takes 190 MB less and loads in half the time.
        return import_module("kiwipiepy").Kiwi(num_workers=1, load_multi_dict=False, load_typo_dict=False)
    except ImportError:
        return None
