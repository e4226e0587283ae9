"""McNemar's exact test: whether the reviews that only one side gets right lie on one side more than chance allows."""

from collections.abc import Mapping, Sequence

from episodic_absa.schemas.frozen_model import Count, FrozenModel


class McNemar(FrozenModel):
    """Reviews that only one side gets right."""

    a_only: Count
    b_only: Count
    ties_dropped: Count
    """Reviews that are right in exactly half of their seeds on a side: neither right nor wrong."""
    p_value: float | None
    """None without a review that only one side gets right."""
    odds_ratio: float | None
    """a_only / b_only; None where b_only is 0."""
    p_holm: float | None = None


def mcnemar(right_a: Mapping[str, Sequence[float]], right_b: Mapping[str, Sequence[float]]) -> McNemar | None:
    """Test matches (1) and misses (0) by uid, a value per seed; None without a review."""
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
    """Say whether more than half are right, None for exactly half."""
    doubled = 2 * sum(matches)
    return None if doubled == len(matches) else doubled > len(matches)
