"""Reads one item of a short answer from what a model wrote: other names, other shapes, one string for the whole."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from episodic_absa.language import norm, read_action, read_label
from episodic_absa.schemas.answers import (
    JudgeDecision,
    Judgement,
    LenientModel,
    NamedRisk,
    NamedTarget,
    Pair,
    PairVerdict,
    TargetVerdict,
    WrongPair,
)
from episodic_absa.vocabulary import RISK_IDS, SentenceLabel

TERM_NAMES: Final[tuple[str, ...]] = (
    "term", "target", "aspect_term", "aspect", "pair", "name", "용어", "대상", "속성", "측면", "타깃", "타겟", "항목",
)  # fmt: skip
QUOTE_NAMES: Final[tuple[str, ...]] = (
    "quote", "evidence", "reason", "quotes", "quotation", "인용", "인용문", "인용구", "근거", "이유", "표현", "text",
)  # fmt: skip
POLARITY_NAMES: Final[tuple[str, ...]] = ("polarity", "sentiment", "극성", "감성", "감정")
REVISED_NAMES: Final[tuple[str, ...]] = ("should_be", "new_polarity", "revised_polarity", "correct_polarity")
VERDICT_NAMES: Final[tuple[str, ...]] = (
    *REVISED_NAMES, "verdict", "decision", "action", "ruling",
    "judgement", "judgment", "판정", "결정", "판단", "조치", "수정", "label", "라벨", "레이블",
)  # fmt: skip
TYPE_NAMES: Final[tuple[str, ...]] = ("type", "risk", "risk_type", "kind", "유형", "위험", "종류")
LABEL_NAMES: Final[tuple[str, ...]] = ("label", "sentence_label", "overall", "overall_label", "라벨", "레이블", "전체")
ADD_NAMES: Final[tuple[str, ...]] = ("add", "added", "additions", "missing", "추가")
LIST_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "pairs": ("쌍", "쌍들"),
    "terms": ("용어", "용어들"),
    "judgements": ("judgments", "판단", "판정"),
    "targets": ("대상", "대상들"),
    "wrong": ("wrong_pairs", "오류", "틀린_쌍"),
    "decisions": ("결정", "판정"),
    "verdicts": ("판정", "판정들"),
    "risks": ("위험", "위험들"),
}
_NOTHING: Final = "none null nothing n/a empty no 없음 없습니다 없다 해당없음 [] {}"
NOTHING: Final = frozenset({"", "해당 없음", *_NOTHING.split()})
"""What a model writes for an empty list."""
KOREAN_LABELS: Final[dict[str, SentenceLabel]] = {
    **dict.fromkeys(("긍정", "긍정적"), "positive"),
    **dict.fromkeys(("부정", "부정적"), "negative"),
    **dict.fromkeys(("중립", "중립적"), "neutral"),
    **dict.fromkeys(("복합", "복합적", "혼합", "혼재"), "mixed"),
}
_NAME_AND_WORD = re.compile(r"(.+?)\s*(?:[:=→]|->|\s[-–—]\s)\s*([^:=→]+)", re.DOTALL)
_NAME_AND_WORD_IN_BRACKETS = re.compile(r"([^()]+?)\s*\(([^()]+)\)")


class ItemForm(NamedTuple):
    """How the items of one list are read."""

    model: type[LenientModel]
    term: str
    """The field that names the target, "" if the items have none."""
    word: str
    """The field with the polarity or the verdict, "" if the items have none."""
    is_polarity: bool = False
    """Whether the word is a polarity and nothing else; any other word is unreadable."""
    is_shown_as_text: bool = False
    """Whether the prompt shows pairs as "target: polarity": an item of this form may be a copy of the question."""
    may_lack_term: bool = False


ITEM_FORMS: Final[dict[type[LenientModel], ItemForm]] = {
    form.model: form
    for form in (
        ItemForm(Pair, "term", "polarity", is_polarity=True, may_lack_term=True),
        ItemForm(Judgement, "target", "polarity", is_polarity=True),
        ItemForm(NamedTarget, "target", ""),
        ItemForm(WrongPair, "target", "should_be", is_shown_as_text=True),
        ItemForm(JudgeDecision, "target", "decision"),
        ItemForm(TargetVerdict, "target", "verdict"),
        ItemForm(PairVerdict, "target", "verdict", is_shown_as_text=True),
        ItemForm(NamedRisk, "", "type"),
    )
}


def read_item(value: Any, form: ItemForm, *, is_named_list: bool = True) -> LenientModel | None:
    """Return an item, None if it cannot be read.

    Args:
        value: what the model wrote for the item.
        form: how items of the list are read.
        is_named_list: whether the model named the list as asked.
    """
    if isinstance(value, str):
        fields = _of_text(value, form, is_named_list=is_named_list)
    elif isinstance(value, list):
        fields = _of_positions(value, form)
    elif isinstance(value, dict):
        fields = _of_members(value, form)
    else:
        fields = None
    if fields is None or (form.is_polarity and read_label(fields.get(form.word)) is None):
        return None
    try:
        return form.model.model_validate(fields)
    except ValidationError:
        return None


def items_of_map(value: Mapping[str, Any], form: ItemForm) -> list[Any]:
    """Return the items of an object whose keys are targets: {"food": "positive"}; [] if it is none."""
    if not form.term:
        return []
    if all(isinstance(member, dict) for member in value.values()):
        return [{form.term: key, **member} for key, member in value.items()]
    if not form.word or not all(is_word(member, form) for member in value.values()):
        return []
    return [{form.term: key, form.word: member} for key, member in value.items()]


def is_word(value: Any, form: ItemForm) -> bool:
    """Return whether a value can only be the polarity or the verdict of an item."""
    if not isinstance(value, str) or not form.word:
        return False
    if not form.term:
        return risk_type(value) is not None
    label = read_label(as_label(value))
    return label is not None or (not form.is_polarity and read_action(value) is not None)


def risk_type(word: str) -> str | None:
    """Return the risk that a word names, None if there is none."""
    folded = "_".join(word.strip().upper().split())
    return next((risk for risk in RISK_IDS if folded and risk in (folded, f"{folded}_SCOPE")), None)


def as_label(word: str) -> str:
    """Return a Korean polarity or label as the English one; any other word as it is."""
    return KOREAN_LABELS.get(norm(word), word)


def scalar(value: Any) -> str | None:
    """Return the string that a value is or holds alone, None if there is none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    return value if isinstance(value, str) else None


