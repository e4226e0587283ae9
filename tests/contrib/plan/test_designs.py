"""The designs of a plan are enough and no more, and a pilot is taken apart into its variances."""

from math import sqrt

import numpy as np
import pytest

from episodic_absa.contrib.plan.designs import cheapest, designs_for, orders_of_designs, split_variance
from episodic_absa.metrics.statistics import Design, Variances, power_of

VARIANCES = Variances(reviews=0.15**2, orders=0.01**2, rest=0.05**2)


@pytest.mark.parametrize("grows", [False, True])
def test_the_reviews_found_are_enough_and_one_less_is_not(grows: bool) -> None:
    designs = designs_for(0.03, VARIANCES, orders_of_designs(0.03, grows=grows), grows=grows)
    assert designs
    for design in designs:
        assert power_of(0.03, VARIANCES, design) >= 0.8
        assert power_of(0.03, VARIANCES, design._replace(reviews=design.reviews - 1)) < 0.8


def test_a_frozen_memory_needs_one_order_and_a_growing_one_those_that_outweigh_bad_ones() -> None:
    assert list(orders_of_designs(0.03, grows=False)) == [1]
    assert orders_of_designs(0.03, grows=True)[0] == 29


def test_the_cheapest_design_has_the_fewest_samples_among_those_that_the_split_allows() -> None:
    designs = [Design(820, 5), Design(675, 6), Design(557, 10)]
    assert cheapest(designs, available=5_000) == Design(675, 6)
    assert cheapest(designs, available=600) == Design(557, 10)
    assert cheapest([], available=600) is None


def test_a_pilot_is_taken_apart_into_reviews_orders_and_the_rest() -> None:
    draws = np.random.default_rng(3)
    rows = 0.01 + draws.normal(0, 0.2, (4000, 1)) + draws.normal(0, 0.05, (1, 60)) + draws.normal(0, 0.1, (4000, 60))
    pilot = split_variance(rows.tolist())
    sds = [sqrt(variance) for variance in pilot.variances]
    assert sds == pytest.approx([0.2, 0.05, 0.1], rel=0.2)
    assert (pilot.reviews, pilot.orders) == (4000, 60)
