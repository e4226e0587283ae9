"""Checks the review that a caller gives. No message quotes it."""

import math

from episodic_absa.errors import InputError


def checked_review(text: object) -> str:
    """Return a review that can be analysed.

    Raises:
        InputError: it is missing, not a string, without a readable character, or holds half of a surrogate pair.

    Example:
        >>> checked_review("Great.")
        'Great.'
    """
    if not isinstance(text, str):
        raise InputError(_other_type(text), argument="text")
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise InputError("the review is empty; give some text to analyse", argument="text")
    _refuse_half_character(text, "the review", "text")
    return text


def checked_name(name: object, argument: str) -> str:
    """Return the value of an argument that names a review or its domain.

    Raises:
        InputError: it is not a string, or holds half of a surrogate pair.

    Example:
        >>> checked_name("r1", "uid")
        'r1'
    """
    if not isinstance(name, str):
        raise InputError(f"{argument} must be a string, got {type(name).__name__}", argument=argument)
    _refuse_half_character(name, argument, argument)
    return name


def _refuse_half_character(text: str, what: str, argument: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} holds half of a surrogate pair at character {error.start + 1}, which no encoding can write; "
            "repair it with text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')",
            argument=argument,
        ) from None


def _other_type(value: object) -> str:
    kind = type(value).__name__
    if isinstance(value, bytes | bytearray | memoryview):
        return f"the review is {kind}, not a string; decode it first, for example with review.decode('utf-8')"
    # pandas writes NaN, NaT or NA for an empty cell.
    if value is None or kind in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value)):
        shown = "None" if value is None else "a missing value (NaN)"
        return f"the review is {shown}, not a string; leave rows without text out, for example with dropna()"
    return f"the review must be a string, got {kind}; give text, one review per call"
