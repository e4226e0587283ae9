"""Finds claim words that no interval supports. Tests apply it to every report."""

import re
from typing import Final, NamedTuple

from episodic_absa.metrics.statistics.power import ALPHA

# A word inside a longer name is not a claim: changed_improved_rate is the name of a metric.
_WORDS: Final = re.compile(
    r"(?<![\w-])(?:(?:improv|better|worse|outperform)[a-z]*|(?:in|non-?)?significan[a-z]*)(?!\w)"
    # Advice "lowered the risk" in texts of principles; a verdict raises or lowers a metric.
    r"|(?<![\w-])(?:raised|lowered)(?=\s+(?:(?:mean|micro)\s+)?(?:F1|precision|recall|[a-z0-9]+_\w+)\b)"
    r"|향상|개선|우수|유의|악화|능가|값을 (?:높였|낮췄)",
    re.IGNORECASE,
)
_NEEDS_TEST: Final = re.compile(r"significan|유의", re.IGNORECASE)
_NUMBER: Final = r"([+\-−]?\d[\d,]*(?:\.\d+)?)"
_INTERVAL: Final = re.compile(rf"(?:CI|신뢰구간)\s*\[{_NUMBER},\s+{_NUMBER}\]")
_HOLM: Final = re.compile(r"Holm\s+p\s*([=<])\s*(\d*\.?\d+)")
_SENTENCE_END: Final = re.compile(r"\n+|(?<=[.!?])\s+")


class UnsupportedClaim(NamedTuple):
    """A claim word and the sentence that contains it."""

    word: str
    sentence: str


def find_unsupported_claims(text: str) -> tuple[UnsupportedClaim, ...]:
    """Return the claim words that their own sentence does not support.

    A claim word ("better", "향상") needs an interval that excludes 0 in the same sentence. A word of significance also
    needs a Holm p below .05. A line break ends a sentence.

    Args:
        text: the text to check, without review texts: a customer's words are not claims.

    Example:
        >>> [claim.word for claim in find_unsupported_claims("C2 is better than C1.")]
        ['better']
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
    return not _NEEDS_TEST.search(word) or any(_is_below_alpha(*p_holm) for p_holm in _HOLM.findall(sentence))


def _is_below_alpha(relation: str, p_value: str) -> bool:
    return float(p_value) < ALPHA or (relation == "<" and float(p_value) == ALPHA)


def _excludes_zero(low: str, high: str) -> bool:
    return _number(low) > 0 or _number(high) < 0


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))
