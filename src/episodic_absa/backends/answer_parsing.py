"""Reads a validated answer out of a raw reply: forgiving about wrapping, strict about content."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from episodic_absa.backends.answer_reading import FoundValue, read_items_answer
from episodic_absa.backends.loose_json import read_loosely
from episodic_absa.schemas.answers import ItemsAnswer
from episodic_absa.serialization.canonical_json import MAX_JSON_DEPTH, is_too_deep
from episodic_absa.serialization.quoted_value import shortened

OutputT = TypeVar("OutputT", bound=BaseModel)
ItemsT = TypeVar("ItemsT", bound=ItemsAnswer)
MAX_REPLY_CHARS: Final = 1_000_000
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-zA-Z]*[^\S\n]*+\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MOST_SHOWN: Final = 5
_MOST_FAILURES: Final = 8
_decode = json.JSONDecoder(strict=False)


class UnusableReplyError(Exception):
    """A reply that is not JSON, or not the JSON that was asked for."""

    def __init__(self, message: str, kind: Literal["json_parse_error", "schema_validation_error"]) -> None:
        super().__init__(message)
        self.kind = kind


def parse_reply(text: str, model: type[OutputT]) -> OutputT:
    """Return the validated answer in a reply; raise UnusableReplyError if there is none.

    Answers of the default rules are lists of short items. They are read leniently; what cannot be read is left out.
    """
    if issubclass(model, ItemsAnswer):
        short = _read_items(text, model)
        if short is not None:
            return short
    value = _find_json(text)
    if is_too_deep(value):
        raise UnusableReplyError(f"the answer is nested more than {MAX_JSON_DEPTH} deep", "json_parse_error")
    try:
        answer = model.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise UnusableReplyError(_problems_of(error), "schema_validation_error") from error
    if issubclass(model, ItemsAnswer):
        raise UnusableReplyError("no item of the list can be read", "schema_validation_error")
    return answer


def _read_items(text: str, model: type[ItemsT]) -> ItemsT | None:
    """Return the short answer of a reply, None if it holds none; what stands in a fence goes before the rest."""
    if len(text) > MAX_REPLY_CHARS:
        return None
    shown = _THINKING.sub("", text)
    groups = [
        [
            _with_whole_characters(candidate)
            for part in parts
            for candidate in _values(part.strip())
            if not is_too_deep(candidate.value)
        ]
        for parts in (_FENCE.findall(shown), [shown])
    ]
    return read_items_answer(groups, model)


def _values(text: str) -> Iterator[FoundValue]:
    """Yield the JSON values of a text in their order: the whole of it, or the objects and lists among other words."""
    try:
        whole = _decode.decode(text)
    except (ValueError, RecursionError):
        if text and not _OPENING.search(text):
            yield FoundValue(text)
    else:
        if isinstance(whole, str) and _OPENING.search(whole):  # JSON inside a JSON string
            text = whole
        else:
            yield FoundValue(whole)
            return
    end = failures_n = 0
    while failures_n < _MOST_FAILURES and (opening := _OPENING.search(text, end)) is not None:
        try:
            value, end = _decode.raw_decode(text, opening.start())
            yield FoundValue(value)
        except (ValueError, RecursionError):  # a looping model nests without end
            loose = read_loosely(text, opening.start())
            if loose is None:
                end, failures_n = opening.end(), failures_n + 1
            else:
                end = loose.end
                yield FoundValue(loose.value, loose.is_partial)


def _with_whole_characters(candidate: FoundValue) -> FoundValue:
    """Return the value without half surrogate pairs, which no file and no later prompt can hold."""
    written = json.dumps(candidate.value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return candidate._replace(value=json.loads(written.encode("utf-8", "replace")))
    return candidate


def _find_json(text: str) -> Any:
    if len(text) > MAX_REPLY_CHARS:
        raise UnusableReplyError(f"the answer is too long ({len(text):,} characters)", "json_parse_error")
    shown = _THINKING.sub("", text)
    for candidate in (*_FENCE.findall(shown), shown):
        stripped = candidate.strip()
        try:
            return _decode.decode(stripped)
        except (ValueError, RecursionError):
            start = stripped.find("{")
            if start < 0:
                continue
            try:
                return _decode.raw_decode(stripped, start)[0]
            except (ValueError, RecursionError):  # a looping model nests without end
                continue
    raise UnusableReplyError(
        "the answer is empty" if not shown.strip() else "the answer holds no complete JSON object", "json_parse_error"
    )


def _problems_of(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{_place(problem['loc'])}: {problem['msg']}" for problem in problems[:_MOST_SHOWN]]
    return "; ".join(shown) + (f"; and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else "")


def _place(location: tuple[int | str, ...]) -> str:
    """Name the field. A key that nobody asked for may have any length."""
    return shortened(".".join(map(str, location))) or "answer"
