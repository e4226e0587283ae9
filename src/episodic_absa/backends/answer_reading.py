"""Finds a short answer in a reply: the asked list, under any name and in any wrapping that has one meaning."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from episodic_absa.backends.answer_items import (
    ADD_NAMES,
    ITEM_FORMS,
    LABEL_NAMES,
    LIST_NAMES,
    NOTHING,
    ItemForm,
    as_label,
    folded_keys,
    is_item,
    items_of_map,
    read_item,
    scalar,
)
from episodic_absa.language import norm, read_label
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    ItemsAnswer,
    JointAnswer,
    JudgeDecision,
    Judgement,
    JudgementsAnswer,
    LenientModel,
    NamedRisk,
    NamedTarget,
    Pair,
    PairVerdict,
    PairVerdictsAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdict,
    TargetVerdictsAnswer,
    TermsAnswer,
    WrongPair,
    WrongPairsAnswer,
)

AnswerT = TypeVar("AnswerT", bound=ItemsAnswer)
_DEEPEST_WRAPPING: Final = 3
_ITEMS: Final[dict[type[ItemsAnswer], tuple[str, type[LenientModel]]]] = {
    JointAnswer: ("pairs", Pair),
    TermsAnswer: ("terms", NamedTarget),
    JudgementsAnswer: ("judgements", Judgement),
    TargetsAnswer: ("targets", NamedTarget),
    WrongPairsAnswer: ("wrong", WrongPair),
    DecisionsAnswer: ("decisions", JudgeDecision),
    TargetVerdictsAnswer: ("verdicts", TargetVerdict),
    PairVerdictsAnswer: ("verdicts", PairVerdict),
    RisksAnswer: ("risks", NamedRisk),
}


class FoundValue(NamedTuple):
    """A JSON value of a reply, and whether a part of it was left out."""

    value: Any
    is_partial: bool = False


class AnswerReading(NamedTuple):
    """What a value says."""

    items: tuple[LenientModel, ...] = ()
    is_partial: bool = False
    unreadable_n: int = 0
    side_fields: Mapping[str, Any] = {}
    is_bare_item: bool = False
    """The value is one item without a list around it."""

    @property
    def says_nothing(self) -> bool:
        """Whether something was written, and nothing of it can be read."""
        return self.unreadable_n > 0 and not self.items


def read_items_answer(groups: Iterable[Sequence[FoundValue]], model: type[AnswerT]) -> AnswerT | None:
    """Return the answer that the values of a reply hold, None if they hold none.

    The first value with items counts, whatever empty lists stand before it.

    Args:
        groups: the values of each part of the reply, the better part first.
        model: the answer that was asked for.
    """
    readings = [reading for values in groups if (reading := _best_of(values, model)) is not None]
    best = next((reading for reading in readings if reading.items), readings[0] if readings else None)
    if best is None:
        return None
    name, _ = _ITEMS[model]
    listed: Sequence[Any] = list(best.items)
    if model is TermsAnswer:
        listed = list(dict.fromkeys(item.target for item in best.items if isinstance(item, NamedTarget)))
    return model.model_validate({name: listed, "is_partial": best.is_partial, **best.side_fields})


def _best_of(values: Sequence[FoundValue], model: type[ItemsAnswer]) -> AnswerReading | None:
    """Return the first reading with items, else the first one; items side by side without a list are one list."""
    shape = _Shape(model)
    readings = []
    for candidate in values:
        reading = shape.read(candidate.value)
        if reading is None or reading.says_nothing:
            continue
        # A list of which nothing complete was written is no empty list.
        if candidate.is_partial and not reading.items and not reading.side_fields.get("label"):
            continue
        readings.append(reading._replace(is_partial=reading.is_partial or candidate.is_partial))
    best = next((reading for reading in readings if reading.items), readings[0] if readings else None)
    if best is None or not best.is_bare_item:
        return best
    bare = [reading for reading in readings if reading.is_bare_item]
    items = tuple(item for reading in bare for item in reading.items)
    return best._replace(items=items, is_partial=len(bare) < len(values) or any(item.is_partial for item in bare))


class _Shape:
    """Reads values as one kind of answer."""

    def __init__(self, model: type[ItemsAnswer]) -> None:
        self._name, item = _ITEMS[model]
        self._form = ITEM_FORMS[item]
        self._names = (self._name, *LIST_NAMES[self._name])
        self._has_label = "label" in model.model_fields
        self._has_add = "add" in model.model_fields
        self._has_label_quotes = "label_quotes" in model.model_fields

    def read(self, value: Any, depth: int = 0) -> AnswerReading | None:
        """Return what a value says, None if it is no answer."""
        if value is None:
            return AnswerReading(is_partial=True)
        if isinstance(value, str):
            return AnswerReading() if norm(value) in NOTHING else None
        if isinstance(value, list):
            return _read_list(value, self._form, is_named=False)
        if isinstance(value, dict):
            return self._read_object(value, depth)
        return None

    def _read_object(self, value: dict[str, Any], depth: int) -> AnswerReading | None:
        members = folded_keys(value)
        if not members:
            return AnswerReading(is_partial=True)
        if "$defs" in members or "properties" in members:  # a copy of the schema
            return None
        side_fields = self._side_fields(members)
        own = next((name for name in self._names if name in members), None)
        if own is not None and (own == self._name or not is_item(value, self._form)):
            return _read_list(members[own], self._form, is_named=True)._replace(side_fields=side_fields)
        if is_item(value, self._form):
            item = read_item(value, self._form)
            return None if item is None else AnswerReading((item,), is_bare_item=True)
        rest = {key: member for key, member in members.items() if key not in self._side_names}
        if not rest:
            return AnswerReading(is_partial=True, side_fields=side_fields)
        if "text" in rest:  # a copy of the question
            return None
        wrapped = self._unwrapped(rest, depth)
        if wrapped is not None:
            return wrapped._replace(side_fields={**wrapped.side_fields, **side_fields})
        known = {key: member for key, member in value.items() if key.strip().lower() not in self._side_names}
        items = [read_item(item, self._form) for item in items_of_map(known, self._form)]
        if not items or None in items:
            return None
        return AnswerReading(tuple(item for item in items if item is not None), side_fields=side_fields)

    def _unwrapped(self, members: Mapping[str, Any], depth: int) -> AnswerReading | None:
        """Return what the only readable list or object of an object says."""
        if depth >= _DEEPEST_WRAPPING:
            return None
        inner = [member for member in members.values() if isinstance(member, dict | list)]
        readings = [reading for member in inner if (reading := self.read(member, depth + 1)) is not None]
        with_items = [reading for reading in readings if reading.items]
        if len(with_items) == 1:
            return with_items[0]._replace(is_bare_item=False)
        return readings[0] if len(readings) == len(members) == 1 else None

    @property
    def _side_names(self) -> tuple[str, ...]:
        names = LABEL_NAMES if self._has_label else ()
        names += ADD_NAMES if self._has_add else ()
        return (*names, "label_quotes") if self._has_label_quotes else names

    def _side_fields(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields beside the list; one that cannot be read is left out."""
        fields: dict[str, Any] = {}
        if self._has_label:
            words = (scalar(members[name]) for name in LABEL_NAMES if name in members)
            label = next((as_label(word) for word in words if word is not None), None)
            if read_label(label) is not None:
                fields["label"] = label
        if self._has_label_quotes:
            quotes = members.get("label_quotes")
            quotes = [quotes] if isinstance(quotes, str) else quotes if isinstance(quotes, list) else []
            fields["label_quotes"] = [quote for quote in quotes if isinstance(quote, str)]
        if self._has_add:
            added = next((members[name] for name in ADD_NAMES if name in members), None)
            fields["add"] = list(_read_list(added, ITEM_FORMS[Judgement], is_named=True).items)
        return fields


