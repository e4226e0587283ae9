"""What changes an English opinion word: degree, wishes, negation right before it and negation further off."""

from typing import Final

from episodic_absa.backends.embedded.english.english_opinion_words import EnglishHit
from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens
from episodic_absa.backends.embedded.reading import Clause

_NEGATORS: Final = frozenset(
    {"not", "n't", "never", "no", "without", "hardly", "cannot", "barely", "neither", "nor", "rarely", "seldom"}
)
_FAR_NEGATORS: Final = frozenset(
    {"not", "n't", "never", "nothing", "nobody", "none", "no", "hardly", "cannot", "without"}
)
_OPINION_VERBS: Final = frozenset(
    {"think", "say", "call", "believe", "find", "consider", "expect", "describe", "feel", "imagine", "claim"}
)
_NEAR: Final = 3
"""How many tokens before an opinion word plain negation reaches."""
_NEITHER: Final = 10
_NEGATED_PRAISE: Final = -0.8
_NEGATED_BLAME: Final = -0.6


def is_wished(tokens: EnglishTokens, hit: EnglishHit, where: Clause) -> bool:
    """Return whether the opinion is wished for; a wish means that the quality is missing."""
    for at in range(hit.first - 1, max(-1, hit.first - 8), -1):
        if tokens.items[at].start < where.start:
            return False
        if tokens.forms[at] in ("wish", "wished") and hit.idiom is None:
            return True
    return False


def graded(tokens: EnglishTokens, hit: EnglishHit, score: float) -> tuple[float, int]:
    """Return the score with its degree word, and the token the quotation begins at."""
    before = tokens.form(hit.first - 1)
    if before == "too" and hit.idiom is None and score < 2.5:
        return -max(1.5, abs(score)), hit.first - 1
    if before in tokens.lexicon.intensifiers:
        return max(-3.0, min(3.0, score * 1.25)), hit.first - 1
    if before in tokens.lexicon.softeners:
        return score * 0.7, hit.first - 1
    return score, hit.first


def find_near_negation(tokens: EnglishTokens, hit: EnglishHit, where: Clause) -> int | None:
    """Return the negating word that plain negation reaches from, if there is one."""
    if hit.idiom is not None or hit.is_absence or tokens.forms[hit.first] == "no":
        return None
    # Clumps less than the old one, less crowded.
    if tokens.form(hit.last + 1) == "less" and tokens.tag(hit.last + 2) != "A":
        return hit.last + 1
    if tokens.form(hit.first - 1) == "less":
        return hit.first - 1
    for at in range(hit.first - 1, max(-1, hit.first - 1 - _NEAR), -1):
        if tokens.items[at].start < where.start or tokens.forms[at] in (",", "but"):
            return None
        if tokens.forms[at] in _NEGATORS:
            return at
    # Neither the soup nor the salad was fresh.
    for at in range(hit.first - 1, max(-1, hit.first - 1 - _NEITHER), -1):
        if tokens.items[at].start < where.start:
            return None
        if tokens.forms[at] == "neither" and "nor" in tokens.forms[at : hit.first]:
            return at
    return None


def find_far_negation(
    tokens: EnglishTokens, hit: EnglishHit, near_at: int | None, where: Clause
) -> tuple[int | None, str]:
    """Return a negating word beyond the reach of plain negation, and what kind of case it is."""
    if near_at is not None and tokens.form(near_at + 1) in ("only", "just"):
        return near_at, "not only"
    stop = hit.first if near_at is None else near_at
    passed_opinion_verb = False
    for at in range(stop - 1, max(-1, stop - 9), -1):
        form = tokens.forms[at]
        if tokens.items[at].start < where.start or form in (",", ";"):
            break
        passed_opinion_verb = passed_opinion_verb or form in _OPINION_VERBS
        if form in _FAR_NEGATORS:
            if near_at is not None:
                return at, "double negation"
            # Plain negation does not reach over a noun phrase; that of "I don't think" does, and so does "nothing".
            if passed_opinion_verb or form in ("nothing", "nobody", "none", "never"):
                return at, "distant negation"
            return None, ""
    return None, ""


def negated(score: float, *, negates: bool) -> float:
    """Turn a score round; what is not good is bad, what is not bad is less than good."""
    if not negates:
        return score
    return score * (_NEGATED_PRAISE if score > 0 else _NEGATED_BLAME)
