"""McNemar's exact test: whether one side gets more reviews right that the other gets wrong than chance allows."""

from collections.abc import Mapping, Sequence

from episodic_absa.schemas.frozen_model import Count, FrozenModel


class McNemar(FrozenModel):
    """The reviews that exactly one side gets right, and the test of their counts."""

    a_only: Count
    """Reviews that are right under A and wrong under B."""
    b_only: Count
    """Reviews that are right under B and wrong under A."""
    ties_dropped: Count
    """Reviews that are right in exactly half of their seeds on one side; they count as neither right nor wrong."""
    p_value: float | None
    """None if a_only and b_only are both 0."""
    odds_ratio: float | None
    """a_only / b_only; None if b_only is 0."""
    p_holm: float | None = None


def mcnemar(right_a: Mapping[str, Sequence[float]], right_b: Mapping[str, Sequence[float]]) -> McNemar | None:
    """Return McNemar's test of two sides; None without a review.

    A review is right if it is right in more than half of its seeds.

    Args:
        right_a: by uid, 1 (right) or 0 (wrong) for each seed under A.
        right_b: the same under B, for the same uids.
    """
    if not right_a:
        return None
    a_only = b_only = ties = 0
    for uid, matches in right_a.items():
        is_right = _majority(matches), _majority(right_b[uid])
        ties += None in is_right
        a_only += is_right == (True, False)
        b_only += is_right == (False, True)
    return McNemar(
        a_only=a_only,
        b_only=b_only,
        ties_dropped=ties,
        p_value=exact_binomial_p(a_only, b_only) if a_only + b_only else None,
        odds_ratio=a_only / b_only if b_only else None,
    )


def exact_binomial_p(a_only: int, b_only: int) -> float:
    """Return the two-sided p of a fair coin that fell `a_only` times on one side and `b_only` times on the other."""
    # Imported here: scipy.stats takes half a second to load, and only a comparison needs it.
    from scipy.stats import binomtest

    return float(binomtest(a_only, a_only + b_only, 0.5).pvalue)


def _majority(matches: Sequence[float]) -> bool | None:
    """Return whether more than half are right; None for exactly half."""
    doubled = 2 * sum(matches)
    return None if doubled == len(matches) else doubled > len(matches)
