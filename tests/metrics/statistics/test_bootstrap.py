"""Percentile bootstrap intervals: as scipy's, the same everywhere, and as wide as they say."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from episodic_absa.metrics.statistics import bootstrap_intervals, ratio_intervals

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
COMPARED = "0.5 0.25 0 0 0 -0.25 1 0 0 0.125 0 -0.5 0.333333333 0 0 0.2 0 0 0 0.666666667"
VALUES = [float(value) for value in COMPARED.split()]


def one_interval(values: list[float], **more: int) -> tuple[float, float]:
    interval = bootstrap_intervals([values], **more)[0]
    assert interval is not None
    return interval


@pytest.mark.parametrize("n", [8, 40, 300])
def test_intervals_are_those_of_scipy(n: int) -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(n).gamma(2.0, 0.1, n) - 0.15
    theirs = bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert one_interval(values.tolist()) == pytest.approx((theirs.low, theirs.high), abs=0.02 * width)


def test_an_interval_is_the_same_on_every_machine() -> None:
    # Written down once. Sums are of whole numbers and draws of raw bits: neither hangs on a processor or a version.
    assert one_interval(VALUES) == (-0.01084375, 0.2625)


def test_the_seed_decides_the_draws() -> None:
    values = np.random.default_rng(3).normal(size=50).tolist()
    assert one_interval(values, seed=1) == one_interval(values, seed=1)
    assert one_interval(values, seed=1) != one_interval(values, seed=2)


def test_an_interval_does_not_depend_on_what_else_is_asked() -> None:
    rng = np.random.default_rng(5)
    others = [rng.normal(size=n).tolist() for n in (20, 20, 33)]
    assert bootstrap_intervals([others[0], VALUES, others[1], others[2]])[1] == one_interval(VALUES)


@pytest.mark.parametrize("values", [[], [0.4], [0.4, 0.4, 0.4], [0.1 + 0.2, 0.3]])
def test_there_is_no_interval_without_variation(values: list[float]) -> None:
    assert bootstrap_intervals([values]) == (None,)


@given(st.lists(st.integers(-8, 8), min_size=2, max_size=12, unique=True))
def test_an_interval_holds_the_extremes_apart(values: list[int]) -> None:
    low, high = one_interval([value / 8 for value in values], resamples=400)
    assert min(values) / 8 <= low <= high <= max(values) / 8


def zero_inflated(share: float, weights: tuple[float, float, float, float]) -> Draw:
    """Most reviews are answered alike; the rest win or lose a half or a whole."""

    def draw(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        changed = rng.choice([1.0, -1.0, 0.5, -0.5], n, p=weights)
        return np.where(rng.random(n) < share, changed, 0.0)

    return draw


SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, n: rng.normal(0.1, 1.0, n), 0.1),
    "skewed": (lambda rng, n: rng.gamma(4.0, 0.05, n), 0.2),
    "zero_inflated_even": (zero_inflated(0.2, (0.25, 0.25, 0.25, 0.25)), 0.0),
    "zero_inflated_uneven": (zero_inflated(0.3, (0.4, 0.2, 0.25, 0.15)), 0.3 * 0.25),
}


def coverage(draw: Draw, truth: float, n: int, *, simulations: int = 2_000, resamples: int = 1_500) -> float:
    rng = np.random.default_rng(n)
    held = [draw(rng, n).tolist() for _ in range(simulations)]
    batches = [held[start : start + 500] for start in range(0, simulations, 500)]
    # Simulations that share their draws share the luck of the tails; batches with seeds of their own even it out.
    found = [bootstrap_intervals(batch, resamples=resamples, seed=seed) for seed, batch in enumerate(batches)]
    return float(
        np.mean([interval is not None and interval[0] <= truth <= interval[1] for batch in found for interval in batch])
    )


@pytest.mark.parametrize("n", [50, 100, 200])
@pytest.mark.parametrize("shape", SHAPES)
def test_95_in_100_intervals_hold_the_truth(shape: str, n: int) -> None:
    draw, truth = SHAPES[shape]
    assert 0.93 <= coverage(draw, truth, n) <= 0.97


def test_the_interval_of_a_ratio_is_that_of_the_mean_if_all_denominators_are_equal() -> None:
    hits = [0, 2, 1, 2, 0, 0, 1, 2, 2, 1]
    assert ratio_intervals([[(hit, 2) for hit in hits]]) == bootstrap_intervals([[hit / 2 for hit in hits]])


def test_long_reviews_weigh_more_in_the_interval_of_a_ratio() -> None:
    short, long = [(2, 2)] * 10 + [(0, 2)] * 10, [(20, 20)] * 10 + [(0, 2)] * 10
    equal, heavy, constant = ratio_intervals([short, long, [(1, 2)] * 20])
    assert equal is not None
    assert heavy is not None
    assert heavy[0] > equal[0]
    assert heavy[0] < 200 / 220 < heavy[1]
    assert constant is None
