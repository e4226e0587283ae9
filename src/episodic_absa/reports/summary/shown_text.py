"""Review text as a page may show it: no control characters, no direction overrides, never longer than it may be."""

import re
from typing import Final, NamedTuple

from episodic_absa.language import nearest_occurrence

_HARMFUL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters, direction overrides and half surrogate pairs. ZWJ is kept: it joins emoji."""
_REPLACEMENT: Final = "\ufffd"
_LOOK_BACK: Final = 40


class Excerpt(NamedTuple):
    """A part of a text with the marked words in it, in code points; `start == end` without a mark."""

    text: str
    start: int
    end: int
    cut_before: bool
    cut_after: bool


def cleaned(text: str) -> str:
    """Return a text of the same length in which no character controls a page or a terminal."""
    return _HARMFUL.sub(_REPLACEMENT, text)


def on_one_line(text: str, longest: int) -> str:
    """Return a clean text with single spaces; a longer one ends in an ellipsis."""
    line = " ".join(cleaned(text[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def words_at(evidence: str, term: str, text: str) -> tuple[int, int]:
    """Return where a text holds the evidence, else the term; (0, 0) if it holds neither."""
    for words in (evidence, term):
        place = nearest_occurrence(words, text, 0) if words.strip() else None
        if place is not None:
            return place
    return 0, 0


def excerpt(text: str, start: int, end: int, longest: int) -> Excerpt:
    """Return at most `longest` characters of a text around the marked words, cut between words where possible."""
    end = min(end, start + longest)
    if len(text) <= longest:
        return Excerpt(text, start, end, cut_before=False, cut_after=False)
    first = max(0, min(start - (longest - (end - start)) // 2, len(text) - longest))
    last = first + longest
    first = _after_space(text, first, min(start, first + _LOOK_BACK)) if first else 0
    last = _before_space(text, last, max(end, last - _LOOK_BACK)) if last < len(text) else len(text)
    return Excerpt(text[first:last], start - first, end - first, cut_before=first > 0, cut_after=last < len(text))


def _after_space(text: str, first: int, latest: int) -> int:
    return next((place + 1 for place in range(first, latest) if text[place].isspace()), first)


def _before_space(text: str, last: int, earliest: int) -> int:
    return next((place for place in range(last, earliest, -1) if text[place].isspace()), last)
