"""The shape all our models share: frozen, unknown keys refused, scalars never coerced."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema


class FrozenModel(BaseModel):
    """A value that cannot change and cannot carry an undeclared field."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Score = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]
"""A confidence or score, 0..1. A string that looks like a number is refused: it would break the JSON Schema."""

Count = Annotated[int, Field(strict=True, ge=0)]
Flag = Annotated[bool, Field(strict=True)]


def offered(values: tuple[str, ...], *, or_null: bool = False) -> WithJsonSchema:
    """Offer a model these words in the JSON Schema, and accept any string: a later step reads it leniently."""
    choices: list[Any] = [*values, None] if or_null else list(values)
    return WithJsonSchema({"enum": choices})
