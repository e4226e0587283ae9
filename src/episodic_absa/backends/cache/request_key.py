"""The key of a request: a hash over all that decides its answer. Which role asks is not part of it."""

import hashlib
from functools import cache

from pydantic import BaseModel, JsonValue

from episodic_absa.backends.answer_schemas import json_schema
from episodic_absa.backends.backend import Request
from episodic_absa.serialization.canonical_json import canonical_json


def compute_request_key(request: Request, **also: JsonValue) -> str:
    """Hash this attempt's prompt, its schema, the seed and the attempt, and whatever else decides the answer."""
    ask = request.ask
    output_model: type[BaseModel] = ask.output_model
    parts = {
        **also,
        "system": ask.prompt.system,
        "user": request.user_text,
        "schema": _canonical_schema(output_model),
        "seed": ask.seed,
        "attempt": request.attempt,
    }
    if ask.temperature is not None:
        parts["temperature"] = ask.temperature
    # A review may hold half a surrogate pair, which UTF-8 cannot; written out it is still told apart.
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "backslashreplace")).hexdigest()


@cache
def _canonical_schema(model: type[BaseModel]) -> str:
    return canonical_json(json_schema(model))
