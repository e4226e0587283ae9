"""The paired permutation test: as scipy's, exact where it can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.metrics.statistics.paired import PairedCells, swap_tests
from episodic_absa.metrics.statistics.paired.sides_swapped import sampled_p


def p_of(differences: list[float], **more: int) -> float | None:
    [found] = swap_tests([PairedCells.of_differences(np.array(differences)[:, None])], **more)
    return found and found.p_value


def scipy_p(differences: list[float], flips: float) -> float:
    from scipy.stats import permutation_test

    found = permutation_test(
        (np.asarray(differences),),
        lambda values, axis: np.abs(np.sum(values, axis=axis)),
        permutation_type="samples",
        vectorized=True,
        n_resamples=flips,
        alternative="greater",
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


@given(st.lists(st.integers(-12, 12), min_size=2, max_size=9).filter(lambda values: len(set(values)) > 1))
def test_differences_with_a_common_unit_get_the_exact_p_of_scipy(values: list[int]) -> None:
    # Twelfths: halves, thirds and quarters, as F1 has them, whose sums tie in truth but not in floats: scipy gets them
    # as whole numbers.
    assert p_of([value / 12 for value in values]) == pytest.approx(scipy_p([float(value) for value in values], np.inf))


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.3])
def test_others_get_the_p_of_scipy_but_for_chance(shift: float) -> None:
    differences = np.random.default_rng(8).normal(shift, 1.0, 120).tolist()
    assert p_of(differences) == pytest.approx(scipy_p(differences, 20_000), abs=0.012)
    assert p_of(differences) == p_of(differences) != p_of(differences, seed=1)


def test_reviews_without_a_difference_have_no_say() -> None:
    few = [0.5, 0.25, 0.5, 1.0, 0.25]
    assert p_of(few) == p_of([*few, *[0.0] * 3_000]) == 2 / 2**5


def test_a_drawn_p_is_never_zero_and_counts_ties() -> None:
    assert sampled_p([1.0] * 60 + [2.0] * 60, flips=999) == 1 / 1000
    assert sampled_p([0.1, 0.2, -0.3], flips=999) == 1.0
    assert sampled_p([1 / 3] * 2, flips=9_999) == pytest.approx(0.5, abs=0.02)


def test_p_values_are_uniform_where_nothing_differs() -> None:
    rng = np.random.default_rng(4)
    p_values = np.array([sampled_p(rng.normal(size=40).tolist(), flips=500) for _ in range(1_000)])
    for level in (0.05, 0.25, 0.5):
        assert np.mean(p_values <= level) == pytest.approx(level, abs=0.04)
