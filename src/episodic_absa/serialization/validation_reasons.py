"""Words what a model refused, without quoting a value: a value may be review text."""

from typing import Final

from pydantic import ValidationError

from episodic_absa.serialization.quoted_value import shortened

_SHOWN: Final = 3


def reasons_of(error: ValidationError) -> str:
    """Return the first problems by field, and how many more there are."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [f"{_place(problem['loc'])}: {problem['msg']}" for problem in problems[:_SHOWN]]
    return "; ".join(shown) + (f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else "")


def _place(location: tuple[int | str, ...]) -> str:
    """Name the field; keys of `polarities` are free text and are not repeated, and a long key is shortened."""
    shown = ["*" if at and location[at - 1] == "polarities" else str(part) for at, part in enumerate(location)]
    return shortened(".".join(shown)) or "line"
