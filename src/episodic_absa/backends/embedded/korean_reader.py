"""Reads Korean by morphemes: opinion stems and their negation, clauses by endings, targets by particles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.opinion_lexicon import Idiom, OpinionLexicon, korean_lexicon
from episodic_absa.backends.embedded.reading import Case, Clause, Opinion, Reading, Target, build_reading
from episodic_absa.language import Cue, Morpheme, find_contrasts, find_ironies, find_negations, morphemes

_NOUNS: Final = frozenset({"NNG", "NNP", "SL", "XR", "XPN", "SH"})
_OPINION_TAGS: Final = frozenset({"NNG", "NNP", "XR", "VA", "VV", "MAG", "IC", "SL", "VX", "XSN", "MM", "XPN"})
_SUFFIX_TAGS: Final = ("XSA", "XSV", "XSN", "VCP", "VV", "VA", "VX")
_ADNOMINAL_LOOKAHEAD: Final = 6
# Endings that bind to what follows instead of closing a clause.
_BINDING_ENDINGS: Final = frozenset(
    {
        "게",
        "지",
        "어",
        "아",
        "다고",
        "라고",
        "자고",
        "냐고",
        "러",
        "려고",
        "도록",
        "어야",
        "을지",
        "ᆯ지",
        "는지",
        "은지",
        "ᆫ지",
    }
)
_NEGATING_ADVERBS: Final = frozenset({"안", "못"})
_NEGATING_STEMS: Final = frozenset({"않", "못하", "아니", "없"})
_DOUBTING_STEMS: Final = frozenset({"모르", "어렵", "힘들"})
_LIGHT_FORMS: Final = frozenset(
    {"하", "보", "생각", "같", "말", "점", "데", "수", "느끼", "것", "거", "줄", "되", "이", "리", "적"}
)
_CASES: Final[dict[str, Case]] = {
    "JKS": "subject",
    "JX": "topic",
    "JKO": "object",
    "JKG": "genitive",
    "JKC": "subject",
    "VCP": "predicate",
}
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
_NEGATED_PRAISE: Final = -0.8
_NEGATED_BLAME: Final = -0.6


class _Hit(NamedTuple):
    """An opinion by token positions, before it is scored."""

    first: int
    last: int
    form: str
    score: float
    idiom: Idiom | None = None
    is_coloured: bool = False
    """Its score depends on the target."""


class _Phrase(NamedTuple):
    """A noun phrase by token positions."""

    first: int
    last: int
    target: Target
    joins_next: bool


class _Negation(NamedTuple):
    near: int
    """Negations right beside the predicate."""
    far: int
    """Those further on that still govern it."""
    end: int
    """The token the last of them stands at."""
    note: str
    is_plain: bool


@dataclass(frozen=True, slots=True)
class _Tokens:
    text: str
    items: tuple[Morpheme, ...]
    forms: list[str]
    lexicon: OpinionLexicon

    def tag(self, at: int) -> str:
        return self.items[at].tag.split("-")[0] if 0 <= at < len(self.items) else ""

    def form(self, at: int) -> str:
        return self.forms[at] if 0 <= at < len(self.forms) else ""


def read_korean(text: str) -> Reading:
    """Read a text; without an analyser nothing is found but the cues."""
    cues = (find_negations(text, "ko"), find_contrasts(text, "ko"), find_ironies(text, "ko"))
    items = morphemes(text) or ()
    tokens = _Tokens(text, items, [item.form for item in items], korean_lexicon())
    hits = _find_hits(tokens)
    clause_of, clauses = _split_clauses(tokens, hits, cues[1])
    phrases = _find_phrases(tokens, hits, clause_of)
    opinions = _attach(tokens, hits, phrases, clause_of, clauses)
    return build_reading(text, "ko", clauses, [phrase.target for phrase in phrases], opinions, cues)


def _find_hits(tokens: _Tokens) -> list[_Hit]:
    hits: list[_Hit] = []
    at = 0
    while at < len(tokens.items):
        hit = _hit_at(tokens, at)
        if hit is None:
            at += 1
        else:
            if hit.idiom is None or not hit.idiom.skip:
                hits.append(hit)
            at = hit.last + 1
    return hits


def _hit_at(tokens: _Tokens, at: int) -> _Hit | None:
    found = tokens.lexicon.longest_idiom(tokens.forms, at)
    if found is not None:
        idiom, end = found
        return _Hit(at, end - 1, idiom.seq, idiom.score, idiom)
    if tokens.tag(at) not in _OPINION_TAGS:
        return None
    for length in (3, 2, 1):
        last = at + length - 1
        if last < len(tokens.items) and _is_one_word(tokens, at, last):
            form = "".join(tokens.forms[at : last + 1])
            hit = _word_hit(tokens, at, last, form)
            if hit is not None:
                return hit
    return _existence_hit(tokens, at)


def _word_hit(tokens: _Tokens, at: int, last: int, form: str) -> _Hit | None:
    lexicon = tokens.lexicon
    only = lexicon.only_as.get(form)
    if only is not None and tokens.tag(at) != only.split("-")[0]:
        return None
    colour = lexicon.by_target.get(form)
    if colour is not None:
        return _Hit(at, last, form, colour.other, is_coloured=True)
    score = lexicon.words.get(form)
    if score is None:
        return None
    # A verb made of a noun swallows its suffix, so that 추천 + 하 is one opinion.
    if (
        at == last
        and tokens.tag(at) in _NOUNS
        and tokens.tag(at + 1) in ("XSA", "XSV")
        and _is_one_word(tokens, at, at + 1)
    ):
        last += 1
    return _Hit(at, last, form, score)


def _existence_hit(tokens: _Tokens, at: int) -> _Hit | None:
    """없- and 있- judge by what is absent or present."""
    if tokens.tag(at) not in ("VA", "VV") or tokens.forms[at] not in ("없", "있", "나"):
        return None
    before = at - 1
    while tokens.tag(before).startswith("J") or tokens.tag(before) == "MAG":
        before -= 1
    is_unwanted = tokens.form(before) in tokens.lexicon.unwanted
    is_noun = tokens.tag(before) in ("NNG", "NNP")
    if tokens.forms[at] == "없" and is_noun:
        if not is_unwanted and tokens.form(before) in tokens.lexicon.not_targets:
            return None
        return _Hit(at, at, "없", 1.5 if is_unwanted else -1.5)
    if tokens.forms[at] != "없" and is_unwanted:
        return _Hit(at, at, tokens.forms[at], -1.5)
    return None


def _is_one_word(tokens: _Tokens, first: int, last: int) -> bool:
    return all(tokens.items[at].end >= tokens.items[at + 1].start for at in range(first, last)) and all(
        tokens.tag(at).startswith(_SUFFIX_TAGS) or tokens.tag(at) in _NOUNS for at in range(first + 1, last + 1)
    )


def _split_clauses(tokens: _Tokens, hits: Sequence[_Hit], contrasts: Sequence[Cue]) -> tuple[list[int], list[Clause]]:
    inside = {at for hit in hits for at in range(hit.first, hit.last)}
    # The analyser may take -는데 for a noun (는 + 데); the marker ends its clause all the same.
    marked = {cue.end for cue in contrasts if cue.form.startswith("-")}
    clause_of: list[int] = []
    clauses: list[Clause] = []
    first, sentence, passed = 0, 0, 0
    for at, item in enumerate(tokens.items):
        clause_of.append(len(clauses))
        ends_sentence = _ends_sentence(tokens, at)
        ends = ends_sentence or (at not in inside and (item.end in marked or _ends_clause(tokens, at)))
        if not ends and at < len(tokens.items) - 1:
            continue
        start = tokens.items[first].start
        while passed < len(contrasts) and contrasts[passed].start <= start:
            passed += 1
        forms = tokens.forms[first : at + 1]
        clauses.append(
            Clause(
                start,
                max(item.end, start),
                sentence,
                passed,
                is_question=forms[-1] == "?",
                is_conclusion=not tokens.lexicon.conclusions.isdisjoint(forms),
            )
        )
        first = at + 1
        sentence += ends_sentence
    return clause_of, clauses


def _ends_sentence(tokens: _Tokens, at: int) -> bool:
    tag, following = tokens.tag(at), tokens.tag(at + 1)
    if tag in ("SF", "SE"):
        return following not in ("SF", "SE")
    if "\n" in tokens.text[tokens.items[at].end : tokens.items[at + 1].start if following else None]:
        return True
    return tag == "EF" and following not in ("SF", "SE", "JX", "SSC", "")


def _ends_clause(tokens: _Tokens, at: int) -> bool:
    tag, following = tokens.tag(at), tokens.tag(at + 1)
    if tag == "EC":
        return tokens.forms[at] not in _BINDING_ENDINGS and following not in ("VX", "SP", "JX")
    # A comma between nouns is a list; after an ending it closes a clause.
    return tag == "SP" and (tokens.tag(at - 1).startswith("E") or tokens.tag(at - 1) in ("JX", "MAG", "VCP"))


def _find_phrases(tokens: _Tokens, hits: Sequence[_Hit], clause_of: Sequence[int]) -> list[_Phrase]:
    taken = {
        at
        for hit in hits
        for at in range(hit.first, hit.last + 1)
        if not (hit.idiom is not None and hit.idiom.subject and at == hit.first)
    }
    phrases: list[_Phrase] = []
    at = 0
    while at < len(tokens.items):
        if at in taken or tokens.tag(at) not in _NOUNS:
            at += 1
            continue
        last = at
        while _continues(tokens, last, taken, clause_of):
            last += 1
        phrase = _phrase(tokens, at, last, clause_of[at])
        if phrase is not None:
            phrases.append(phrase)
        at = last + 1
    return phrases


def _continues(tokens: _Tokens, last: int, taken: set[int], clause_of: Sequence[int]) -> bool:
    following = last + 1
    if following >= len(tokens.items) or following in taken or clause_of[following] != clause_of[last]:
        return False
    if tokens.tag(following) not in _NOUNS and not (tokens.tag(following) == "XSN" and tokens.forms[following] != "들"):
        return False
    gap = tokens.text[tokens.items[last].end : tokens.items[following].start]
    return gap in ("", " ")


def _phrase(tokens: _Tokens, first: int, last: int, clause: int) -> _Phrase | None:
    not_targets = tokens.lexicon.not_targets
    while first < last and tokens.forms[first] in not_targets:
        first += 1
    following = last + 1
    # 들 and 분 stay outside the term: 직원분들 is about 직원.
    while tokens.forms[following : following + 1] in (["들"], ["분"]) and tokens.tag(following) in ("XSN", "NNB"):
        following += 1
    tag = tokens.tag(following)
    if tag in ("XSV", "XSA") and tokens.items[last].end >= tokens.items[following].start:
        return None
    start, end = tokens.items[first].start, tokens.items[last].end
    term = tokens.text[start:end]
    case: Case = _CASES.get(tag, "oblique") if tag.startswith("J") or tag == "VCP" else "bare"
    is_nameable = tokens.forms[last] not in not_targets and term not in not_targets and tokens.tag(first) != "XPN"
    joins_next = (
        tag == "JC" or (tag == "SP" and case == "bare") or tokens.form(following) in ("과", "와", "랑", "이랑", "하고")
    )
    return _Phrase(first, last, Target(term, start, end, clause, case, is_nameable), joins_next)


def _negation_of(tokens: _Tokens, hit: _Hit) -> _Negation:
    near = int(tokens.form(hit.first - 1) in _NEGATING_ADVERBS and tokens.tag(hit.first - 1) == "MAG")
    far, end, note = 0, hit.last, ""
    is_idiom = hit.idiom is not None
    doubted = False
    at = hit.last + 1
    is_noun = tokens.tag(hit.last) in _NOUNS
    while at < len(tokens.items) and tokens.tag(at) not in ("EF", "SF", "SP"):
        form, tag = tokens.forms[at], tokens.tag(at)
        if form in _NEGATING_STEMS and tag in ("VX", "VV", "VA", "VCN"):
            beside = not is_idiom and _is_beside(tokens, hit.last, at, is_noun=is_noun)
            near, far = (near + 1, far) if beside and near == 0 else (near, far + 1)
            end = at
        elif (
            form in _DOUBTING_STEMS
            and tokens.tag(at - 1) in ("EC", "ETN", "NNB", "JX", "JKO")
            and tokens.form(at - 1) not in ("어서", "고")
        ):
            far, end, doubted = far + 1, at, True
        elif not _is_light(form, tag):
            break
        at += 1
    if far:
        note = "doubt" if doubted else ("double negation" if near else "distant negation")
    if (
        near
        and tokens.form(at) in ("나요", "나", "을까요", "ᆯ까요", "니")
        and tokens.tag(at) == "EF"
        and tokens.form(at + 1) == "?"
    ):
        far, note, end = far + 1, "rhetorical question", at
    return _Negation(near, far, end, note, note == "double negation")


def _is_light(form: str, tag: str) -> bool:
    """Whether a negation may reach back over this token."""
    if tag == "EC":
        return form in _BINDING_ENDINGS
    return tag.startswith(("E", "J")) or tag in ("NNB", "VX", "VCP", "MAG") or form in _LIGHT_FORMS


def _is_beside(tokens: _Tokens, last: int, at: int, *, is_noun: bool) -> bool:
    between = range(last + 1, at)
    if is_noun:
        return all(tokens.tag(index).startswith(("J", "E", "XS", "VCP")) for index in between) and len(between) <= 3
    forms = [tokens.forms[index] for index in between]
    return bool(forms) and forms[0] == "지" and len(forms) <= 2


def _scaled(tokens: _Tokens, hit: _Hit, score: float) -> float:
    nearby = tokens.forms[max(0, hit.first - 3) : hit.first]
    if not tokens.lexicon.intensifiers.isdisjoint(nearby):
        score *= 1.25
    if not tokens.lexicon.softeners.isdisjoint(nearby):
        score *= 0.7
    return max(-3.0, min(3.0, score))


def _negated(score: float, times: int) -> float:
    for _ in range(times):
        score *= _NEGATED_PRAISE if score > 0 else _NEGATED_BLAME
    return score


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
    # What the talk is about, clause by clause: an opinion that names nothing is about that.
    active: tuple[int, ...] = ()
    active_clause = -1
    for hit in hits:
        clause = clause_of[hit.first]
        negation = _negation_of(tokens, hit)
        owners = _owners_in_clause(tokens, hit, negation, phrases, in_clause.get(clause, ()))
        if not owners:
            owners = _inherited(hit, clause, clauses, phrases, in_clause, active, active_clause)
        if owners:
            active, active_clause = owners, clause
        opinions.append(_opinion(tokens, hit, negation, owners, phrases, clause, clauses[clause]))
    return opinions


def _opinion(
    tokens: _Tokens,
    hit: _Hit,
    negation: _Negation,
    owners: tuple[int, ...],
    phrases: Sequence[_Phrase],
    clause: int,
    where: Clause,
) -> Opinion:
    base = hit.score
    if hit.is_coloured and owners:
        phrase = phrases[owners[0]]
        base = tokens.lexicon.by_target[hit.form].score_for(tokens.forms[phrase.first : phrase.last + 1])
    base = _scaled(tokens, hit, base)
    first = _negated(base, negation.near)
    full = _negated(base, (negation.near + negation.far) % 2) if negation.far else first
    if where.is_question and negation.note != "rhetorical question":
        first = full = 0.0
    start_at = hit.first - 1 if negation.near and tokens.form(hit.first - 1) in _NEGATING_ADVERBS else hit.first
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
    tokens: _Tokens, hit: _Hit, negation: _Negation, phrases: Sequence[_Phrase], candidates: Sequence[int]
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
    oblique = [
        index
        for index in before
        if phrases[index].target.case == "oblique" and tokens.form(phrases[index].last + 1) in ("에", "에서", "에는")
    ]
    return (oblique[-1],) if oblique and hit.form in tokens.lexicon.unwanted else ()


def _is_adnominal(tokens: _Tokens, last: int) -> bool:
    for at in range(last + 1, min(last + 5, len(tokens.items))):
        if tokens.tag(at) == "ETM" or (tokens.tag(at) == "JKG"):
            return True
        if tokens.tag(at) not in ("EP", "XSA", "XSV", "VCP", "VX") and tokens.forms[at] != "지":
            return False
    return False


def _with_joined(phrases: Sequence[_Phrase], candidates: Sequence[int], owner: int) -> tuple[int, ...]:
    joined = [owner]
    position = candidates.index(owner)
    while position > 0 and phrases[candidates[position - 1]].joins_next:
        position -= 1
        joined.insert(0, candidates[position])
    return tuple(joined)


def _inherited(
    hit: _Hit,
    clause: int,
    clauses: Sequence[Clause],
    phrases: Sequence[_Phrase],
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
        owners = tuple(index for index in nameable[-1:] if phrases[index].target.case not in ("oblique", "genitive"))
    else:
        return ()
    is_general = hit.form in _GENERAL or hit.form == "없"
    if clauses[source].side != clauses[clause].side and is_general:
        return ()
    return owners
