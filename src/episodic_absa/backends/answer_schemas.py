"""The JSON Schema of an answer: frozen for the answers of our own rules, that of its class for any other.

What a model is sent, and the key under which its answer is kept, must not change when a class is renamed, moved or
described otherwise. An answer therefore names its schema (`frozen_schema`), and the schema stands in
`answer_schemas.json` as it was first sent. Replies are still validated by the class.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

_FROZEN: Final = Path(__file__).with_suffix(".json")


@cache
def frozen_schemas() -> dict[str, dict[str, Any]]:
    """Return the frozen schemas by name; the order of their keys is the order in which a model is asked for them."""
    schemas: dict[str, dict[str, Any]] = json.loads(_FROZEN.read_text("utf-8"))
    return schemas


def frozen_name(model: type[BaseModel]) -> str | None:
    """Return the name of a model's frozen schema; None if it has none (a subclass never does).

    Example:
        >>> from episodic_absa.schemas.answers import JointAnswer
        >>> frozen_name(JointAnswer)
        'joint'
    """
    return vars(model).get("frozen_schema")


@cache
def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema a reply must fit."""
    name = frozen_name(model)
    return model.model_json_schema() if name is None else frozen_schemas()[name]


def schema_title(model: type[BaseModel]) -> str:
    """Return the name under which a server is sent the schema."""
    title: str = model.__name__ if frozen_name(model) is None else json_schema(model)["title"]
    return title


@cache
def schema_text(model: type[BaseModel]) -> str:
    """Return the schema as compact JSON, for a prompt."""
    return json.dumps(_without_prose(json_schema(model)), ensure_ascii=False, separators=(",", ":"))


@cache
def typed_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema with the type of every enumeration named, as OpenAI and Gemini demand."""
    typed: dict[str, Any] = _typed(json_schema(model))
    return typed


@cache
def has_free_keys(model: type[BaseModel]) -> bool:
    """Return whether some object of the schema takes any key: strict modes know only named ones."""
    return _is_free(json_schema(model))


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
