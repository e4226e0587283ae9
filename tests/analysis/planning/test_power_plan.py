"""The power of a plan is what simulated experiments give, and it behaves as power does."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import t as student

from episodic_absa.analysis.planning import (
    Design,
    Variances,
    designs_for,
    detectable_effect,
    needed_reviews,
    power_of,
    split_variance,
)
from episodic_absa.metrics.statistics import required_n

VARIANCES = Variances(reviews=0.15**2, orders=0.01**2, rest=0.05**2)


def simulated_power(effect: float, variances: Variances, design: Design, *, runs: int = 4000) -> float:
    """Return how often simulated experiments show the effect by both tests."""
    draws = np.random.default_rng(7)
    reviews, orders = design
    by_review = draws.normal(0, sqrt(variances.reviews / reviews), runs)
    between_orders = sqrt(variances.orders + variances.rest / reviews)
    by_order = draws.normal(0, between_orders, (runs, orders))
    mean = effect + by_review + by_order.mean(axis=1)
    error_orders = by_order.std(axis=1, ddof=1) / sqrt(orders)
    error = np.sqrt(variances.reviews / reviews + error_orders**2)
    shown = (mean > 1.959964 * error) & (mean > student.ppf(0.975, orders - 1) * error_orders)
    return float(shown.mean())


@pytest.mark.parametrize("design", [Design(820, 5), Design(200, 8), Design(3000, 5)])
def test_power_is_that_of_simulated_experiments(design: Design) -> None:
    assert power_of(0.02, VARIANCES, design) == pytest.approx(simulated_power(0.02, VARIANCES, design), abs=0.025)


def test_one_order_without_a_variance_between_orders_is_the_comparison_of_reviews() -> None:
    for effect, sd in ((0.01, 0.2), (0.02, 0.15), (0.05, 0.3)):
        needed = needed_reviews(effect, Variances(reviews=sd**2), 1)
        assert needed is not None
        assert needed == pytest.approx(required_n(effect, sd), abs=1)


def test_the_reviews_found_are_enough_and_one_less_is_not() -> None:
    for reviews, orders in designs_for(0.02, VARIANCES, (5, 10, 40)):
        assert power_of(0.02, VARIANCES, Design(reviews, orders)) >= 0.8
        assert power_of(0.02, VARIANCES, Design(reviews - 1, orders)) < 0.8
        assert detectable_effect(VARIANCES, Design(reviews, orders)) == pytest.approx(0.02, rel=0.01)


def test_no_number_of_reviews_makes_up_for_too_few_orders() -> None:
    shocks = Variances(reviews=0.15**2, orders=0.03**2)
    assert needed_reviews(0.02, shocks, 5) is None
    assert needed_reviews(0.02, shocks, 30) is not None


def test_a_pilot_is_taken_apart_into_reviews_orders_and_the_rest() -> None:
    draws = np.random.default_rng(3)
    rows = 0.01 + draws.normal(0, 0.2, (4000, 1)) + draws.normal(0, 0.05, (1, 60)) + draws.normal(0, 0.1, (4000, 60))
    pilot = split_variance(rows.tolist())
    sds = [sqrt(variance) for variance in pilot.variances]
    assert sds == pytest.approx([0.2, 0.05, 0.1], rel=0.2)
    assert (pilot.reviews, pilot.orders) == (4000, 60)
