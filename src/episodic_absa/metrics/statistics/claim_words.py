"""Finds words that claim more than the interval beside them carries. Tests read every report with it."""

import re
from typing import Final, NamedTuple

from episodic_absa.metrics.statistics.power import ALPHA

# Names of metrics and fields (changed_improved_rate) are no claims: a word must not be a part of a longer one.
_WORDS: Final = re.compile(
    r"(?<![\w-])(?:(?:improv|better|worse|outperform)[a-z]*|(?:in|non-?)?significan[a-z]*)(?!\w)|향상|개선|우수|유의|악화|능가",
    re.IGNORECASE,
)
_NEEDS_TEST: Final = re.compile(r"significan|유의", re.IGNORECASE)
_NUMBER: Final = r"([+\-−]?\d[\d,]*(?:\.\d+)?)"
_INTERVAL: Final = re.compile(rf"(?:CI|신뢰구간)\s*\[{_NUMBER},\s+{_NUMBER}\]")
_HOLM: Final = re.compile(r"Holm\s+p\s*([=<])\s*(\d*\.?\d+)")
_SENTENCE_END: Final = re.compile(r"\n+|(?<=[.!?])\s+")


class UnsupportedClaim(NamedTuple):
    """A word, and the sentence that it stands in."""

    word: str
    sentence: str


def find_unsupported_claims(text: str) -> tuple[UnsupportedClaim, ...]:
    """Return claim words without an interval in their sentence that excludes 0, or without the Holm p they need.

    A sentence ends at a line's end as well. Review texts are no claims of ours: leave them out.
    """
    return tuple(
        UnsupportedClaim(word, sentence.strip())
        for sentence in _SENTENCE_END.split(text)
        for word in _WORDS.findall(sentence)
        if not _is_supported(word, sentence)
    )


def _is_supported(word: str, sentence: str) -> bool:
    intervals = _INTERVAL.findall(sentence)
    if not intervals or not all(_excludes_zero(*bounds) for bounds in intervals):
        return False
    return not _NEEDS_TEST.search(word) or any(_is_small(*found) for found in _HOLM.findall(sentence))


def _is_small(relation: str, p_value: str) -> bool:
    return float(p_value) < ALPHA or (relation == "<" and float(p_value) == ALPHA)


def _excludes_zero(low: str, high: str) -> bool:
    return _number(low) > 0 or _number(high) < 0


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))
