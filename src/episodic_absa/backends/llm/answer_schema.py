"""The schema of an answer in the form that API servers take."""

from functools import cache
from typing import Any

from pydantic import BaseModel

from episodic_absa.backends.answer_parsing import json_schema


@cache
def answer_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a model in which every enumeration names its type, as OpenAI and Gemini demand."""
    typed: dict[str, Any] = _typed(json_schema(model))
    return typed


@cache
def has_free_keys(model: type[BaseModel]) -> bool:
    """Return whether some object of the schema takes any key: strict modes know only named ones."""
    return _is_free(json_schema(model))


def _typed(node: Any) -> Any:
    if isinstance(node, list):
        return [_typed(item) for item in node]
    if not isinstance(node, dict):
        return node
    typed = {key: _typed(value) for key, value in node.items()}
    if isinstance(node.get("enum"), list) and "type" not in node:
        typed["type"] = ["string", "null"] if None in node["enum"] else "string"
    return typed


def _is_free(node: Any) -> bool:
    if isinstance(node, list):
        return any(map(_is_free, node))
    if not isinstance(node, dict):
        return False
    return node.get("additionalProperties", False) is not False or any(map(_is_free, node.values()))
