"""Holm, McNemar and power against tables worked by hand, exact fractions and simulation."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.metrics.statistics import detectable_difference, holm, required_n
from episodic_absa.metrics.statistics.mcnemar import exact_binomial_p, mcnemar

P_VALUES = st.lists(st.floats(0, 1), max_size=12)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ((), ()),
        ((0.03,), (0.03,)),
        # By hand: .005 x 4, .01 x 3, .03 x 2, .04 x 1; the last may not fall below the one before.
        ((0.01, 0.04, 0.03, 0.005), (0.03, 0.06, 0.06, 0.02)),
        ((0.5, 0.6, 0.9), (1.0, 1.0, 1.0)),
        ((0.02, 0.02, 0.02), (0.06, 0.06, 0.06)),
    ],
)
def test_holm_as_worked_by_hand(p_values: tuple[float, ...], adjusted: tuple[float, ...]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


@given(P_VALUES)
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for alpha in (0.01, 0.05, 0.2):
        rejected: set[int] = set()
        for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
            if p_values[place] * (len(p_values) - rank) > alpha:
                break
            rejected.add(place)
        assert rejected == {place for place, p_value in enumerate(adjusted) if p_value <= alpha}


@given(P_VALUES)
def test_holm_never_lowers_a_p_and_stays_between_that_and_bonferroni(p_values: list[float]) -> None:
    for raw, adjusted in zip(p_values, holm(p_values), strict=True):
        assert raw <= adjusted <= min(1.0, raw * len(p_values))


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_binomial_test(a_only: int, b_only: int) -> None:
    tosses = a_only + b_only
    if tosses:
        tail = sum(math.comb(tosses, heads) for heads in range(min(a_only, b_only) + 1))
        expected = min(1.0, float(Fraction(2 * tail, 2**tosses)))
        assert exact_binomial_p(a_only, b_only) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_a_review_is_right_if_most_of_its_seeds_are_and_halves_are_dropped() -> None:
    a = {"r1": (1.0, 1.0, 0.0), "r2": (1.0, 0.0), "r3": (1.0,), "r4": (1.0, 1.0), "r5": (0.0, 0.0), "r6": (1.0, 1.0)}
    b = {"r1": (0.0, 0.0, 1.0), "r2": (0.0, 0.0), "r3": (0.0,), "r4": (1.0, 0.0), "r5": (1.0, 1.0), "r6": (1.0, 1.0)}
    found = mcnemar(a, b)
    assert found is not None
    assert (found.a_only, found.b_only, found.ties_dropped) == (2, 1, 2)
    assert (found.p_value, found.odds_ratio) == (1.0, 2.0)


def test_without_a_loser_there_is_no_ratio_and_without_a_difference_no_test() -> None:
    one_sided = mcnemar({"r1": (1.0,), "r2": (1.0,)}, {"r1": (0.0,), "r2": (0.0,)})
    assert one_sided is not None
    assert (one_sided.p_value, one_sided.odds_ratio) == (0.5, None)
    alike = mcnemar({"r1": (1.0,)}, {"r1": (1.0,)})
    assert alike is not None
    assert (alike.p_value, alike.odds_ratio) == (None, None)
    assert mcnemar({}, {}) is None


@pytest.mark.parametrize(("dz", "n"), [(0.2, 197), (0.5, 32), (0.8, 13)])
def test_required_n_is_what_tables_of_the_normal_approximation_say(dz: float, n: int) -> None:
    assert required_n(dz, 1.0) == n
    assert required_n(-dz * 3, 3.0) == n


def test_more_power_or_a_stricter_test_needs_more_reviews() -> None:
    assert required_n(0.2, 1.0, power=0.9) == math.ceil(((1.959964 + 1.281552) / 0.2) ** 2)
    assert required_n(0.2, 1.0, alpha=0.01) > required_n(0.2, 1.0)


@given(st.integers(2, 5_000), st.floats(0.01, 10))
def test_what_n_reviews_can_show_needs_n_reviews(n: int, sd: float) -> None:
    assert required_n(detectable_difference(n, sd), sd) in (n, n + 1)  # a whole number may be met from above


def test_nothing_needs_no_reviews_and_one_review_shows_nothing() -> None:
    with pytest.raises(ValueError, match="difference of 0"):
        required_n(0.0, 1.0)
    for beyond in (1e-300, math.inf, math.nan):
        with pytest.raises(ValueError, match="is not finite"):
            required_n(beyond, 1.0)
    with pytest.raises(ValueError, match="at least 2"):
        detectable_difference(1, 1.0)
    assert required_n(5.0, 0.0) == 2


@pytest.mark.parametrize("difference", [0.02, 0.05])
def test_so_many_reviews_do_see_the_difference_four_times_in_five(difference: float) -> None:
    sd = 0.25
    n = required_n(difference, sd)
    rng = np.random.default_rng(1)
    samples = rng.normal(difference, sd, (2_000, n))
    z = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / math.sqrt(n))
    seen = np.mean(np.abs(z) > NormalDist().inv_cdf(0.975))
    assert seen == pytest.approx(0.8, abs=0.03)
