"""Words of messages about values: a quotation has at most 200 characters, on one line, without credentials."""

import reprlib
from collections.abc import Iterable
from typing import Final

from pydantic import ValidationError

from episodic_absa.serialization.redaction import redacted

QUOTED_CHARS: Final = 200
"""The longest quotation in a message."""
_SHOWN_NAMES: Final = 40
_SHOWN_PROBLEMS: Final = 3
_SEARCHED_CHARS: Final = 20_000

_outline = reprlib.Repr()
_outline.maxlevel = 3
_outline.maxdict = _outline.maxlist = _outline.maxtuple = _outline.maxset = _outline.maxfrozenset = 6
_outline.maxlong = _outline.maxother = 60


def quoted(value: object) -> str:
    """Return a value as a message shows it: its literal, shortened.

    Example:
        >>> quoted("C9"), quoted(True), len(quoted("C" * 100_000))
        ("'C9'", 'True', 200)
    """
    # Cut late: half a credential would not be recognised. A literal of a million characters is not worth making.
    if isinstance(value, str):
        return shortened(repr(redacted(value[:_SEARCHED_CHARS])[: 2 * QUOTED_CHARS]))
    return shortened(redacted(_outline.repr(value)))


def shortened(text: str, chars: int = QUOTED_CHARS) -> str:
    """Return a text of at most so many characters; a longer one ends in `…`."""
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def listed(names: Iterable[object]) -> str:
    """Return names in a row; of very many only the first, and how many there are.

    Example:
        >>> listed(["C1", "C2"])
        'C1, C2'
    """
    shown = [shortened(str(name)) for name in names]
    more = f", ... ({len(shown)} in all)" if len(shown) > _SHOWN_NAMES else ""
    return ", ".join(shown[:_SHOWN_NAMES]) + more


def reasons_of(error: ValidationError) -> str:
    """Return the first problems by field, and how many more there are."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [f"{_place(problem['loc'])}: {problem['msg']}" for problem in problems[:_SHOWN_PROBLEMS]]
    return "; ".join(shown) + (
        f"; and {len(problems) - _SHOWN_PROBLEMS} more" if len(problems) > _SHOWN_PROBLEMS else ""
    )


def _place(location: tuple[int | str, ...]) -> str:
    """Name the field; keys of `polarities` are free text and are not repeated, and a long key is shortened."""
    shown = ["*" if at and location[at - 1] == "polarities" else str(part) for at, part in enumerate(location)]
    return shortened(".".join(shown)) or "line"