def folded_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members by folded name: lower case, without spaces."""
    folded: dict[str, Any] = {}
    for key, member in value.items():
        folded.setdefault("_".join(key.strip().lower().replace("-", "_").split()), member)
    return folded


def is_item(value: Mapping[str, Any], form: ItemForm) -> bool:
    """Return whether an object is an item itself: it has the fields of one."""
    names = set(folded_keys(value))
    needed = [TERM_NAMES] if form.term and not form.may_lack_term else []
    needed += [_word_names(form)] if form.word else []
    return all(names & set(group) for group in needed) and read_item(dict(value), form) is not None


def _of_text(text: str, form: ItemForm, *, is_named_list: bool) -> dict[str, Any] | None:
    if not form.word:
        return {form.term: text} if norm(text) else None
    if not form.term:
        risk = risk_type(text)
        return None if risk is None else {form.word: risk}
    for pattern in (_NAME_AND_WORD, _NAME_AND_WORD_IN_BRACKETS):
        split = pattern.fullmatch(text.strip())
        if split is not None and is_word(split[2], form):
            is_copy = form.is_shown_as_text and read_label(as_label(split[2])) is not None
            if is_copy and (form.model is WrongPair or not is_named_list):
                return None
            return {form.term: split[1], form.word: as_label(split[2])}
    return None


def _of_positions(values: Sequence[Any], form: ItemForm) -> dict[str, Any] | None:
    """Return the fields of a list like ["great food", "food", "positive"]: the word is last."""
    if not values or not form.term or not all(isinstance(value, str) for value in values):
        return None
    *names, last = values
    if form.word:
        if not is_word(last, form):
            return None
    else:
        names, last = list(values), ""
    if len(names) == 1:
        fields = {form.term: names[0]}
    elif len(names) == 2 and "quote" in form.model.model_fields:
        order = [field for field in form.model.model_fields if field in ("quote", form.term)]
        first, second = names
        quote, term = (first, second) if order[0] == "quote" else (second, first)
        # The quote of a target often holds it; the order that was asked for decides otherwise.
        if term not in quote and quote in term:
            quote, term = term, quote
        fields = {"quote": quote, form.term: term}
    else:
        return None
    return {**fields, form.word: as_label(last)} if form.word else fields


def _of_members(value: Mapping[str, Any], form: ItemForm) -> dict[str, Any] | None:
    members = folded_keys(value)
    fields: dict[str, Any] = {}
    if form.term:
        names = [name for name in (form.term, *TERM_NAMES) if name in members]
        has_quote = any(name in members for name in QUOTE_NAMES)
        if not names and not (form.may_lack_term and has_quote):
            return None
        named = members[names[0]] if names else None
        term = "" if named is None or named == [] else scalar(named)
        if term is None:
            return None
        fields[form.term] = term
    if "quote" in form.model.model_fields:
        fields["quote"] = next(_scalars(members, QUOTE_NAMES), "")
    if form.word:
        word = next(_scalars(members, _word_names(form)), None)
        if read_action(word) in ("flip", "wrong"):
            word = next(_scalars(members, REVISED_NAMES), word)
        if word is None or not norm(word):
            return None
        fields[form.word] = as_label(word) if form.term else word
    return fields


def _scalars(members: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        read = scalar(members.get(name))
        if read is not None:
            yield read


def _word_names(form: ItemForm) -> tuple[str, ...]:
    if not form.term:
        return TYPE_NAMES
    others = (*POLARITY_NAMES, *VERDICT_NAMES) if form.is_polarity else (*VERDICT_NAMES, *POLARITY_NAMES)
    return (form.word, *others)
