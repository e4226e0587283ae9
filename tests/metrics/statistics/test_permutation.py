"""The paired sign-flip test: as scipy's, exact where it can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.metrics.statistics.permutation import sign_flip_p_values


def p_of(differences: list[float], **more: int) -> float | None:
    return sign_flip_p_values([differences], **more)[0]


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
def test_small_samples_get_the_exact_p_of_scipy(values: list[int]) -> None:
    # Twelfths: halves, thirds and quarters, as F1 has them, whose sums tie in truth but not in floats: scipy gets them
    # as whole numbers.
    assert p_of([value / 12 for value in values]) == pytest.approx(scipy_p([float(value) for value in values], np.inf))


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.3])
def test_large_samples_get_the_p_of_scipy_but_for_chance(shift: float) -> None:
    differences = np.random.default_rng(8).normal(shift, 1.0, 120).tolist()
    assert p_of(differences) == pytest.approx(scipy_p(differences, 20_000), abs=0.012)


def test_reviews_without_a_difference_have_no_say() -> None:
    few = [0.5, 0.25, 0.5, 1.0, 0.25]
    assert p_of(few) == 2 / 2**5
    assert p_of([*few, *[0.0] * 3_000]) == 2 / 2**5


def test_sampled_p_is_never_zero() -> None:
    assert p_of([1.0] * 60 + [2.0] * 60, flips=999) == 1 / 1000


def test_all_patterns_are_tried_where_they_are_no_more_than_the_flips() -> None:
    differences = [1.0, 2.0, 3.0, 4.0]
    assert p_of(differences, flips=16) == 2 / 16
    assert p_of(differences, flips=15) in [(1 + count) / 16 for count in range(16)]
    assert len({p_of(differences, flips=16, seed=seed) for seed in range(20)}) == 1
    assert len({p_of(differences, flips=15, seed=seed) for seed in range(20)}) > 1


@pytest.mark.parametrize("differences", [[], [0.5], [0.0] * 9, [0.5] * 9])
def test_there_is_no_test_without_variation(differences: list[float]) -> None:
    assert p_of(differences) is None


def test_p_values_are_uniform_where_nothing_differs() -> None:
    rng = np.random.default_rng(4)
    samples = [rng.normal(size=40).tolist() for _ in range(1_000)]
    p_values = np.array([p for p in sign_flip_p_values(samples, flips=2_000) if p is not None])
    assert len(p_values) == 1_000
    for level in (0.05, 0.25, 0.5):
        assert np.mean(p_values <= level) == pytest.approx(level, abs=0.04)
