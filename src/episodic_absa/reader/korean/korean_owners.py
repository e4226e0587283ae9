"""Finds the noun phrases that a Korean opinion is said of: in its clause, else what the clauses before are about."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.reader.korean.korean_negation import KoreanNegation
from episodic_absa.reader.korean.korean_opinion_words import KoreanHit
from episodic_absa.reader.korean.korean_phrases import KoreanPhrase
from episodic_absa.reader.korean.korean_tokens import KoreanTokens
from episodic_absa.reader.korean.reading import Clause

_ADNOMINAL_LOOKAHEAD: Final = 6
_ADVERBIAL_LOOKAHEAD: Final = 4
_GENERAL: Final = frozenset(
    [
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
    ]
)
"""Said of the whole as easily as of a part: they do not reach back across a contrast."""
_FELT_ABOUT: Final = frozenset(
    [
        "만족하",
        "만족",
        "만족스럽",
        "대만족",
        "흡족하",
        "실망하",
        "실망",
        "실망스럽",
        "반하",
        "감동하",
        "감동",
        "감탄하",
        "감사하",
        "화나",
        "짜증나",
        "질리",
        "불만",
        "매료되",
        "후회하",
    ]
)
"""Feelings whose cause stands with 에: 서비스에 만족해요."""

_COMPARED: Final = frozenset({"다르", "똑같", "비슷하", "같"})
"""Said of one thing beside another: 사진이랑 색이 달라요 is about 색."""

_FOREIGN: Final = frozenset(
    {"머리카락", "벌레", "이물질", "바퀴벌레", "개미", "날파리", "철사", "비닐", "플라스틱", "수세미"}
)
"""What turns up where it does not belong."""


def owners_in_clause(
    tokens: KoreanTokens,
    hit: KoreanHit,
    negation: KoreanNegation,
    phrases: Sequence[KoreanPhrase],
    candidates: Sequence[int],
) -> tuple[int, ...]:
    """Return the phrases of its own clause that an opinion is said of."""
    before = _may_own(tokens, hit, phrases, candidates)
    own = _first_word_of(hit, phrases, candidates)
    if own is not None and hit.idiom is not None and hit.idiom.place:
        places = [index for index in before if tokens.form(phrases[index].last + 1) in ("에", "에서")]
        return (places[-1],) if places else (own,)
    if own is not None:
        spoken_of = [index for index in before if phrases[index].target.case in ("subject", "topic")]
        is_complement = tokens.tag(phrases[own].last + 1) == "JKC"
        is_said_of_other = spoken_of and (is_complement or phrases[own].target.case in ("object", "predicate"))
        return _with_joined(phrases, candidates, spoken_of[-1] if is_said_of_other else own)
    if _is_adnominal(tokens, max(hit.last, negation.end)):
        owner = _adnominal_owner(hit, phrases, candidates, before)
        if owner is not None:
            return _with_joined(phrases, candidates, owner) if owner in before else (owner,)
    if hit.form == "나오" and any(phrases[index].target.term in _FOREIGN for index in before):
        # 음식에서 머리카락이 나왔어요: the thing it happened to is the target.
        before = [index for index in before if phrases[index].target.term not in _FOREIGN] or before
        places = [index for index in before if tokens.form(phrases[index].last + 1) in ("에서", "에")]
        if places:
            return (places[-1],)
    inner = _inner_subject(tokens, hit, phrases, before)
    if inner is not None:
        return (inner,)
    for cases in (("subject",), ("topic", "object"), ("bare",)):
        found = [index for index in before if phrases[index].target.case in cases]
        if len(found) > 1 and tokens.tag(phrases[found[-1]].last + 1) == "JKC":
            # 쿠폰이 적용이 안 돼요: the second 이 marks what something fails to become.
            found.pop()
        if found:
            return (found[-1],) if hit.form in _COMPARED else _with_joined(phrases, before, found[-1])
    return _other_owner(tokens, hit, phrases, candidates, before)


def _may_own(
    tokens: KoreanTokens, hit: KoreanHit, phrases: Sequence[KoreanPhrase], candidates: Sequence[int]
) -> list[int]:
    """Return the phrases before an opinion that it can be said of."""
    before = [index for index in candidates if phrases[index].last < hit.first and phrases[index].target.is_nameable]
    if hit.idiom is not None and hit.idiom.comparison:
        before = [index for index in before if phrases[index].last < hit.first - 1]
    if hit.form in tokens.lexicon.bodily:
        before = [index for index in before if phrases[index].target.term not in tokens.lexicon.body_parts]
    return [index for index in before if not phrases[index].is_verbal]


def _inner_subject(
    tokens: KoreanTokens, hit: KoreanHit, phrases: Sequence[KoreanPhrase], before: Sequence[int]
) -> int | None:
    """Return a noun without a particle right before an adjective, behind a subject: 특선이 가성비 좋아요."""
    if not before or tokens.tag(hit.first) != "VA" or hit.idiom is not None:
        return None
    last = phrases[before[-1]]
    is_behind_subject = any(phrases[index].target.case in ("subject", "topic") for index in before[:-1])
    is_bare = last.target.case == "bare" and last.last == hit.first - 1
    return before[-1] if is_bare and is_behind_subject else None


def _first_word_of(hit: KoreanHit, phrases: Sequence[KoreanPhrase], candidates: Sequence[int]) -> int | None:
    """Return the phrase that an idiom's own first word belongs to, if that word is the target."""
    if hit.idiom is None or not hit.idiom.subject:
        return None
    own = (index for index in candidates if phrases[index].first <= hit.first <= phrases[index].last)
    return next((index for index in own if phrases[index].target.is_nameable), None)


