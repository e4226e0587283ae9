"""Finds label words and aspect terms in a message, for the label firewall."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, NamedTuple

from episodic_absa.language.lexicon import forms
from episodic_absa.language.terms import norm

# Invisible, though not format characters (Cf): Hangul fillers, the grapheme joiner, variation selectors.
_BLANK: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f]")
_LATIN_LETTER: Final = "[a-z\u00df-\u024f]"
_TOKEN: Final = re.compile(r"[^\W_]+")
_SHORTEST_TERM: Final = 2
_MESSAGES_KEPT: Final = 2048
_TERMS_KEPT: Final = 4096


class _Message(NamedTuple):
    """A message, prepared for the search of terms."""

    plain: str
    tokens: tuple[str, ...]
    forms: tuple[frozenset[str], ...]
    """Each token with its forms without an attached particle."""
    all_forms: frozenset[str]


class _Term(NamedTuple):
    """A term, prepared for the search."""

    plain: str
    head: tuple[str, ...]
    last_forms: frozenset[str]
    """The forms of the last token; empty if the term has too few letters to compare (C++)."""


@lru_cache(maxsize=_MESSAGES_KEPT)
def find_polarity_word(message: str) -> str | None:
    """Return the first label word in a message, in any case, composition or compound; None if there is none."""
    match = _polarity_pattern().search(_undisguised(message))
    return match.group() if match else None


def find_aspect_term(message: str, terms: Iterable[str]) -> str | None:
    """Return the first of the terms that occurs in a message as whole tokens, with or without a particle."""
    prepared = _read_message(message)
    return next((term for term in terms if len(norm(term)) >= _SHORTEST_TERM and _occurs_in(term, prepared)), None)


def _occurs_in(term: str, message: _Message) -> bool:
    plain, head, last_forms = _read_term(term)
    if not last_forms:
        attached = "|".join(map(re.escape, forms("particles", "attached")))
        literal = rf"(?<!\w){re.escape(plain)}(?:{attached})?(?!\w)"
        return bool(plain) and re.search(literal, message.plain) is not None
    if last_forms.isdisjoint(message.all_forms):
        return False
    return any(
        message.tokens[start : start + len(head)] == head and not last_forms.isdisjoint(closing)
        for start, closing in enumerate(message.forms[len(head) :])
    )


# Messages come from a catalogue and terms recur, so few distinct ones are prepared many times.
@lru_cache(maxsize=_MESSAGES_KEPT)
def _read_message(message: str) -> _Message:
    plain = _undisguised(message)
    tokens = tuple(_TOKEN.findall(plain))
    attached = forms("particles", "attached")
    bare = tuple(frozenset({token} | _without(token, attached, shortest=1)) for token in tokens)
    return _Message(plain, tokens, bare, frozenset().union(*bare))


@lru_cache(maxsize=_TERMS_KEPT)
def _read_term(term: str) -> _Term:
    plain = norm(_undisguised(term))
    tokens = _TOKEN.findall(plain)
    if len("".join(tokens)) < _SHORTEST_TERM:
        return _Term(plain, (), frozenset())
    *head, last = tokens
    # A rest of one syllable (휴 of 휴가) is compared only after other words (음식 맛).
    shortest = 1 if head else _SHORTEST_TERM
    bare = _without(last, forms("particles", "removable"), shortest=shortest)
    return _Term(plain, tuple(head), frozenset({last} | bare))


def _without(token: str, particles: Iterable[str], *, shortest: int) -> set[str]:
    """Return the token without each of the particles that it ends with."""
    bare = (token.removesuffix(particle) for particle in particles)
    return {form for form in bare if len(form) >= shortest}


def _undisguised(text: str) -> str:
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    # Blanks are removed before composing, because they separate the parts of a syllable, and after it, because
    # compatibility forms become blanks.
    composed = unicodedata.normalize("NFKC", _BLANK.sub("", visible))
    return unicodedata.normalize("NFKC", _BLANK.sub("", composed).casefold())


@cache
def _polarity_pattern() -> re.Pattern[str]:
    words = "|".join(map(re.escape, sorted(forms("polarity", "words"), key=len, reverse=True)))
    stems = "|".join(map(re.escape, forms("polarity", "stems")))
    # Bounded by Latin letters only: underscores, digits and glued Hangul ("negative로") do not hide a label.
    return re.compile(f"(?<!{_LATIN_LETTER})(?:{words})(?!{_LATIN_LETTER})|{stems}")
