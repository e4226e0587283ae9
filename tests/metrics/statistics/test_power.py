"""How many reviews show a difference: against tables and simulation."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.metrics.statistics import detectable_difference, required_n


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
