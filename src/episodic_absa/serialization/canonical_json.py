"""The two ways this system writes JSON, compact and for people, and how deep JSON of others may be nested."""

import json
from typing import Any, Final

from pydantic import BaseModel

from episodic_absa.serialization.redaction import redacted_value

_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode

_AS_IT_IS = frozenset({str, bool, int, type(None)})
MAX_JSON_DEPTH: Final = 64
"""Levels of lists and objects within each other."""


def canonical_json(value: Any) -> str:
    """Render a JSON value or a model so that equal values give equal bytes."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return _encode(_rounded(value))


def indented_json(value: Any) -> str:
    """Render a document that people read: sorted keys, indented, a line feed at the end. Floats are not rounded.

    Manifests and all other documents about a run pass through here: credentials are taken out of every text.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return json.dumps(redacted_value(value), ensure_ascii=False, sort_keys=True, indent=2) + "\n"


def _rounded(value: Any) -> Any:
    # Most values are strings, booleans and integers, which need no work: testing the type first halves the time.
    if isinstance(value, dict):
        return {key: item if type(item) in _AS_IT_IS else _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) in _AS_IT_IS else _rounded(item) for item in value]
    if isinstance(value, float):
        # + 0.0 turns -0.0 into 0.0: equal numbers must give equal bytes.
        return round(value, 6) + 0.0
    return value


def is_too_deep(value: Any) -> bool:
    """Return whether a JSON value is nested more than `MAX_JSON_DEPTH` levels deep."""
    # Level by level, not by recursion: the interpreter's own limit must not be met.
    level = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        level = [part for part in level if isinstance(part, dict | list)]
        if not level:
            return False
        level = [item for part in level for item in (part.values() if isinstance(part, dict) else part)]
    return True
