"""How far Korean negation reaches: what stands right beside a predicate, and what governs it from further on."""

from typing import Final, NamedTuple

from episodic_absa.reader.korean.korean_opinion_words import KoreanHit
from episodic_absa.reader.korean.korean_tokens import BINDING_ENDINGS, NOUNS, KoreanTokens

NEGATING_ADVERBS: Final = frozenset({"안", "못", "덜"})
_NEGATING_STEMS: Final = frozenset({"않", "못하", "아니", "없"})
_DOUBTING_STEMS: Final = frozenset({"모르", "어렵", "힘들"})
_MAX_REACH: Final = 14
"""How many tokens a negation may reach back over."""
_MAX_WISH: Final = 6
_LIGHT_FORMS: Final = frozenset(
    {"하", "보", "생각", "같", "말", "점", "데", "수", "느끼", "것", "거", "줄", "되", "이", "리", "적"}
)
_NEGATED_PRAISE: Final = -0.8
_NEGATED_BLAME: Final = -0.6


class KoreanNegation(NamedTuple):
    """How often a predicate is negated, from how near."""

    near: int
    """Negations right beside the predicate."""
    far: int
    """Those further on that still govern it."""
    end: int
    """The token the last of them stands at."""
    note: str
    is_plain: bool


def find_negation(tokens: KoreanTokens, hit: KoreanHit) -> KoreanNegation:
    """Count the negations of an opinion, those beside it and those that govern it from further on."""
    near = int(tokens.form(hit.first - 1) in NEGATING_ADVERBS and tokens.tag(hit.first - 1) == "MAG")
    far, end, note = 0, hit.last, ""
    is_idiom = hit.idiom is not None
    doubted = False
    at = hit.last + 1
    is_noun = tokens.tag(hit.last) in NOUNS
    limit = min(len(tokens.items), hit.last + 1 + _MAX_REACH)
    while at < limit and tokens.tag(at) not in ("EF", "SF", "SP"):
        form, tag = tokens.forms[at], tokens.tag(at)
        if form in _NEGATING_STEMS and tag in ("VX", "VV", "VA", "VCN"):
            beside = not is_idiom and _is_beside(tokens, hit.last, at, is_noun=is_noun)
            near, far = (near + 1, far) if beside and near == 0 else (near, far + 1)
            end = at
        elif form == "못" and tokens.form(at + 1) == "하" and tokens.form(at - 1) in ("지", "도", "는", "를"):
            near, far, end = (1, far, at + 1) if near == 0 else (near, far + 1, at + 1)
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
    return KoreanNegation(near, far, end, note, note == "double negation")


def is_wished(tokens: KoreanTokens, hit: KoreanHit) -> bool:
    """Return whether -면 좋겠 follows: a wish means that the quality is missing."""
    after = tokens.forms[hit.last + 1 : hit.last + 1 + _MAX_WISH]
    return any(word.endswith("면") and after[index + 1 : index + 3] == ["좋", "겠"] for index, word in enumerate(after))


def _is_light(form: str, tag: str) -> bool:
    """Whether a negation may reach back over this token."""
    if tag == "EC":
        return form in BINDING_ENDINGS
    return tag.startswith(("E", "J")) or tag in ("NNB", "VX", "VCP", "MAG") or form in _LIGHT_FORMS


def _is_beside(tokens: KoreanTokens, last: int, at: int, *, is_noun: bool) -> bool:
    between = range(last + 1, at)
    if is_noun:
        return all(tokens.tag(index).startswith(("J", "E", "XS", "VCP")) for index in between) and len(between) <= 3
    forms = [tokens.forms[index] for index in between]
    if len(forms) in (2, 3) and tokens.tag(last + 1) == "ETM" and forms[1] in ("것", "거"):
        # 친절한 것도 아니에요
        return tokens.forms[at] == "아니"
    return bool(forms) and forms[0] == "지" and len(forms) <= 2


def negated(score: float, times: int) -> float:
    """Turn a score round; what is not good is bad, what is not bad is less than good."""
    for _ in range(times):
        score *= _NEGATED_PRAISE if score > 0 else _NEGATED_BLAME
    return score
