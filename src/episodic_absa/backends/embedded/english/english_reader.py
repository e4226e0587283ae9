"""Reads English: ties every opinion to the noun phrase it is said of."""

from collections.abc import Sequence

from episodic_absa.backends.embedded.english.english_clauses import split_clauses
from episodic_absa.backends.embedded.english.english_negation import (
    find_far_negation,
    find_near_negation,
    graded,
    is_wished,
    negated,
)
from episodic_absa.backends.embedded.english.english_opinion_words import EnglishHit, find_hits
from episodic_absa.backends.embedded.english.english_owners import ClauseFinder
from episodic_absa.backends.embedded.english.english_phrases import EnglishPhrase, find_phrases
from episodic_absa.backends.embedded.english.english_relatives import RelativeClause, find_relatives
from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens
from episodic_absa.backends.embedded.english.english_word_classes import read_tokens
from episodic_absa.backends.embedded.reading import Clause, Opinion, Reading, Word, build_reading
from episodic_absa.language import find_contrasts, find_ironies, find_negations


def read_english(text: str) -> Reading:
    """Read a text."""
    cues = (find_negations(text, "en"), find_contrasts(text, "en"), find_ironies(text, "en"))
    tokens = read_tokens(text)
    hits = find_hits(tokens)
    clause_of, clauses = split_clauses(tokens, hits)
    relatives = find_relatives(tokens, clause_of)
    phrases = find_phrases(tokens, hits, clause_of, relatives)
    opinions = _attach(tokens, hits, phrases, clause_of, clauses, relatives)
    words = [Word(*item, clause) for item, clause in zip(tokens.items, clause_of, strict=True)]
    return build_reading(text, "en", clauses, [phrase.target for phrase in phrases], opinions, cues, words)


def _attach(
    tokens: EnglishTokens,
    hits: Sequence[EnglishHit],
    phrases: Sequence[EnglishPhrase],
    clause_of: Sequence[int],
    clauses: Sequence[Clause],
    relatives: Sequence[RelativeClause],
) -> list[Opinion]:
    in_clause: dict[int, list[int]] = {}
    for index, phrase in enumerate(phrases):
        in_clause.setdefault(phrase.target.clause, []).append(index)
    finder = ClauseFinder(tokens, phrases, in_clause, clauses, relatives)
    opinions: list[Opinion] = []
    active: tuple[int, ...] = ()
    active_clause = -1
    for hit in hits:
        clause = clause_of[hit.first]
        owners = finder.owners(hit, clause)
        if not owners and not (hit.idiom is not None and hit.idiom.verdict):
            owners = finder.inherited(hit, clause, active, active_clause)
        if not owners and hit.is_absence:
            owners = finder.missed(hit, clause)
        if owners:
            active, active_clause = owners, clause
        opinions.append(_opinion(tokens, hit, owners, phrases, clause, clauses[clause]))
    return opinions


def _opinion(
    tokens: EnglishTokens,
    hit: EnglishHit,
    owners: tuple[int, ...],
    phrases: Sequence[EnglishPhrase],
    clause: int,
    where: Clause,
) -> Opinion:
    base = hit.score
    if hit.is_coloured and owners:
        phrase = phrases[owners[0]]
        base = tokens.lexicon.by_target[hit.form].score_for(tokens.forms[phrase.first : phrase.last + 1])
    base, quote_from = graded(tokens, hit, base)
    near_at = find_near_negation(tokens, hit, where)
    first = negated(base, negates=near_at is not None)
    far_at, note = find_far_negation(tokens, hit, near_at, where)
    full = first
    if note == "not only":
        full = base
    elif note:
        full = negated(first, negates=True)
    if where.is_question:
        first = full = 0.0
    elif is_wished(tokens, hit, where):
        first = full = -max(1.0, abs(base))
    if near_at is not None:
        quote_from = min(quote_from, near_at)
    scope_from = min(hit.first, far_at) if far_at is not None else hit.first
    return Opinion(
        start=tokens.items[quote_from].start,
        end=tokens.items[hit.last].end,
        form=hit.form,
        base=base,
        first=first,
        full=full,
        clause=clause,
        targets=owners,
        is_verdict=hit.idiom is not None and hit.idiom.verdict,
        scope_note=note,
        scope_start=tokens.items[scope_from].start if note else -1,
        scope_end=tokens.items[hit.last].end if note else -1,
        scope_is_plain=note in ("not only", "double negation"),
    )
