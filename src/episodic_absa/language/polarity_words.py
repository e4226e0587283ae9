"""What the label firewall looks for in a message: label words, and the aspect terms of the sample."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, NamedTuple

from episodic_absa.language.lexicon import load_lexicon
from episodic_absa.language.normalisation import norm

# Invisible, though not format characters (Cf): Hangul fillers, the grapheme joiner, variation selectors.
_BLANK: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f]")
_LATIN_LETTER: Final = "[a-z\u00df-\u024f]"
_TOKEN: Final = re.compile(r"[^\W_]+")
_SHORTEST_TERM: Final = 2
_MESSAGES_KEPT: Final = 2048
_TERMS_KEPT: Final = 4096


class _Message(NamedTuple):
    """A message as terms are looked for in it."""

    plain: str
    tokens: tuple[str, ...]
    forms: tuple[frozenset[str], ...]
    """Of each token: itself, and what is left without an attached particle."""
    all_forms: frozenset[str]


class _Term(NamedTuple):
    """A term as it is looked for."""

    plain: str
    head: tuple[str, ...]
    last_forms: frozenset[str]
    """Of its last token. Empty: too little is left of the term (C++) to be compared by its letters."""


@lru_cache(maxsize=_MESSAGES_KEPT)
def find_polarity_word(message: str) -> str | None:
    """Return the first label word in a message, however it is cased, joined or composed."""
    found = _polarity_pattern().search(_undisguised(message))
    return found.group() if found else None


def find_aspect_term(message: str, terms: Iterable[str]) -> str | None:
    """Return the first of the terms that stands in the message as whole tokens, particles aside."""
    read = _read_message(message)
    return next((term for term in terms if len(norm(term)) >= _SHORTEST_TERM and _stands_in(term, read)), None)


def _stands_in(term: str, message: _Message) -> bool:
    plain, head, last_forms = _read_term(term)
    if not last_forms:
        attached = "|".join(map(re.escape, load_lexicon().particles.attached))
        literal = rf"(?<!\w){re.escape(plain)}(?:{attached})?(?!\w)"
        return bool(plain) and re.search(literal, message.plain) is not None
    if last_forms.isdisjoint(message.all_forms):
        return False
    return any(
        message.tokens[at : at + len(head)] == head and not last_forms.isdisjoint(closing)
        for at, closing in enumerate(message.forms[len(head) :])
    )


# Messages come from a catalogue and terms recur: what was read once is read again many times.
@lru_cache(maxsize=_MESSAGES_KEPT)
def _read_message(message: str) -> _Message:
    plain = _undisguised(message)
    tokens = tuple(_TOKEN.findall(plain))
    attached = load_lexicon().particles.attached
    forms = tuple(frozenset({token} | _without(token, attached, shortest=1)) for token in tokens)
    return _Message(plain, tokens, forms, frozenset().union(*forms))


@lru_cache(maxsize=_TERMS_KEPT)
def _read_term(term: str) -> _Term:
    plain = norm(_undisguised(term))
    tokens = _TOKEN.findall(plain)
    if len("".join(tokens)) < _SHORTEST_TERM:
        return _Term(plain, (), frozenset())
    *head, last = tokens
    # A one-syllable rest (휴 of 휴가) says something only behind other words (음식 맛).
    shortest = 1 if head else _SHORTEST_TERM
    bare = _without(last, load_lexicon().particles.removable, shortest=shortest)
    return _Term(plain, tuple(head), frozenset({last} | bare))


def _without(token: str, particles: Iterable[str], *, shortest: int) -> set[str]:
    """Return what each particle that ends the token leaves of it."""
    bare = (token.removesuffix(particle) for particle in particles)
    return {form for form in bare if len(form) >= shortest}


def _undisguised(text: str) -> str:
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    # Blanks go before composing, because they keep the parts of a syllable apart, and after it, because
    # compatibility forms turn into them.
    composed = unicodedata.normalize("NFKC", _BLANK.sub("", visible))
    return unicodedata.normalize("NFKC", _BLANK.sub("", composed).casefold())


@cache
def _polarity_pattern() -> re.Pattern[str]:
    polarity = load_lexicon().polarity
    words = "|".join(map(re.escape, sorted(polarity.words, key=len, reverse=True)))
    stems = "|".join(map(re.escape, polarity.stems))
    # Bounded by Latin letters only: underscores, digits and glued Hangul ("negative로") do not hide a label.
    return re.compile(f"(?<!{_LATIN_LETTER})(?:{words})(?!{_LATIN_LETTER})|{stems}")
