"""Whether the data rule out an effect as large as the smallest one of interest."""

from typing import Final, Literal

from episodic_absa.metrics.statistics.power import largest_share

Equivalence = Literal["no_larger_effect", "larger_effect", "undecided"]
SMALLEST_EFFECT: Final = 0.01
FEW_DIFFERING: Final = 5
"""So few reviews that differ do not show how many would differ in another sample."""


def equivalence_of(
    low90: float | None, high90: float | None, smallest_effect: float, *, n: int, differing: int
) -> Equivalence | None:
    """Return what two one-sided tests at 5 % say about the smallest effect of interest.

    "no_larger_effect": the 90 % interval lies within plus and minus the effect. "larger_effect": it lies beyond.

    Args:
        low90: the lower bound of the 90 % interval; None where no review differs.
        high90: the upper bound.
        smallest_effect: the smallest absolute difference that would matter, for a metric between 0 and 1.
        n: the number of reviews.
        differing: the reviews whose difference is not 0. If these are five or fewer, the interval knows too little of
            the reviews that would differ in another sample; the share of differing reviews is bounded instead.
    """
    if n < 2:
        return None
    if differing <= FEW_DIFFERING and largest_share(differing, n) >= smallest_effect:
        return "undecided"
    if low90 is None or high90 is None:
        return "no_larger_effect"
    if -smallest_effect < low90 and high90 < smallest_effect:
        return "no_larger_effect"
    return "larger_effect" if low90 > smallest_effect or high90 < -smallest_effect else "undecided"
