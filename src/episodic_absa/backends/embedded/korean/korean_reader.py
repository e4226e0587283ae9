"""Reads Korean by morphemes: ties every opinion to the noun phrase it is said of."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.backends.embedded.korean.korean_negation import (
    NEGATING_ADVERBS,
    KoreanNegation,
    find_negation,
    is_wished,
    negated,
)
from episodic_absa.backends.embedded.korean.korean_opinion_words import KoreanHit, find_hits
from episodic_absa.backends.embedded.korean.korean_phrases import KoreanPhrase, find_phrases, split_clauses
from episodic_absa.backends.embedded.korean.korean_tokens import KoreanTokens
from episodic_absa.backends.embedded.opinion_lexicon import korean_lexicon
from episodic_absa.backends.embedded.reading import Clause, Opinion, Reading, Word, build_reading
from episodic_absa.language import find_contrasts, find_ironies, find_negations, morphemes

_ADNOMINAL_LOOKAHEAD: Final = 6
_GENERAL: Final = frozenset(
    {
        "좋",
        "만족하",
        "만족",
        "만족스럽",
        "추천하",
        "추천",
        "괜찮",
        "아쉽",
        "실망하",
        "후회하",
        "행복하",
        "즐겁",
        "감사하",
    }
)
"""Said of the whole as easily as of a part: they do not reach back across a contrast."""


def read_korean(text: str) -> Reading:
    """Read a text; without an analyser nothing is found but the cues."""
    cues = (find_negations(text, "ko"), find_contrasts(text, "ko"), find_ironies(text, "ko"))
    items = morphemes(text) or ()
    forms, tags = [item.form for item in items], [item.tag.split("-")[0] for item in items]
    tokens = KoreanTokens(text, items, forms, tags, korean_lexicon())
    hits = find_hits(tokens)
    clause_of, clauses = split_clauses(tokens, hits, cues[1])
    phrases = find_phrases(tokens, hits, clause_of)
    opinions = _attach(tokens, hits, phrases, clause_of, clauses)
    words = [Word(*item, clause) for item, clause in zip(items, clause_of, strict=True)]
    return build_reading(text, "ko", clauses, [phrase.target for phrase in phrases], opinions, cues, words)


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
        owners = _owners_in_clause(tokens, hit, negation, phrases, in_clause.get(clause, ()))
        if not owners:
            owners = _inherited(hit, clause, clauses, phrases, in_clause, active, active_clause)
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
        base = tokens.lexicon.by_target[hit.form].score_for(tokens.forms[phrase.first : phrase.last + 1])
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
        scope_start=tokens.items[start_at].start if negation.note else -1,
        scope_end=_word_end(tokens.text, tokens.items[negation.end].end, len(tokens.text)) if negation.note else -1,
        scope_is_plain=negation.is_plain,
    )


def _word_end(text: str, at: int, limit: int) -> int:
    """Quote whole words: an ending belongs to its stem."""
    while at < min(limit, len(text)) and text[at].isalnum():
        at += 1
    return at


def _owners_in_clause(
    tokens: KoreanTokens,
    hit: KoreanHit,
    negation: KoreanNegation,
    phrases: Sequence[KoreanPhrase],
    candidates: Sequence[int],
) -> tuple[int, ...]:
    if hit.idiom is not None and hit.idiom.subject:
        own = tuple(index for index in candidates if phrases[index].first <= hit.first <= phrases[index].last)
        if own:
            return own
    before = [index for index in candidates if phrases[index].last < hit.first and phrases[index].target.is_nameable]
    adnominal = _is_adnominal(tokens, max(hit.last, negation.end))
    if adnominal:
        close = [
            index
            for index in before
            if hit.first - phrases[index].last <= 3 and phrases[index].target.case in ("subject", "bare")
        ]
        if close:
            return (close[-1],)
        head = next(
            (index for index in candidates if 0 < phrases[index].first - hit.last <= _ADNOMINAL_LOOKAHEAD), None
        )
        if head is not None and phrases[head].target.is_nameable:
            return (head,)
    for cases in (("subject",), ("topic", "object"), ("bare",)):
        found = [index for index in before if phrases[index].target.case in cases]
        if found:
            return _with_joined(phrases, before, found[-1])
    places = [index for index in before if _is_spoken_of_place(tokens, phrases[index])]
    if places:
        return (places[-1],)
    oblique = [
        index
        for index in before
        if phrases[index].target.case == "oblique" and tokens.form(phrases[index].last + 1) in ("에", "에서", "에는")
    ]
    return (oblique[-1],) if oblique and hit.form in tokens.lexicon.unwanted else ()


def _is_spoken_of_place(tokens: KoreanTokens, phrase: KoreanPhrase) -> bool:
    """A place with 에는 or 에도 is what the clause is about."""
    return tokens.form(phrase.last + 1) == "에" and tokens.form(phrase.last + 2) in ("는", "도", "ᆫ")


def _is_adnominal(tokens: KoreanTokens, last: int) -> bool:
    for at in range(last + 1, min(last + 5, len(tokens.items))):
        if tokens.tag(at) == "ETM" or (tokens.tag(at) == "JKG"):
            return True
        if tokens.tag(at) not in ("EP", "XSA", "XSV", "VCP", "VX") and tokens.forms[at] != "지":
            return False
    return False


def _with_joined(phrases: Sequence[KoreanPhrase], candidates: Sequence[int], owner: int) -> tuple[int, ...]:
    joined = [owner]
    position = candidates.index(owner)
    while position > 0 and phrases[candidates[position - 1]].joins_next:
        position -= 1
        joined.insert(0, candidates[position])
    return tuple(joined)


def _inherited(
    hit: KoreanHit,
    clause: int,
    clauses: Sequence[Clause],
    phrases: Sequence[KoreanPhrase],
    in_clause: dict[int, list[int]],
    active: tuple[int, ...],
    active_clause: int,
) -> tuple[int, ...]:
    """Take over what the clause before was about, if the sentence goes on about it."""
    if hit.idiom is not None and hit.idiom.verdict:
        return ()
    previous = clause - 1
    if active and active_clause >= previous and clauses[active_clause].sentence == clauses[clause].sentence:
        source, owners = active_clause, active
    elif previous >= 0 and clauses[previous].sentence == clauses[clause].sentence:
        nameable = [index for index in in_clause.get(previous, ()) if phrases[index].target.is_nameable]
        source = previous
        spoken_of = [index for index in nameable if phrases[index].target.case not in ("oblique", "genitive")]
        subjects = [index for index in spoken_of if phrases[index].target.case in ("subject", "topic")]
        owners = tuple((subjects or spoken_of)[-1:])
    else:
        return ()
    is_general = hit.form in _GENERAL or hit.form == "없"
    if clauses[source].side != clauses[clause].side and is_general:
        return ()
    return owners
