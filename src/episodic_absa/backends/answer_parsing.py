"""Reads a validated answer out of a raw reply: forgiving about wrapping, strict about content."""

import json
import re
from functools import cache
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from episodic_absa.backends.cut_answers import closed
from episodic_absa.schemas.slim_answers import SlimModel

OutputT = TypeVar("OutputT", bound=BaseModel)
MAX_REPLY_CHARS: Final = 1_000_000
MAX_JSON_DEPTH: Final = 64
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-zA-Z]*[^\S\n]*+\n(.*?)```", re.DOTALL)
_MOST_SHOWN: Final = 5
_decode = json.JSONDecoder(strict=False)


class UnusableReplyError(Exception):
    """A reply that is not JSON, or not the JSON that was asked for."""

    def __init__(self, message: str, kind: Literal["json_parse_error", "schema_validation_error"]) -> None:
        super().__init__(message)
        self.kind = kind


def parse_reply(text: str, model: type[OutputT]) -> OutputT:
    """Return the validated answer in a reply; raise UnusableReplyError if there is none.

    Slim answers are lists of short items: of one that was cut off the complete items are kept.
    """
    value = _find_json(text, keep_cut=issubclass(model, SlimModel))
    if is_too_deep(value):
        raise UnusableReplyError(f"the answer is nested more than {MAX_JSON_DEPTH} deep", "json_parse_error")
    try:
        return model.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise UnusableReplyError(_problems_of(error), "schema_validation_error") from error


def is_too_deep(value: Any) -> bool:
    """Return whether a JSON value is nested more than MAX_JSON_DEPTH deep; later readers of it are recursive."""
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
        members = (node.values() if isinstance(node, dict) else node for node in level if isinstance(node, dict | list))
        level = [node for values in members for node in values if isinstance(node, dict | list)]
        if not level:
            return False
    return True


@cache
def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema a reply must fit."""
    return model.model_json_schema()


@cache
def schema_text(model: type[BaseModel]) -> str:
    """Return the schema as compact JSON, for a prompt."""
    return json.dumps(_without_prose(json_schema(model)), ensure_ascii=False, separators=(",", ":"))


def _find_json(text: str, *, keep_cut: bool = False) -> Any:
    if len(text) > MAX_REPLY_CHARS:
        raise UnusableReplyError(f"the answer is too long ({len(text):,} characters)", "json_parse_error")
    shown = _THINKING.sub("", text)
    fenced = _FENCE.findall(shown)
    for candidate in (*fenced, shown):
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
                if keep_cut and (kept := _complete_items(stripped[start:])) is not None:
                    return kept
    raise UnusableReplyError(
        "the answer is empty" if not shown.strip() else "the answer holds no complete JSON object", "json_parse_error"
    )


def _complete_items(cut: str) -> Any:
    """Return the object with the complete items of a list that was cut off, None if nothing of it can be read."""
    whole = closed(cut)
    try:
        return None if whole is None else _decode.decode(whole)
    except (ValueError, RecursionError):
        return None


def _problems_of(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [
        f"{'.'.join(map(str, problem['loc'])) or 'answer'}: {problem['msg']}" for problem in problems[:_MOST_SHOWN]
    ]
    return "; ".join(shown) + (f"; and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else "")


def _without_prose(schema: Any) -> Any:
    """Leave out titles and descriptions: a repair attempt needs the shape."""
    if isinstance(schema, dict):
        return {
            key: _without_prose(value)
            for key, value in schema.items()
            if not (key in ("title", "description") and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_without_prose(item) for item in schema]
    return schema
