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
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"the review holds half of a surrogate pair at character {error.start + 1}, which no encoding can write; "
            "repair it with text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')",
            argument="text",
        ) from None
    return text


def _other_type(value: object) -> str:
    kind = type(value).__name__
    if isinstance(value, bytes | bytearray | memoryview):
        return f"the review is {kind}, not a string; decode it first, for example with review.decode('utf-8')"
    # pandas writes NaN, NaT or NA for an empty cell.
    if value is None or kind in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value)):
        shown = "None" if value is None else "a missing value (NaN)"
        return f"the review is {shown}, not a string; leave rows without text out, for example with dropna()"
    return f"the review must be a string, got {kind}; give text, one review per call"
