"""Finds the noun phrases of an English text with their place in the clause."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.english.english_opinion_words import EnglishHit
from episodic_absa.backends.embedded.english.english_relatives import RelativeClause
from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens, gap
from episodic_absa.backends.embedded.opinion_lexicon import english_words
from episodic_absa.backends.embedded.reading import Case, Target

_MEASURES: Final = frozenset(
    {"lot", "lots", "bit", "kind", "sort", "type", "part", "piece", "number", "amount", "couple", "pair", "bunch",
     "ton", "tons", "rest", "half", "thing", "things", "stuff"}
)  # fmt: skip
_JOINTS: Final = (["and"], [","], [",", "and"], ["or"], ["&"], ["nor"], ["plus"], ["as", "well", "as"])
_UNITS: Final = frozenset(
    {"size", "sizes", "inch", "inches", "pounds", "kilos", "metres", "meters", "miles", "steps", "floors", "degrees"}
)
_COUNTS: Final = frozenset({"one", "two", "three", "four", "five", "six", "several", "a", "an"})
_COMPARED_BY: Final = frozenset({"than", "unlike"})
_REACH: Final = 5


class EnglishPhrase(NamedTuple):
    """A noun phrase by token positions."""

    first: int
    last: int
    target: Target
    modifiers_from: int
    after_preposition: str


def find_phrases(
    tokens: EnglishTokens,
    hits: Sequence[EnglishHit],
    clause_of: Sequence[int],
    relatives: Sequence[RelativeClause],
) -> list[EnglishPhrase]:
    """Return the noun phrases: runs of nouns that no opinion has taken."""
    taken = {at for hit in hits for at in range(hit.first, hit.last + 1)}
    heads = {relative.head for relative in relatives if relative.main_verb is not None}
    phrases: list[EnglishPhrase] = []
    at = 0
    while at < len(tokens.items):
        if tokens.items[at].tag != "N" or at in taken:
            at += 1
            continue
        last = at
        while (
            tokens.tag(last + 1) == "N"
            and last + 1 not in taken
            and clause_of[last + 1] == clause_of[at]
            and gap(tokens, last) == " "
        ):
            last += 1
        phrases.append(_phrase(tokens, at, last, clause_of[at], taken, heads))
        at = last + 1
    return _with_joined_subjects(tokens, phrases)


def are_joined(tokens: EnglishTokens, earlier: EnglishPhrase, later: EnglishPhrase) -> bool:
    """Whether "and" or a comma, and nothing else, stands between two phrases."""
    between = tokens.forms[earlier.last + 1 : later.modifiers_from]
    return between in _JOINTS


def _with_joined_subjects(tokens: EnglishTokens, phrases: list[EnglishPhrase]) -> list[EnglishPhrase]:
    """What "and" joins to a subject is one, too."""
    for at in range(len(phrases) - 2, -1, -1):
        phrase, later = phrases[at], phrases[at + 1]
        if (
            later.target.case == "subject"
            and phrase.target.case == "bare"
            and phrase.target.clause == later.target.clause
            and are_joined(tokens, phrase, later)
        ):
            phrases[at] = phrase._replace(target=_recased(phrase.target, "subject"))
    return phrases


def _recased(target: Target, case: Case) -> Target:
    return Target(target.term, target.start, target.end, target.clause, case, target.is_nameable)


def _phrase(
    tokens: EnglishTokens, first: int, last: int, clause: int, taken: set[int], heads: set[int]
) -> EnglishPhrase:
    words = english_words()
    while first < last and tokens.forms[first] in _MEASURES:
        first += 1
    modifiers = first
    while not _is_conjunction(tokens, modifiers - 1) and (
        tokens.tag(modifiers - 1) in ("A", "D", "#")
        or _is_participle(tokens, modifiers - 1)
        or (modifiers - 1 in taken and tokens.tag(modifiers - 1) in ("V", "N", "A", "R"))
    ):
        modifiers -= 1
    before = tokens.form(modifiers - 1) if tokens.tag(modifiers - 1) == "I" else ""
    named_last = last + 1 if _has_number(tokens, last) else last
    start, end = tokens.items[first].start, tokens.items[named_last].end
    case: Case = "bare"
    if before:
        case = "oblique"
    elif tokens.tag(modifiers - 1) == "V":
        case = "object"
    elif last in heads or _verb_follows(tokens, named_last + 1):
        case = "subject"
    # "life" names nothing, "battery life" does.
    is_nameable = (last > first or tokens.forms[last] not in words.not_targets) and end - start > 1
    is_nameable = is_nameable and not _is_compared(tokens, modifiers) and not _is_measure(tokens, first, last)
    target = Target(tokens.text[start:end], start, end, clause, case, is_nameable)
    return EnglishPhrase(first, named_last, target, modifiers, before)


def _is_conjunction(tokens: EnglishTokens, at: int) -> bool:
    """Whether "that" opens a clause: so narrow that my legs hurt."""
    return tokens.form(at) == "that" and tokens.tag(at + 1) in ("D", "P")


def _verb_follows(tokens: EnglishTokens, at: int) -> bool:
    """Whether the verb of a noun follows it: at once, behind an adverb, an aside or "of the fabric"."""
    if tokens.tag(at) in ("X", "V"):
        return True
    end = at + _REACH
    while at < end and tokens.tag(at) in ("R", "I", "D", "A", "N", "#", "S"):
        if tokens.tag(at) == "S" and tokens.form(at) != ",":
            return False
        at += 1
        if tokens.tag(at) == "X":
            return True
    return False


def _has_number(tokens: EnglishTokens, last: int) -> bool:
    """Whether a number belongs to a name: Ubuntu 22, but not "waited 22 minutes"."""
    name = tokens.text[tokens.items[last].start : tokens.items[last].end]
    if tokens.tag(last + 1) != "#" or gap(tokens, last) != " " or not any(letter.isupper() for letter in name):
        return False
    return tokens.tag(last + 2) not in ("N", "A", "#") and tokens.form(last + 2) not in ("%", "$", "€", "£", "/")


def _is_compared(tokens: EnglishTokens, modifiers: int) -> bool:
    """Whether a phrase is only what something is compared with."""
    for at in range(modifiers - 1, max(-1, modifiers - 1 - _REACH), -1):
        if tokens.forms[at] in _COMPARED_BY:
            return True
        if tokens.tag(at) in ("X", "V", "S", "C"):
            return False
    return False


def _is_measure(tokens: EnglishTokens, first: int, last: int) -> bool:
    """Whether a phrase counts a unit: two sizes, 5 inches."""
    is_counted = tokens.tag(first - 1) == "#" or tokens.form(first - 1) in _COUNTS
    return is_counted and first == last and tokens.forms[last] in _UNITS


def _is_participle(tokens: EnglishTokens, at: int) -> bool:
    """Return whether the word is a participle before its noun: "well structured modules", "the preloaded software"."""
    return tokens.tag(at) == "V" and tokens.form(at).endswith("ed") and tokens.tag(at - 1) in ("R", "D")