def _read_list(value: Any, form: ItemForm, *, is_named: bool) -> AnswerReading:
    items: list[LenientModel] = []
    unreadable_n = 0
    for written in _written_items(value, form):
        item = read_item(written, form, is_named_list=is_named)
        if item is not None:
            items.append(item)
        else:
            unreadable_n += 1
    return AnswerReading(tuple(items), unreadable_n > 0, unreadable_n)


def _written_items(value: Any, form: ItemForm) -> list[Any]:
    """Return the items that a value lists; nothing is no item."""
    if value is None or (isinstance(value, str) and norm(value) in NOTHING):
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.replace("\n", ",").split(",") if norm(part)]
    if isinstance(value, dict):
        return [value] if not value or is_item(value, form) else items_of_map(value, form) or _numbered(value)
    if not isinstance(value, list):
        return [value]
    if form.word and len(value) > 1 and read_item(value, form) is not None:
        return [value]
    items: list[Any] = []
    for written in value:
        is_nested = isinstance(written, list) and read_item(written, form) is None
        items += written if is_nested else [written]
    return [written for written in items if written is not None]


def _numbered(value: Mapping[str, Any]) -> list[Any]:
    """Return the members of an object that numbers its items; the object itself if it does not."""
    return list(value.values()) if all(key.strip().isdigit() for key in value) else [value]
