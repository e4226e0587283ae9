"""Reads English: ties every opinion to the noun phrase it is said of."""

from collections.abc import Sequence

from episodic_absa.backends.embedded.english.english_negation import (
    find_far_negation,
    find_near_negation,
    graded,
    is_wished,
    negated,
)
from episodic_absa.backends.embedded.english.english_opinion_words import EnglishHit, find_hits
from episodic_absa.backends.embedded.english.english_phrases import EnglishPhrase, find_phrases, split_clauses
from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens, tagged
from episodic_absa.backends.embedded.opinion_lexicon import (
    english_lexicon,
)
from episodic_absa.backends.embedded.reading import Clause, Opinion, Reading, Word, build_reading
from episodic_absa.language import find_contrasts, find_ironies, find_negations


def read_english(text: str) -> Reading:
    """Read a text."""
    cues = (find_negations(text, "en"), find_contrasts(text, "en"), find_ironies(text, "en"))
    items = tagged(text)
    tokens = EnglishTokens(text, items, [item.word for item in items], english_lexicon())
    hits = find_hits(tokens)
    clause_of, clauses = split_clauses(tokens, hits)
    phrases = find_phrases(tokens, hits, clause_of)
    opinions = _attach(tokens, hits, phrases, clause_of, clauses)
    words = [Word(*item, clause) for item, clause in zip(items, clause_of, strict=True)]
    return build_reading(text, "en", clauses, [phrase.target for phrase in phrases], opinions, cues, words)


def _attach(
    tokens: EnglishTokens,
    hits: Sequence[EnglishHit],
    phrases: Sequence[EnglishPhrase],
    clause_of: Sequence[int],
    clauses: Sequence[Clause],
) -> list[Opinion]:
    in_clause: dict[int, list[int]] = {}
    for index, phrase in enumerate(phrases):
        in_clause.setdefault(phrase.target.clause, []).append(index)
    opinions: list[Opinion] = []
    active: tuple[int, ...] = ()
    active_clause = -1
    for hit in hits:
        clause = clause_of[hit.first]
        candidates = in_clause.get(clause, [])
        owners = _owners_in_clause(tokens, hit, phrases, candidates)
        if not owners and not (hit.idiom is not None and hit.idiom.verdict):
            owners = _inherited(tokens, hit, clause, clauses, active, active_clause, in_clause, phrases)
        if owners:
            active, active_clause = owners, clause
        opinions.append(_opinion(tokens, hit, owners, phrases, clause, clauses[clause]))
    return opinions


def _owners_in_clause(
    tokens: EnglishTokens, hit: EnglishHit, phrases: Sequence[EnglishPhrase], candidates: Sequence[int]
) -> tuple[int, ...]:
    after = [index for index in candidates if phrases[index].first > hit.last]
    before = [index for index in candidates if phrases[index].last < hit.first and phrases[index].target.is_nameable]
    if hit.is_object_verb or (hit.idiom is not None and hit.idiom.object):
        objects = [index for index in after if phrases[index].target.is_nameable]
        if objects:
            return _with_joined(tokens, phrases, objects, objects[0])
    if hit.idiom is None and after and phrases[after[0]].modifiers_from <= hit.first and not hit.is_object_verb:
        head = after[0]
        if phrases[head].target.is_nameable:
            return _with_joined(
                tokens, phrases, [index for index in after if phrases[index].target.is_nameable], head, only_bare=True
            )
    own = [index for index in before if phrases[index].target.case != "oblique" or _is_counted(tokens, phrases[index])]
    if own:
        # The subject comes first; what stands between it and the opinion is an object or a place.
        subjects = [index for index in own if phrases[index].target.case in ("subject", "bare")] or own
        return _with_earlier(tokens, phrases, own, subjects[-1])
    about = [
        index
        for index in after
        if phrases[index].after_preposition in ("about", "with", "of") and phrases[index].target.is_nameable
    ]
    if about:
        return (about[0],)
    # Nothing about the room was clean: with no subject to name, the place or topic it is said of.
    return tuple(before[-1:])


def _is_counted(tokens: EnglishTokens, phrase: EnglishPhrase) -> bool:
    """Return whether the phrase counts a noun: "two of the glasses" is about glasses."""
    before = phrase.modifiers_from - 2
    return phrase.after_preposition == "of" and (
        tokens.tag(before) in ("#", "D")
        or tokens.form(before) in ("two", "three", "four", "one", "lot", "none", "couple")
    )


def _with_joined(
    tokens: EnglishTokens,
    phrases: Sequence[EnglishPhrase],
    candidates: Sequence[int],
    owner: int,
    *,
    only_bare: bool = False,
) -> tuple[int, ...]:
    """Add what "and" joins to the owner: love the food and the wine; but not great food and friendly staff."""
    joined = [owner]
    for index in candidates[candidates.index(owner) + 1 :]:
        gap = tokens.forms[phrases[joined[-1]].last + 1 : phrases[index].modifiers_from]
        has_own_modifier = phrases[index].modifiers_from < phrases[index].first
        if gap not in (["and"], [","], [",", "and"], ["or"]) or (only_bare and has_own_modifier):
            break
        joined.append(index)
    return tuple(joined)


def _with_earlier(
    tokens: EnglishTokens, phrases: Sequence[EnglishPhrase], candidates: Sequence[int], owner: int
) -> tuple[int, ...]:
    joined = [owner]
    position = candidates.index(owner)
    while position > 0:
        earlier = phrases[candidates[position - 1]]
        gap = tokens.forms[earlier.last + 1 : phrases[joined[0]].modifiers_from]
        if gap not in (["and"], [","], [",", "and"], ["or"]):
            break
        position -= 1
        joined.insert(0, candidates[position])
    return tuple(joined)


def _inherited(
    tokens: EnglishTokens,
    hit: EnglishHit,
    clause: int,
    clauses: Sequence[Clause],
    active: tuple[int, ...],
    active_clause: int,
    in_clause: dict[int, list[int]],
    phrases: Sequence[EnglishPhrase],
) -> tuple[int, ...]:
    """Take over what the sentence was about, unless the clause speaks of the writer."""
    where = clauses[clause]
    speaks_of_writer = any(
        tokens.form(at) in ("i", "we", "you", "there")
        for at in range(max(0, hit.first - 4), hit.first)
        if tokens.items[at].start >= where.start
    )
    if speaks_of_writer:
        return ()
    if active and clauses[active_clause].sentence == where.sentence:
        return active
    previous = clause - 1
    if previous >= 0 and clauses[previous].sentence == where.sentence:
        nameable = [
            index
            for index in in_clause.get(previous, ())
            if phrases[index].target.is_nameable and phrases[index].target.case != "oblique"
        ]
        return tuple(nameable[:1])
    return ()


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
