"""The confidence sequence: it covers at every look, whatever the differences are like and however they drift."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from episodic_absa.contrib.watch.confidence_sequence import confidence_sequence, look_at

Drawn = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The differences of every experiment, and the expected difference of every review."""
EXPERIMENTS, REVIEWS = 400, 300
RANDOM = np.random.default_rng(257)
SHAPE = (EXPERIMENTS, REVIEWS)
DRIFT = 0.3 * np.sin(np.arange(REVIEWS) / 30)


def sparse() -> Drawn:
    changes = [0.0, 0.5, -0.5, 1.0, -1.0]
    return RANDOM.choice(changes, size=SHAPE, p=[0.86, 0.05, 0.05, 0.02, 0.02]), np.zeros(REVIEWS)


def skewed() -> Drawn:
    return np.where(RANDOM.random(SHAPE) < 0.05, 0.95, -0.05), np.zeros(REVIEWS)


def as_wide_as_possible() -> Drawn:
    return RANDOM.choice([-1.0, 1.0], size=SHAPE), np.zeros(REVIEWS)


def drifting() -> Drawn:
    return RANDOM.uniform(-0.7, 0.7, size=SHAPE) + DRIFT, DRIFT


@pytest.mark.parametrize("draw", [sparse, skewed, as_wide_as_possible, drifting])
def test_the_sequence_covers_at_every_look(draw: Callable[[], Drawn]) -> None:
    differences, expected = draw()
    looks = range(10, REVIEWS + 1, 10)
    low, high = confidence_sequence(differences, planned=REVIEWS, looks=looks)
    means = (expected.cumsum() / np.arange(1, REVIEWS + 1))[[look - 1 for look in looks]]
    missed = ((means < low) | (means > high)).any(axis=1)
    assert missed.mean() <= 0.05


def test_an_effect_is_found_before_the_end_and_a_look_equals_the_sequence() -> None:
    differences = RANDOM.choice([0.0, 1.0], size=REVIEWS, p=[0.8, 0.2])
    low, high = confidence_sequence(differences, planned=REVIEWS)
    assert low[0] == -1.0
    assert (high - low)[-1] < (high - low)[REVIEWS // 4] < (high - low)[9]
    first = int(np.argmax(low > 0)) + 1
    assert first < REVIEWS
    look = look_at(differences[:first].tolist(), planned=REVIEWS)
    assert (look.n, look.low, look.high) == (first, low[first - 1], high[first - 1])
    assert look.excludes_zero
    assert look_at([]).mean is None
    assert (look_at([]).low, look_at([]).high) == (-1.0, 1.0)


def test_a_larger_range_gives_the_same_sequence_in_its_unit() -> None:
    differences = RANDOM.uniform(-0.2, 0.3, size=REVIEWS)
    low, high = confidence_sequence(differences)
    doubled = confidence_sequence(2 * differences, largest=2.0)
    assert doubled[0] == pytest.approx(2 * low)
    assert doubled[1] == pytest.approx(2 * high)


@pytest.mark.parametrize("differences", [[0.0, 1.5], [float("nan")]])
def test_a_difference_out_of_range_is_refused(differences: list[float]) -> None:
    with pytest.raises(ValueError, match=r"outside -1\.0 to 1\.0"):
        look_at(differences)


def test_an_argument_out_of_range_is_refused() -> None:
    for arguments in ({"largest": 0.0}, {"planned": 0}, {"alpha": 1.0}):
        with pytest.raises(ValueError, match="give numbers above 0"):
            look_at([0.0], **arguments)
