"""How many reviews and orders show a difference: against tables, against the rules of a claim, and as power behaves."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.metrics.statistics import Variances, needed_reviews
from episodic_absa.metrics.statistics.paired import PairedCells, assess
from episodic_absa.metrics.statistics.power import Design, detectable_effect, largest_share, orders_for, power_of

VARIANCES = Variances(reviews=0.15**2, orders=0.01**2, rest=0.05**2)


def simulated_power(effect: float, variances: Variances, design: Design, *, runs: int = 120) -> float:
    """Return how often the rules of `compare` make a claim in drawn experiments."""
    draws = np.random.default_rng(7)
    n, k, grows = design
    tables = [
        effect
        + draws.normal(0, sqrt(variances.reviews), (n, 1))
        + draws.normal(0, sqrt(variances.orders), (1, k))
        + draws.normal(0, sqrt(variances.rest), (n, k))
        for _ in range(runs)
    ]
    found = assess([PairedCells.of_differences(table) for table in tables], memory_grows=grows, resamples=200)
    return sum(not evidence.doubt for evidence in found) / runs


@pytest.mark.parametrize(
    ("effect", "design"),
    [
        (0.02, Design(500)),
        (0.05, Design(90)),
        (0.03, Design(300, 6)),
        (0.03, Design(800, 5)),
        (0.15, Design(100, 5, grows=True)),
        (0.15, Design(100, 6, grows=True)),
        (0.03, Design(60, 4)),
    ],
    ids=str,
)
def test_power_is_how_often_the_rules_make_a_claim(effect: float, design: Design) -> None:
    # A review that goes far against the difference is drawn: normal differences have such reviews.
    expected = power_of(effect, VARIANCES, design, room=0.7)
    assert simulated_power(effect, VARIANCES, design) == pytest.approx(expected, abs=0.13)


@pytest.mark.parametrize(("dz", "n"), [(0.2, 197), (0.5, 32), (0.8, 13)])
def test_without_unseen_reviews_the_reviews_are_those_of_tables(dz: float, n: int) -> None:
    assert needed_reviews(dz, Variances(reviews=1.0), room=0.0) == pytest.approx(n, abs=1)
    assert needed_reviews(-dz * 3, Variances(reviews=9.0), room=0.0) == pytest.approx(n, abs=1)


def test_unseen_reviews_are_part_of_what_a_small_effect_needs() -> None:
    # 197 reviews would do by the normal approximation; a claim needs more than 1 - .05^(1/197) = .015.
    assert largest_share(0, 197) > 0.01
    assert (needed_reviews(0.01, Variances(reviews=0.05**2)) or 0) > 400


def test_a_memory_that_grows_shows_nothing_below_what_bad_orders_could_undo() -> None:
    certain = Variances(reviews=0.01**2)
    assert power_of(0.13, certain, Design(10_000, 5, grows=True)) == 0.0
    assert power_of(0.14, certain, Design(10_000, 5, grows=True)) == pytest.approx(1.0)
    assert power_of(0.9, certain, Design(10_000, 4, grows=True)) == 0.0
    assert needed_reviews(0.03, certain, 28, grows=True) is None
    assert needed_reviews(0.03, certain, 29, grows=True) is not None
    assert (orders_for(0.03), orders_for(0.13), orders_for(0.5), orders_for(0.0)) == (29, 6, 5, 5)
    # Orders whose means vary may go against the effect, which costs more than their variance.
    spread = Variances(reviews=0.01**2, orders=0.02**2)
    assert power_of(0.03, spread, Design(10_000, 32, grows=True)) < power_of(0.03, spread, Design(10_000, 32))


@settings(max_examples=30)
@given(
    st.integers(2, 5_000),
    st.floats(0.01, 1),
    st.floats(0, 0.02),
    st.sampled_from([(1, False), (6, False), (30, True)]),
)
def test_what_a_design_can_show_needs_that_design(n: int, sd: float, order_sd: float, orders: tuple[int, bool]) -> None:
    variances, (k, grows) = Variances(sd**2, order_sd**2), orders
    smallest = detectable_effect(variances, Design(n, k, grows))
    assert smallest is not None
    found = needed_reviews(smallest * (1 + 1e-4), variances, k, grows=grows)
    assert found is not None
    assert found <= n


def test_too_few_orders_show_nothing_and_no_number_of_reviews_makes_up_for_them() -> None:
    assert detectable_effect(VARIANCES, Design(800, 4)) is None
    assert detectable_effect(VARIANCES, Design(800, 1, grows=True)) is None
    shocks = Variances(reviews=0.15**2, orders=0.03**2)
    assert needed_reviews(0.02, shocks, 5) is None
    assert needed_reviews(0.02, shocks, 30) is not None


def test_differences_without_variance_are_shown_by_what_is_unseen_alone() -> None:
    assert detectable_effect(Variances(0.0), Design(50), room=0.0) == pytest.approx(0.0, abs=1e-5)
    assert detectable_effect(Variances(0.0), Design(50)) == pytest.approx(largest_share(0, 50), abs=1e-5)
