"""Finds a term in its text, whatever its case. The text's own characters are what is kept."""

from episodic_absa.language.normalisation import norm


def occurrences(term: str, text: str) -> list[int]:
    """Return where the term begins in the text, in order; overlapping ones included."""
    needle, hay = _folded(term), _folded(text)
    if not needle or len(hay) != len(text):
        return _exact(term, text)
    return _exact(needle, hay)


def nearest_occurrence(term: str, text: str, start: int) -> tuple[int, int] | None:
    """Return the occurrence of the term, or of its normalised form, that begins nearest to `start`."""
    for form in (term, norm(term)):
        found = occurrences(form, text)
        if found:
            begin = min(found, key=lambda at: (abs(at - start), at))
            return begin, begin + len(form)
    return None


def occurs(term: str, text: str) -> bool:
    """Whether the term, or its normalised form, stands in the text."""
    return nearest_occurrence(term, text, 0) is not None


def _exact(needle: str, hay: str) -> list[int]:
    found, at = [], hay.find(needle) if needle else -1
    while at >= 0:
        found.append(at)
        at = hay.find(needle, at + 1)
    return found


def _folded(string: str) -> str:
    # Character by character: the few letters whose lower case is longer keep their form, so that offsets hold.
    lowered = string.lower()
    if len(lowered) == len(string):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in string)
