"""The shape all our models share: frozen, unknown keys refused, scalars never coerced."""

from collections.abc import Sized
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

_LONGEST_REPR: Final = 240
_LONGEST_VALUE: Final = 40


class FrozenModel(BaseModel):
    """A value that cannot change and cannot carry an undeclared field."""

    # An error names the field and not its value, which may be a review.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)

    def __repr__(self) -> str:
        """Return the fields; of a large value only their outlines, so that a notebook stays readable."""
        whole = super().__repr__()
        if len(whole) <= _LONGEST_REPR:
            return whole
        fields = ", ".join(f"{name}={_outline(value)}" for name, value in self.__repr_args__())
        return f"{type(self).__name__}({fields})"

    def __str__(self) -> str:
        return repr(self)


def _outline(value: object) -> str:
    """Return a short form of a field: the size of a collection, the class of a model, the start of a text."""
    if isinstance(value, BaseModel):
        return f"{type(value).__name__}(...)"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…")
    if isinstance(value, Sized) and len(value) > 0:
        return f"<{len(value)} {'item' if len(value) == 1 else 'items'}>"
    return repr(value)


Score = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]
"""A confidence or score, 0..1. A string that looks like a number is refused: it would break the JSON Schema."""

Count = Annotated[int, Field(strict=True, ge=0)]
Flag = Annotated[bool, Field(strict=True)]


def offered(values: tuple[str, ...], *, or_null: bool = False) -> WithJsonSchema:
    """Offer a model these words in the JSON Schema, and accept any string: a later step reads it leniently."""
    choices: list[Any] = [*values, None] if or_null else list(values)
    return WithJsonSchema({"enum": choices})
