"""Reads Korean by morphemes: ties every opinion to the noun phrase it is said of."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.language import find_contrasts, morphemes
from episodic_absa.reader.korean.korean_negation import (
    NEGATING_ADVERBS,
    KoreanNegation,
    find_negation,
    is_wished,
    negated,
)
from episodic_absa.reader.korean.korean_opinion_words import KoreanHit, find_hits
from episodic_absa.reader.korean.korean_owners import inherited_owners, owners_in_clause
from episodic_absa.reader.korean.korean_phrases import KoreanPhrase, find_phrases, split_clauses
from episodic_absa.reader.korean.korean_repairs import repaired
from episodic_absa.reader.korean.korean_tokens import KoreanTokens
from episodic_absa.reader.korean.opinion_lexicon import korean_lexicon
from episodic_absa.reader.korean.reading import Clause, Opinion, Reading, Word, build_reading

_MEASURES: Final = frozenset({"크", "작", "길", "짧", "얇", "두껍", "달", "맵", "높", "낮", "적", "세"})
_TOO_MUCH: Final = -1.5
"""What 너무 makes of a measure that is neither good nor bad in itself."""


def read_korean(text: str) -> Reading:
    """Read a text; without an analyser nothing is found but contrasts."""
    contrasts = find_contrasts(text, "ko")
    items = repaired(text, morphemes(text) or ())
    forms, tags = [item.form for item in items], [item.tag.split("-")[0] for item in items]
    tokens = KoreanTokens(text, items, forms, tags, korean_lexicon())
    hits = find_hits(tokens)
    clause_of, clauses = split_clauses(tokens, hits, contrasts)
    phrases = find_phrases(tokens, hits, clause_of)
    opinions = _attach(tokens, hits, phrases, clause_of, clauses)
    words = [Word(*item, clause) for item, clause in zip(items, clause_of, strict=True)]
    return build_reading(text, clauses, [phrase.target for phrase in phrases], opinions, contrasts, words)


def _scaled(tokens: KoreanTokens, hit: KoreanHit, score: float) -> float:
    nearby = tokens.forms[max(0, hit.first - 3) : hit.first]
    if not tokens.lexicon.intensifiers.isdisjoint(nearby):
        score *= 1.25
    if not tokens.lexicon.softeners.isdisjoint(nearby):
        score *= 0.7
    return max(-3.0, min(3.0, score))


def _attach(
    tokens: KoreanTokens,
    hits: Sequence[KoreanHit],
    phrases: Sequence[KoreanPhrase],
    clause_of: Sequence[int],
    clauses: Sequence[Clause],
) -> list[Opinion]:
    in_clause: dict[int, list[int]] = {}
    for index, phrase in enumerate(phrases):
        in_clause.setdefault(phrase.target.clause, []).append(index)
    opinions: list[Opinion] = []
    # What the talk is about, clause by clause: an opinion that names nothing is about that.
    active: tuple[int, ...] = ()
    active_clause = -1
    for hit in hits:
        clause = clause_of[hit.first]
        negation = find_negation(tokens, hit)
        owners = owners_in_clause(tokens, hit, negation, phrases, in_clause.get(clause, ()))
        if not owners:
            owners = inherited_owners(hit, clause, clauses, phrases, in_clause, active, active_clause)
        if owners:
            active, active_clause = owners, clause
        opinions.append(_opinion(tokens, hit, negation, owners, phrases, clause, clauses[clause]))
    return opinions


def _opinion(
    tokens: KoreanTokens,
    hit: KoreanHit,
    negation: KoreanNegation,
    owners: tuple[int, ...],
    phrases: Sequence[KoreanPhrase],
    clause: int,
    where: Clause,
) -> Opinion:
    base = hit.score
    if hit.is_coloured and owners:
        phrase = phrases[owners[0]]
        colour = tokens.lexicon.by_target[hit.form]
        base = colour.score_for(tokens.forms[phrase.first : phrase.last + 1])
        if base == colour.other and hit.form in _MEASURES and "너무" in tokens.forms[max(0, hit.first - 2) : hit.first]:
            base = _TOO_MUCH
    base = _scaled(tokens, hit, base)
    first = negated(base, negation.near)
    full = negated(base, (negation.near + negation.far) % 2) if negation.far else first
    if where.is_question and negation.note != "rhetorical question":
        first = full = 0.0
    elif is_wished(tokens, hit):
        first = full = -max(1.0, abs(base))
    start_at = hit.first - 1 if negation.near and tokens.form(hit.first - 1) in NEGATING_ADVERBS else hit.first
    end = tokens.items[max(hit.last, negation.end if negation.near else hit.last)].end
    end = _word_end(tokens.text, end, where.end)
    return Opinion(
        start=tokens.items[start_at].start,
        end=end,
        form=hit.form,
        base=base,
        first=first,
        full=full,
        clause=clause,
        targets=owners,
        is_verdict=hit.idiom is not None and hit.idiom.verdict,
        scope_note=negation.note,
    )


def _word_end(text: str, at: int, limit: int) -> int:
    """Quote whole words: an ending belongs to its stem."""
    while at < min(limit, len(text)) and text[at].isalnum():
        at += 1
    return at
