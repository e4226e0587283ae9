"""Reliability of confidences: shares per bin with Wilson's interval, and the expected calibration error."""

import math
import random
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

BINS: Final = 10
_Z: Final = 1.959964
"""The normal quantile of a 95 % interval."""
_DRAWS: Final = 200
_SEED: Final = 7


class JudgedPair(NamedTuple):
    """The confidence of a pair, and whether it is a gold pair."""

    confidence: float
    is_right: bool


class Bin(NamedTuple):
    """The pairs whose confidence lies in [low, high); the last bin holds 1 too."""

    low: float
    high: float
    n: int
    mean_confidence: float
    right_n: int

    @property
    def share_right(self) -> float:
        """The share of right pairs."""
        return self.right_n / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of that share."""
        return wilson(self.right_n, self.n)

    def rounded(self) -> dict[str, Any]:
        """Return the bin as it is reported."""
        return {
            "bin": f"{self.low:.1f}-{self.high:.1f}",
            "n": self.n,
            "mean_confidence": round(self.mean_confidence, 3),
            "share_right": round(self.share_right, 3),
            "interval": [round(end, 3) for end in self.interval],
        }


def reliability_table(pairs: Sequence[JudgedPair], bins: int = BINS) -> tuple[Bin, ...]:
    """Return the bins of equal width that hold a pair, from the least to the most confident."""
    members: dict[int, list[JudgedPair]] = {}
    for pair in pairs:
        members.setdefault(min(bins - 1, int(pair.confidence * bins)), []).append(pair)
    return tuple(
        Bin(
            number / bins,
            (number + 1) / bins,
            len(inside),
            sum(pair.confidence for pair in inside) / len(inside),
            sum(pair.is_right for pair in inside),
        )
        for number, inside in sorted(members.items())
    )


def expected_calibration_error(pairs: Sequence[JudgedPair]) -> float | None:
    """Return the mean distance between confidence and share of right pairs, weighted by pairs; None without pairs."""
    if not pairs:
        return None
    return sum(place.n * abs(place.mean_confidence - place.share_right) for place in reliability_table(pairs)) / len(
        pairs
    )


def chance_error(pairs: Sequence[JudgedPair]) -> float | None:
    """Return the error that these confidences would have by chance alone if every one of them were exact.

    The expected calibration error is never negative, so few pairs give an error above 0 whatever the confidences are.
    """
    if not pairs:
        return None
    rng = random.Random(_SEED)
    drawn = 0.0
    for _ in range(_DRAWS):
        outcomes = [JudgedPair(pair.confidence, rng.random() < pair.confidence) for pair in pairs]
        drawn += expected_calibration_error(outcomes) or 0.0
    return drawn / _DRAWS


def wilson(right: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; nothing is known of none."""
    if n == 0:
        return 0.0, 1.0
    share, scale = right / n, 1 + _Z**2 / n
    middle = (share + _Z**2 / (2 * n)) / scale
    reach = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / scale
    return max(0.0, middle - reach), min(1.0, middle + reach)


def summary(pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """Return the figures that are written down."""
    return {
        "n": len(pairs),
        "ece": _rounded(expected_calibration_error(pairs)),
        "ece_by_chance": _rounded(chance_error(pairs)),
        "mean_confidence": _rounded(sum(pair.confidence for pair in pairs) / len(pairs) if pairs else None),
        "share_right": _rounded(sum(pair.is_right for pair in pairs) / len(pairs) if pairs else None),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
