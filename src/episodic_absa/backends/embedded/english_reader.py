"""Reads English by word lists and word shapes: noun phrases, clauses, opinion words and what they are said of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

from episodic_absa.backends.embedded.opinion_lexicon import (
    Idiom,
    OpinionLexicon,
    english_lexicon,
    english_words,
    vader_scores,
)
from episodic_absa.backends.embedded.reading import Case, Clause, Opinion, Reading, Target, build_reading
from episodic_absa.language import find_contrasts, find_ironies, find_negations

Tag = Literal["D", "P", "I", "C", "X", "V", "A", "R", "N", "S", "#"]
"""Determiner, pronoun, preposition, conjunction, auxiliary, verb, adjective, adverb, noun, sign, number."""

_TOKEN: Final = re.compile(
    r"n['’]t\b|['’](?:s|re|m|ll|ve|d)\b|[^\W\d_]+(?:-[^\W\d_]+)*?(?=n['’]t\b)|[^\W\d_]+(?:-[^\W\d_]+)*|\d+(?:[.,:]\d+)*|\S"
)
_SENTENCE_END: Final = frozenset(".!?;")
_NEGATORS: Final = frozenset({"not", "n't", "never", "no", "without", "hardly", "cannot", "barely", "neither", "nor"})
_FAR_NEGATORS: Final = frozenset(
    {"not", "n't", "never", "nothing", "nobody", "none", "no", "hardly", "cannot", "without"}
)
_OPINION_VERBS: Final = frozenset(
    {"think", "say", "call", "believe", "find", "consider", "expect", "describe", "feel", "imagine", "claim"}
)
_SUBORDINATE: Final = frozenset({"although", "though", "while"})
_NEAR: Final = 3
"""How many tokens before an opinion word plain negation reaches."""
_ADJECTIVE: Final = re.compile(r".(?:ous|ful|ive|able|ible|less|ish|est)$")
_ADJECTIVES_IN_LY: Final = frozenset({"friendly", "unfriendly", "user-friendly", "lovely", "lively", "ugly", "costly"})
_PREFERS_NOUN_AFTER: Final = frozenset({"D", "A", "N"})
_NEGATED_PRAISE: Final = -0.8
_NEGATED_BLAME: Final = -0.6
_MIN_VADER: Final = 1.2


class _Token(NamedTuple):
    word: str
    tag: Tag
    start: int
    end: int


class _Hit(NamedTuple):
    first: int
    last: int
    form: str
    score: float
    idiom: Idiom | None = None
    is_object_verb: bool = False
    is_coloured: bool = False


class _Phrase(NamedTuple):
    first: int
    last: int
    target: Target
    modifiers_from: int
    after_preposition: str


@dataclass(frozen=True, slots=True)
class _Tokens:
    text: str
    items: list[_Token]
    forms: list[str]
    lexicon: OpinionLexicon

    def form(self, at: int) -> str:
        return self.forms[at] if 0 <= at < len(self.forms) else ""

    def tag(self, at: int) -> str:
        return self.items[at].tag if 0 <= at < len(self.items) else ""


def read_english(text: str) -> Reading:
    """Read a text."""
    cues = (find_negations(text, "en"), find_contrasts(text, "en"), find_ironies(text, "en"))
    items = _tagged(text)
    tokens = _Tokens(text, items, [item.word for item in items], english_lexicon())
    hits = _find_hits(tokens)
    clause_of, clauses = _split_clauses(tokens, hits)
    phrases = _find_phrases(tokens, hits, clause_of)
    opinions = _attach(tokens, hits, phrases, clause_of, clauses)
    return build_reading(text, "en", clauses, [phrase.target for phrase in phrases], opinions, cues)


def _tagged(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    before: Tag = "S"
    for match in _TOKEN.finditer(text):
        word = match.group().lower().replace("’", "'")
        tag = _tag(word, before)
        tokens.append(_Token(word, tag, match.start(), match.end()))
        before = tag
    return tokens


def _tag(word: str, before: Tag) -> Tag:
    known = _closed_class(word)
    if known is not None:
        return known
    words = english_words()
    if word in words.links and before == "N":
        return "V"
    if word in words.verb_nouns or word.removesuffix("s") in words.verb_nouns:
        return "N" if before in ("D", "A", "N", "S", "I") else "V"
    if word in words.nouns:
        return "N"
    if word in words.adjectives or _is_opinion_adjective(word):
        return "A"
    if word in _verb_forms():
        return "N" if before == "D" and not word.endswith("ed") else "V"
    return _by_shape(word, before)


@lru_cache(maxsize=4096)
def _closed_class(word: str) -> Tag | None:
    words = english_words()
    if not word[0].isalpha() and word not in words.auxiliaries:
        return "#" if word[0].isdigit() else "S"
    table: tuple[tuple[frozenset[str], Tag], ...] = (
        (words.auxiliaries, "X"),
        (words.determiners, "D"),
        (words.pronouns, "P"),
        (words.conjunctions, "C"),
        (words.prepositions, "I"),
    )
    for members, tag in table:
        if word in members:
            return tag
    # Both lists hold "long" and "pretty"; the opinion reading comes first.
    return "R" if word in words.adverbs and word not in words.adjectives else None


def _by_shape(word: str, before: Tag) -> Tag:
    if word.endswith("ly"):
        return "R"
    if word.endswith("ing") and len(word) > 4:
        return "N" if before in _PREFERS_NOUN_AFTER else "V"
    if word.endswith("ed") and len(word) > 4:
        return "V"
    return "A" if _ADJECTIVE.search(word) and len(word) > 5 else "N"


@lru_cache(maxsize=4096)
def _is_opinion_adjective(word: str) -> bool:
    lexicon = english_lexicon()
    if word in english_words().not_targets or (word.endswith("ly") and word not in _ADJECTIVES_IN_LY):
        return False
    return (word in lexicon.words or word in lexicon.by_target) and word not in lexicon.object_verbs


@cache
def _verb_forms() -> frozenset[str]:
    forms: set[str] = set()
    for verb in english_words().verbs | english_lexicon().object_verbs.keys():
        stem = verb.removesuffix("e")
        forms |= {
            verb,
            f"{verb}s",
            f"{verb}es",
            f"{stem}ed",
            f"{stem}ing",
            f"{verb}{verb[-1]}ed",
            f"{verb}{verb[-1]}ing",
        }
        if verb.endswith("y"):
            forms |= {f"{verb[:-1]}ies", f"{verb[:-1]}ied"}
    return frozenset(forms)


def _find_hits(tokens: _Tokens) -> list[_Hit]:
    hits: list[_Hit] = []
    at = 0
    while at < len(tokens.items):
        hit = _hit_at(tokens, at)
        if hit is None:
            at += 1
            continue
        if hit.idiom is None or not hit.idiom.skip:
            hits.append(hit)
        at = hit.last + 1
    return hits


def _hit_at(tokens: _Tokens, at: int) -> _Hit | None:
    found = tokens.lexicon.longest_idiom(tokens.forms, at)
    if found is not None and _holds(tokens, *found):
        idiom, end = found
        end += idiom.comparative
        return _Hit(at, end - 1 - idiom.keep_last, idiom.seq, idiom.score, idiom)
    word = tokens.forms[at]
    verb = tokens.lexicon.object_verbs.get(word)
    if verb is not None and (tokens.tag(at) == "V" or word not in tokens.lexicon.words) and tokens.tag(at) != "I":
        return _Hit(at, at, word, verb, is_object_verb=True)
    if (
        word in ("like", "likes", "liked")
        and tokens.tag(at - 1) in ("P", "X", "R", "N")
        and tokens.form(at - 1) in ("i", "we", "n't", "not", "really", "also", "they", "you", "did")
    ):
        return _Hit(at, at, word, 2.0, is_object_verb=True)
    colour = tokens.lexicon.by_target.get(word)
    if colour is not None:
        return _Hit(at, at, word, colour.other, is_coloured=True)
    score = _word_score(word)
    if score is not None and not (word == "pretty" and tokens.tag(at + 1) in ("A", "R")):
        return _Hit(at, at, word, score)
    # Too much of anything displeases.
    if tokens.form(at - 1) == "too" and tokens.tag(at) == "A":
        return _Hit(at, at, word, -1.0)
    return None


def _holds(tokens: _Tokens, idiom: Idiom, end: int) -> bool:
    if not idiom.comparative:
        return True
    word = tokens.form(end)
    return word in ("better", "more", "less") or (word.endswith("er") and tokens.tag(end) == "A")


@lru_cache(maxsize=8192)
def _word_score(word: str) -> float | None:
    lexicon = english_lexicon()
    score = lexicon.words.get(word)
    if score is not None:
        return score
    words = english_words()
    if word in lexicon.not_opinions or word in words.nouns or not word[0].isalpha():
        return None
    found = vader_scores().get(word)
    if found is None or abs(found) < _MIN_VADER:
        return None
    # VADER runs to 4; our strengths run to 3.
    return max(-3.0, min(3.0, found * 0.9))


def _split_clauses(tokens: _Tokens, hits: Sequence[_Hit]) -> tuple[list[int], list[Clause]]:
    inside = {at for hit in hits for at in range(hit.first + 1, hit.last + 1)}
    clause_of: list[int] = []
    clauses: list[Clause] = []
    first, sentence, side = 0, 0, 0
    pending_comma = False
    has_verb = False
    last_at = len(tokens.items) - 1
    for at, item in enumerate(tokens.items):
        is_start = at == first
        word = item.word
        if _is_contrast(word) and not (is_start and word in _SUBORDINATE):
            # The marker opens the clause after it.
            if not is_start:
                clauses.append(_clause(tokens, first, at - 1, sentence, side))
                first, has_verb = at, False
            side += 1
        elif is_start and word in _SUBORDINATE:
            pending_comma = True
        elif not is_start and at not in inside and _opens_clause(tokens, at, has_verb=has_verb):
            clauses.append(_clause(tokens, first, at - 1, sentence, side))
            first, has_verb = at, False
        has_verb = has_verb or item.tag in ("V", "X")
        clause_of.append(len(clauses))
        ends_sentence = (word in _SENTENCE_END and tokens.form(at + 1) not in _SENTENCE_END) or "\n" in _gap(tokens, at)
        ends_clause = (
            word == "," and at not in inside and (pending_comma or _closes_clause(tokens, at, first, has_verb=has_verb))
        )
        if ends_sentence or ends_clause or at == last_at:
            clauses.append(_clause(tokens, first, at, sentence, side))
            first, has_verb = at + 1, False
            side += pending_comma and ends_clause
            pending_comma = pending_comma and not (ends_clause or ends_sentence)
            sentence += ends_sentence
    return clause_of, clauses


def _gap(tokens: _Tokens, at: int) -> str:
    end = tokens.items[at].end
    return tokens.text[end : tokens.items[at + 1].start] if at + 1 < len(tokens.items) else ""


def _is_contrast(word: str) -> bool:
    return word in ("but", "however", "yet") or word in _SUBORDINATE


def _clause(tokens: _Tokens, first: int, last: int, sentence: int, side: int) -> Clause:
    forms = tokens.forms[first : last + 1]
    return Clause(
        tokens.items[first].start,
        tokens.items[last].end,
        sentence,
        side,
        is_question=forms[-1] == "?" and forms[0] not in ("who", "what"),
        is_conclusion=not tokens.lexicon.conclusions.isdisjoint(forms),
    )


def _opens_clause(tokens: _Tokens, at: int, *, has_verb: bool) -> bool:
    if tokens.forms[at] not in ("and", "so", "because", "since", "when", "plus", "or"):
        return False
    return has_verb and _subject_and_verb_follow(tokens, at + 1)


def _closes_clause(tokens: _Tokens, at: int, first: int, *, has_verb: bool) -> bool:
    """A comma in a list of nouns closes nothing."""
    following = tokens.tag(at + 1)
    if has_verb:
        return True
    is_list = (
        tokens.tag(at - 1) == "N"
        and following in ("N", "D")
        and at - first <= 3
        and _word_score(tokens.forms[first]) is None
    )
    return not is_list


def _subject_and_verb_follow(tokens: _Tokens, at: int) -> bool:
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


def _find_phrases(tokens: _Tokens, hits: Sequence[_Hit], clause_of: Sequence[int]) -> list[_Phrase]:
    taken = {at for hit in hits for at in range(hit.first, hit.last + 1)}
    phrases: list[_Phrase] = []
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
            and _gap(tokens, last) == " "
        ):
            last += 1
        phrases.append(_phrase(tokens, at, last, clause_of[at], taken))
        at = last + 1
    return phrases


def _phrase(tokens: _Tokens, first: int, last: int, clause: int, taken: set[int]) -> _Phrase:
    words = english_words()
    while first < last and tokens.forms[first] in words.not_targets:
        first += 1
    modifiers = first
    while tokens.tag(modifiers - 1) in ("A", "D", "#") or (
        modifiers - 1 in taken and tokens.tag(modifiers - 1) in ("V", "N", "A")
    ):
        modifiers -= 1
    before = tokens.form(modifiers - 1) if tokens.tag(modifiers - 1) == "I" else ""
    start, end = tokens.items[first].start, tokens.items[last].end
    case: Case = "bare"
    if before:
        case = "oblique"
    elif tokens.tag(modifiers - 1) == "V":
        case = "object"
    elif tokens.tag(last + 1) in ("X", "V"):
        case = "subject"
    # "life" names nothing, "battery life" does.
    is_nameable = (last > first or tokens.forms[last] not in words.not_targets) and end - start > 1
    return _Phrase(
        first, last, Target(tokens.text[start:end], start, end, clause, case, is_nameable), modifiers, before
    )


def _attach(
    tokens: _Tokens,
    hits: Sequence[_Hit],
    phrases: Sequence[_Phrase],
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
    tokens: _Tokens, hit: _Hit, phrases: Sequence[_Phrase], candidates: Sequence[int]
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
    own = [index for index in before if phrases[index].target.case != "oblique"]
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
    return ()


def _with_joined(
    tokens: _Tokens, phrases: Sequence[_Phrase], candidates: Sequence[int], owner: int, *, only_bare: bool = False
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
    tokens: _Tokens, phrases: Sequence[_Phrase], candidates: Sequence[int], owner: int
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
    tokens: _Tokens,
    hit: _Hit,
    clause: int,
    clauses: Sequence[Clause],
    active: tuple[int, ...],
    active_clause: int,
    in_clause: dict[int, list[int]],
    phrases: Sequence[_Phrase],
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
    tokens: _Tokens, hit: _Hit, owners: tuple[int, ...], phrases: Sequence[_Phrase], clause: int, where: Clause
) -> Opinion:
    base = hit.score
    if hit.is_coloured and owners:
        phrase = phrases[owners[0]]
        base = tokens.lexicon.by_target[hit.form].score_for(tokens.forms[phrase.first : phrase.last + 1])
    base, quote_from = _graded(tokens, hit, base)
    near_at = _near_negation(tokens, hit, where)
    first = _negated(base, negates=near_at is not None)
    far_at, note = _far_negation(tokens, hit, near_at, where)
    full = first
    if note == "not only":
        full = base
    elif note:
        full = _negated(first, negates=True)
    if where.is_question:
        first = full = 0.0
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


def _graded(tokens: _Tokens, hit: _Hit, score: float) -> tuple[float, int]:
    before = tokens.form(hit.first - 1)
    if before == "too" and hit.idiom is None and score < 2.5:
        return -max(1.5, abs(score)), hit.first - 1
    if before in tokens.lexicon.intensifiers:
        return max(-3.0, min(3.0, score * 1.25)), hit.first - 1
    if before in tokens.lexicon.softeners:
        return score * 0.7, hit.first - 1
    return score, hit.first


def _near_negation(tokens: _Tokens, hit: _Hit, where: Clause) -> int | None:
    if hit.idiom is not None:
        return None
    for at in range(hit.first - 1, max(-1, hit.first - 1 - _NEAR), -1):
        if tokens.items[at].start < where.start or tokens.forms[at] in (",", "but"):
            return None
        if tokens.forms[at] in _NEGATORS:
            return at
    return None


def _far_negation(tokens: _Tokens, hit: _Hit, near_at: int | None, where: Clause) -> tuple[int | None, str]:
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


def _negated(score: float, *, negates: bool) -> float:
    if not negates:
        return score
    return score * (_NEGATED_PRAISE if score > 0 else _NEGATED_BLAME)
