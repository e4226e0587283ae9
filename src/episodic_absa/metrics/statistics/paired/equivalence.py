"""Whether the data rule out an effect as large as the smallest one of interest."""

from typing import Final, Literal

from episodic_absa.metrics.statistics.paired.interval import PairedInterval
from episodic_absa.metrics.statistics.paired.unseen import largest_share

Equivalence = Literal["no_larger_effect", "larger_effect", "undecided"]
SMALLEST_EFFECT: Final = 0.01
FEW_DIFFERING: Final = 5
"""So few reviews that differ do not show how many would differ in another sample."""


def equivalence_of(
    interval: PairedInterval | None, smallest_effect: float, *, n: int, differing: int
) -> Equivalence | None:
    """Return what two one-sided tests at 5 % say about the smallest effect of interest.

    "no_larger_effect": the 90 % interval lies within plus and minus the effect. "larger_effect": it lies beyond.

    Args:
        interval: the interval of the difference; None without variation.
        smallest_effect: the smallest absolute difference that would matter, for a metric between 0 and 1.
        n: the number of reviews.
        differing: the reviews whose difference is not 0. If these are five or fewer, the interval knows too little of
            the reviews that would differ in another sample; the share of differing reviews is bounded instead.
    """
    if n < 2:
        return None
    if differing <= FEW_DIFFERING and largest_share(differing, n) >= smallest_effect:
        return "undecided"
    if interval is None:
        return None if differing else "no_larger_effect"
    if -smallest_effect < interval.low90 and interval.high90 < smallest_effect:
        return "no_larger_effect"
    if interval.low90 > smallest_effect or interval.high90 < -smallest_effect:
        return "larger_effect"
    return "undecided"
