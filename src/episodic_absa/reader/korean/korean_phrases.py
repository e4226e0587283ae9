"""Splits a Korean text into clauses by endings and finds noun phrases with the role their particle gives them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.language import Cue
from episodic_absa.reader.korean.korean_opinion_words import KoreanHit
from episodic_absa.reader.korean.korean_tokens import BINDING_ENDINGS, NOUNS, KoreanTokens
from episodic_absa.reader.korean.reading import Case, Clause, Target

_ASIDE: Final = frozenset({"없이", "마다", "부터", "까지"})
"""A noun before these is not what the clause is about."""
_AGAINST: Final = frozenset({"대비", "치고"})
"""What stands before it is only what the target is measured by: 용량 대비 가격."""
_TRAILING: Final = frozenset({"대비", "위주", "중심", "모두", "전부"})
"""Nouns that only say how the nouns before them are meant: 실습 위주, 수목원 모두."""
_MEALTIMES: Final = frozenset({"아침", "점심", "저녁"})
"""Times by themselves, part of the name of a meal (아침 식사)."""
_OF_MANY: Final = ("들", "분")
"""Suffixes that name the same thing as the noun before them."""
_JOINING: Final = frozenset({"과", "와", "랑", "이랑", "하고"})
_SERVICES: Final = frozenset(
    [
        "응대",
        "설명",
        "배송",
        "포장",
        "상담",
        "진료",
        "안내",
        "서빙",
        "관리",
        "청소",
        "설치",
        "수리",
        "조리",
        "시술",
        "강의",
        "수업",
        "진행",
        "대응",
        "답변",
        "응답",
        "대처",
        "처리",
        "치료",
        "배달",
    ]
)
_CASES: Final[dict[str, Case]] = {
    "JKS": "subject",
    "JX": "topic",
    "JKO": "object",
    "JKG": "genitive",
    "JKC": "subject",
    "VCP": "predicate",
}


class KoreanPhrase(NamedTuple):
    """A noun phrase by token positions."""

    first: int
    last: int
    target: Target
    joins_next: bool
    is_verbal: bool = False
    """An action named by a verb (응대하다), a target only if its manner is judged."""


def split_clauses(
    tokens: KoreanTokens, hits: Sequence[KoreanHit], contrasts: Sequence[Cue]
) -> tuple[list[int], list[Clause]]:
    """Return the clause of each morpheme, and the clauses."""
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


def _ends_sentence(tokens: KoreanTokens, at: int) -> bool:
    tag, following = tokens.tag(at), tokens.tag(at + 1)
    if tag in ("SF", "SE"):
        return following not in ("SF", "SE")
    if "\n" in tokens.text[tokens.items[at].end : tokens.items[at + 1].start if following else None]:
        return True
    return tag == "EF" and following not in ("SF", "SE", "JX", "SSC", "")


def _ends_clause(tokens: KoreanTokens, at: int) -> bool:
    tag, following = tokens.tag(at), tokens.tag(at + 1)
    if tag == "EC":
        return tokens.forms[at] not in BINDING_ENDINGS and following not in ("VX", "SP", "JX")
    # A comma between nouns is a list; after an ending it closes a clause.
    return tag == "SP" and (tokens.tag(at - 1).startswith("E") or tokens.tag(at - 1) in ("JX", "MAG", "VCP"))


def find_phrases(tokens: KoreanTokens, hits: Sequence[KoreanHit], clause_of: Sequence[int]) -> list[KoreanPhrase]:
    """Return the noun phrases: runs of nouns that no opinion has taken."""
    taken = {
        at
        for hit in hits
        for at in range(hit.first, hit.last + 1)
        if not (hit.idiom is not None and hit.idiom.subject and at == hit.first)
    }
    phrases: list[KoreanPhrase] = []
    at = 0
    while at < len(tokens.items):
        if at in taken or tokens.tag(at) not in NOUNS:
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


def _continues(tokens: KoreanTokens, last: int, taken: set[int], clause_of: Sequence[int]) -> bool:
    following = last + 1
    if following >= len(tokens.items) or following in taken or clause_of[following] != clause_of[last]:
        return False
    gap = tokens.text[tokens.items[last].end : tokens.items[following].start]
    if _is_suffix(tokens, following):
        return gap == ""
    return tokens.tag(following) in NOUNS and gap in ("", " ")


def _is_suffix(tokens: KoreanTokens, at: int) -> bool:
    """Whether a morpheme belongs to the noun before it: 직원들, 직원분."""
    return tokens.tag(at) == "XSN" or (tokens.form(at) == "분" and tokens.tag(at) == "NNB")


def _phrase(tokens: KoreanTokens, first: int, last: int, clause: int) -> KoreanPhrase | None:
    against = [at for at in range(first, last) if tokens.forms[at] in _AGAINST]
    first = against[-1] + 1 if against else first
    while first < last and _is_aside(tokens, first):
        first += 1
    following = last + 1
    tag = tokens.tag(following)
    while last > first and tokens.forms[last] in _TRAILING:
        last -= 1
    is_verbal = tag in ("XSV", "XSA") and tokens.items[last].end >= tokens.items[following].start
    if is_verbal and tokens.forms[last] not in _SERVICES:
        return None
    start, end = tokens.items[_word_start(tokens, first)].start, tokens.items[last].end
    term = tokens.text[start:end]
    case: Case = _CASES.get(tag, "oblique") if tag.startswith("J") or tag == "VCP" else "bare"
    if tokens.form(following) in _ASIDE or tokens.form(following - 1) in _AGAINST:
        case = "oblique"
    is_nameable = _is_nameable(tokens, first, last, term)
    return KoreanPhrase(
        first,
        last,
        Target(term, start, end, clause, case, is_nameable),
        _joins_next(tokens, following, case),
        is_verbal=is_verbal,
    )


def _is_aside(tokens: KoreanTokens, at: int) -> bool:
    """Whether a noun before others does not belong to the name: a time, a person; but for 아침 of 아침 식사."""
    form = tokens.forms[at]
    return form in tokens.lexicon.not_targets and form not in _MEALTIMES and not _is_suffix(tokens, at + 1)


def _is_nameable(tokens: KoreanTokens, first: int, last: int, term: str) -> bool:
    while last > first and tokens.forms[last] in _OF_MANY and _is_suffix(tokens, last):
        term = term.removesuffix(tokens.forms[last])
        last -= 1
    lexicon, head = tokens.lexicon, tokens.forms[last]
    if first < last and head in lexicon.modified_heads:
        return True
    return not {head, term} & (lexicon.not_targets | lexicon.modified_heads)


def _joins_next(tokens: KoreanTokens, following: int, case: Case) -> bool:
    """Whether the next noun phrase shares the role of this one: A와 B, A, B, A 그리고 B, A도 B도."""
    tag, form = tokens.tag(following), tokens.form(following)
    if tag == "JC" or form in _JOINING or (case == "bare" and (tag in ("SP", "MAJ") or form in ("/", "·", "및"))):
        return True
    return form in ("도", "며", "이며", "고", "이고") and tokens.tag(following + 1) in NOUNS


def _word_start(tokens: KoreanTokens, first: int) -> int:
    """Take in a syllable that the analyser split off the front of an unknown noun (음 + 질)."""
    before = first - 1
    is_glued = before >= 0 and tokens.items[before].end == tokens.items[first].start
    return (
        before if is_glued and tokens.tag(before) in ("IC", "MM", "XPN") and len(tokens.forms[before]) == 1 else first
    )
