"""Finds relative clauses: in "the nurse who saw us was kind" the main verb's opinion is about the nurse."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens

_PRONOUNS: Final = frozenset({"who", "which", "that", "whom", "whose", "where"})
_SUBJECTS: Final = frozenset({"i", "we", "you", "he", "she", "they", "it"})
_OWNERS: Final = frozenset({"my", "our", "his", "her", "their"})
_GROUP: Final = ("X", "V", "R")


class RelativeClause(NamedTuple):
    """A relative clause by token positions."""

    head: int
    """The noun it describes."""
    first: int
    main_verb: int | None
    """Where the sentence goes on; None if the relative clause ends it."""


def find_relatives(tokens: EnglishTokens, clause_of: Sequence[int]) -> list[RelativeClause]:
    """Return the relative clauses from left to right."""
    found: list[RelativeClause] = []
    for at in range(1, len(tokens.items)):
        head = at - 2 if tokens.form(at - 1) == "," and tokens.forms[at] in ("who", "which") else at - 1
        if tokens.tag(head) == "N" and _opens(tokens, at):
            relative = RelativeClause(head, at, _main_verb(tokens, at, clause_of))
            if relative.main_verb is not None or tokens.forms[at] in _PRONOUNS:
                found.append(relative)
    return found


def _opens(tokens: EnglishTokens, at: int) -> bool:
    form = tokens.forms[at]
    if form in _PRONOUNS:
        return tokens.tag(at + 1) != "N" or form in ("whose", "that", "which")
    if form in _SUBJECTS:
        return tokens.tag(at + 1) in _GROUP
    return form in _OWNERS and tokens.tag(at + 1) == "N" and tokens.tag(at + 2) in _GROUP


def _main_verb(tokens: EnglishTokens, first: int, clause_of: Sequence[int]) -> int | None:
    at = first
    end = len(tokens.items)
    while at < end and tokens.tag(at) not in ("X", "V"):
        if tokens.tag(at) in ("S", "C") or clause_of[at] != clause_of[first]:
            return None
        at += 1
    while at < end and tokens.tag(at) in _GROUP:
        at += 1
        # "that he cooked was tasty": a form of be right behind a full verb opens the main clause.
        if tokens.tag(at) == "X" and tokens.tag(at - 1) == "V" and tokens.forms[at] not in ("n't", "not"):
            return at
    while at < end and clause_of[at] == clause_of[first]:
        tag = tokens.tag(at)
        if tag in ("X", "V") and tokens.form(at - 1) != "to" and not tokens.forms[at].endswith("ing"):
            return at
        if tag == "C" or tokens.forms[at] in (".", "!", "?", ";"):
            return None
        at += 1
    return None
