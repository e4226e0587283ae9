"""Finds a term in a text, in any case. Callers keep the characters of the text."""

from episodic_absa.language.normalisation import norm


def occurrences(term: str, text: str) -> list[int]:
    """Return the offsets at which a term begins in a text, in order. Occurrences may overlap."""
    needle, hay = _folded(term), _folded(text)
    if not needle or len(hay) != len(text):
        return _exact(term, text)
    return _exact(needle, hay)


def nearest_occurrence(term: str, text: str, start: int) -> tuple[int, int] | None:
    """Return start and end of the occurrence of a term, or of its normalised form, nearest to `start`."""
    for form in (term, norm(term)):
        offsets = occurrences(form, text)
        if offsets:
            nearest = min(offsets, key=lambda offset: (abs(offset - start), offset))
            return nearest, nearest + len(form)
    return None


def occurs(term: str, text: str) -> bool:
    """Return whether a term, or its normalised form, occurs in a text."""
    return nearest_occurrence(term, text, 0) is not None


def _exact(needle: str, hay: str) -> list[int]:
    offsets: list[int] = []
    offset = hay.find(needle) if needle else -1
    while offset >= 0:
        offsets.append(offset)
        offset = hay.find(needle, offset + 1)
    return offsets


def _folded(string: str) -> str:
    # A letter whose lower case is longer keeps its form, so that offsets stay valid.
    lowered = string.lower()
    if len(lowered) == len(string):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in string)
