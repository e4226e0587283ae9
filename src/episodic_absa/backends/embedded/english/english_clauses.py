"""Splits an English text into clauses."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from episodic_absa.backends.embedded.english.english_opinion_words import EnglishHit, word_score
from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens, gap
from episodic_absa.backends.embedded.reading import Clause

_SENTENCE_END: Final = frozenset(".!?;")
_DENIALS: Final = frozenset({"not", "n't", "never"})
_LONGEST_ASIDE: Final = 5
_SUBORDINATE: Final = frozenset({"although", "though", "while"})


def split_clauses(tokens: EnglishTokens, hits: Sequence[EnglishHit]) -> tuple[list[int], list[Clause]]:
    """Return the clause of each token, and the clauses."""
    inside = {at for hit in hits for at in range(hit.first + 1, hit.last + 1)}
    clause_of: list[int] = []
    clauses: list[Clause] = []
    first, sentence_first, sentence, side = 0, 0, 0, 0
    pending_comma = False
    has_verb = False
    last_at = len(tokens.items) - 1
    aside = _asides(tokens)
    for at, item in enumerate(tokens.items):
        is_start = at == first
        word = item.word
        # "Although A, B": the marker stands before A, the contrast lies at the comma.
        leads_in = at == sentence_first and word in _SUBORDINATE
        if _is_contrast(word) and not leads_in and at not in inside:
            # The marker opens the clause after it.
            if not is_start:
                clauses.append(_clause(tokens, first, at - 1, sentence, side))
                first, has_verb = at, False
            side += 1
        elif leads_in:
            pending_comma = True
        elif not is_start and at not in inside and _opens_clause(tokens, at, has_verb=has_verb):
            clauses.append(_clause(tokens, first, at - 1, sentence, side))
            first, has_verb = at, False
        has_verb = has_verb or item.tag in ("V", "X")
        clause_of.append(len(clauses))
        ends_sentence = (word in _SENTENCE_END and tokens.form(at + 1) not in _SENTENCE_END) or "\n" in gap(tokens, at)
        ends_clause = (
            word == ","
            and at not in inside
            and at not in aside
            and (pending_comma or _closes_clause(tokens, at, first, has_verb=has_verb))
        )
        if ends_sentence or ends_clause or at == last_at:
            clauses.append(_clause(tokens, first, at, sentence, side))
            first, has_verb = at + 1, False
            side += pending_comma and ends_clause
            pending_comma = pending_comma and not (ends_clause or ends_sentence)
            sentence += ends_sentence
            sentence_first = at + 1 if ends_sentence else sentence_first
    return clause_of, clauses


def _asides(tokens: EnglishTokens) -> set[int]:
    """Return the commas around a remark between a subject and its verb: the heater, sadly, was broken."""
    commas = [at for at, form in enumerate(tokens.forms) if form == ","]
    found: set[int] = set()
    for opens, closes in pairwise(commas):
        between = range(opens + 1, closes)
        is_aside = (
            tokens.tag(opens - 1) == "N"
            and tokens.tag(closes + 1) == "X"
            and 0 < len(between) <= _LONGEST_ASIDE
            and tokens.form(opens + 1) not in ("the", "a", "and")
            and not any(tokens.tag(at) in ("V", "X", "C") for at in between)
            and any(tokens.tag(at) in ("R", "I") for at in between)
        )
        if is_aside:
            found |= {opens, closes}
    return found


def _is_contrast(word: str) -> bool:
    return word in ("but", "however", "yet") or word in _SUBORDINATE


def _clause(tokens: EnglishTokens, first: int, last: int, sentence: int, side: int) -> Clause:
    forms = tokens.forms[first : last + 1]
    return Clause(
        tokens.items[first].start,
        tokens.items[last].end,
        sentence,
        side,
        is_question=forms[-1] == "?" and not _is_rhetorical(forms),
        is_conclusion=not tokens.lexicon.conclusions.isdisjoint(forms),
    )


def _is_rhetorical(forms: Sequence[str]) -> bool:
    """Whether a question asks nothing, as "who would not love this?" does."""
    if forms[:2] in (["how", "can"], ["how", "could"]):
        return True
    return forms[0] in ("who", "what") and (forms[0] == "who" or "a" in forms[1:2] or not _DENIALS.isdisjoint(forms))


def _opens_clause(tokens: EnglishTokens, at: int, *, has_verb: bool) -> bool:
    if tokens.forms[at] not in ("and", "so", "because", "since", "when", "plus", "or"):
        return False
    return has_verb and _subject_and_verb_follow(tokens, at + 1)


def _closes_clause(tokens: EnglishTokens, at: int, first: int, *, has_verb: bool) -> bool:
    """A comma in a list of nouns closes nothing."""
    if has_verb or tokens.tag(at - 1) != "N" or word_score(tokens.forms[first]) is not None:
        return True
    return tokens.tag(at + 1) not in ("N", "D") and tokens.form(at + 1) != "and"


def _subject_and_verb_follow(tokens: EnglishTokens, at: int) -> bool:
    end = min(at + 7, len(tokens.items))
    seen_noun = False
    while at < end:
        tag = tokens.tag(at)
        if tag in ("X", "V"):
            return seen_noun
        if tag in ("N", "P"):
            seen_noun = True
        elif tag not in ("D", "A", "R", "#") and not (tag == "I" and seen_noun):
            return False
        at += 1
    return False