def _adnominal_owner(
    hit: KoreanHit, phrases: Sequence[KoreanPhrase], candidates: Sequence[int], before: Sequence[int]
) -> int | None:
    """Return what an opinion before a noun is said of: its own subject (맛이 좋은 커피), else that noun."""
    close = [
        index
        for index in before
        if hit.first - phrases[index].last <= 3 and phrases[index].target.case in ("subject", "bare")
    ]
    if close:
        return close[-1]
    head = next((index for index in candidates if 0 < phrases[index].first - hit.last <= _ADNOMINAL_LOOKAHEAD), None)
    return head if head is not None and phrases[head].target.is_nameable else None


def _other_owner(
    tokens: KoreanTokens,
    hit: KoreanHit,
    phrases: Sequence[KoreanPhrase],
    candidates: Sequence[int],
    before: Sequence[int],
) -> tuple[int, ...]:
    """Return the owner of an opinion without a subject, topic or object: a place, a cause, an action."""
    places = [index for index in before if _is_spoken_of_place(tokens, phrases[index])]
    if places:
        return (places[-1],)
    oblique = [
        index
        for index in before
        if phrases[index].target.case == "oblique"
        and tokens.form(phrases[index].last + 1) in ("에", "에서", "에는", "에게", "께")
    ]
    has_cause = (
        hit.form in tokens.lexicon.unwanted or hit.form in _FELT_ABOUT or (hit.idiom is not None and hit.idiom.place)
    )
    if oblique and has_cause:
        return (oblique[-1],)
    if tokens.form(hit.last + 1) in ("게", "히"):
        # 친절하게 응대해 주셨어요: how something is done is said of the doing.
        done = [index for index in candidates if 0 < phrases[index].first - hit.last <= _ADVERBIAL_LOOKAHEAD]
        return tuple(index for index in done if phrases[index].is_verbal)[:1]
    return ()


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
    return tuple(index for index in joined if phrases[index].target.is_nameable)


def inherited_owners(
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
        nameable = [
            index
            for index in in_clause.get(previous, ())
            if phrases[index].target.is_nameable and not phrases[index].is_verbal
        ]
        source = previous
        spoken_of = [index for index in nameable if phrases[index].target.case not in ("oblique", "genitive")]
        subjects = [index for index in spoken_of if phrases[index].target.case in ("subject", "topic")]
        last = (subjects or spoken_of)[-1:]
        owners = _with_joined(phrases, nameable, last[0]) if last else ()
    else:
        return ()
    is_general = hit.form in _GENERAL or hit.form == "없"
    if clauses[source].side != clauses[clause].side and is_general:
        return ()
    return owners
