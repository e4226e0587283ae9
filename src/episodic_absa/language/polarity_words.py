"""What the label firewall looks for in a message: label words, and the aspect terms of the sample."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from episodic_absa.language.lexicon import load_lexicon
from episodic_absa.language.normalisation import norm

# Invisible, though not format characters (Cf): Hangul fillers, the grapheme joiner, variation selectors.
_BLANK: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f]")
_LATIN_LETTER: Final = "[a-z\u00df-\u024f]"
_TOKEN: Final = re.compile(r"[^\W_]+")
_SHORTEST_TERM: Final = 2


def find_polarity_word(message: str) -> str | None:
    """Return the first label word in a message, however it is cased, joined or composed."""
    found = _polarity_pattern().search(_undisguised(message))
    return found.group() if found else None


def find_aspect_term(message: str, terms: Iterable[str]) -> str | None:
    """Return the first of the terms that stands in the message as whole tokens, particles aside."""
    plain = _undisguised(message)
    tokens = _TOKEN.findall(plain)
    return next(
        (term for term in terms if len(norm(term)) >= _SHORTEST_TERM and _stands_in(term, plain, tokens)),
        None,
    )


def _stands_in(term: str, plain_message: str, message_tokens: Sequence[str]) -> bool:
    particles = load_lexicon().particles
    plain = norm(_undisguised(term))
    wanted = _TOKEN.findall(plain)
    if len("".join(wanted)) < _SHORTEST_TERM:
        # Too little is left of a term such as C++ to be compared by its letters: take it literally.
        attached = "|".join(map(re.escape, particles.attached))
        literal = rf"(?<!\w){re.escape(plain)}(?:{attached})?(?!\w)"
        return bool(plain) and re.search(literal, plain_message) is not None
    *head, last = wanted
    # A one-syllable rest (휴 of 휴가) says something only behind other words (음식 맛).
    last_forms = {last} | _without(last, particles.removable, shortest=1 if head else _SHORTEST_TERM)
    return any(
        list(message_tokens[at : at + len(head)]) == head
        and not last_forms.isdisjoint({closing} | _without(closing, particles.attached, shortest=1))
        for at, closing in enumerate(message_tokens[len(head) :])
    )


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
