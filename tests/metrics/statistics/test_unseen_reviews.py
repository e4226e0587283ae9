"""A difference must outweigh what reviews and orders that were not drawn could take away."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.metrics.statistics.test_claims import made

from episodic_absa.metrics.statistics import bootstrap_intervals
from episodic_absa.metrics.statistics.paired import PairedCells, assess
from episodic_absa.metrics.statistics.power import largest_share

Differences = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Differences]


def cells(*differences: float, n: int = 50) -> PairedCells:
    return PairedCells.of_differences(np.array([*differences, *[0.0] * (n - len(differences))])[:, None])


def false_claims(draw: Draw, *, experiments: int = 200, grows: bool = False) -> tuple[float, float]:
    """Return how often a claim is made, and how often the interval holds 0, where the true mean is 0."""
    random = np.random.default_rng(11)
    found = assess(
        [PairedCells.of_differences(draw(random)) for _ in range(experiments)], memory_grows=grows, resamples=500
    )
    return sum(not one.doubt for one in found) / experiments, sum(not one.excludes_zero for one in found) / experiments


def test_eight_small_gains_among_fifty_reviews_support_no_claim_with_or_without_a_small_loss() -> None:
    tables = [cells(*[0.2] * 8), cells(*[1.0] * 8), cells(*[0.2] * 11, -0.1), cells(*[-0.2] * 8)]
    few, enough, opposed, losses = assess(tables, orders_are_random=False, resamples=1_000)
    for assessment in (few, enough, opposed, losses):
        assert assessment.p_value is not None
        assert assessment.p_value < 0.05
    assert [one.doubt for one in (few, enough, opposed, losses)] == ["interval", "", "interval", "interval"]
    assert few.unseen_reviews == pytest.approx(1 - 0.05 ** (1 / 50))
    assert opposed.unseen_reviews == pytest.approx(0.9 * (1 - 0.05 ** (1 / 50)))


def test_a_failed_sample_does_not_lift_the_rule() -> None:
    differences = np.zeros((50, 5))
    differences[:6] = 0.2
    differences[0, 1] = 0.25
    present = np.ones((50, 5), dtype=np.bool_)
    present[49, 4] = False
    [found] = assess([PairedCells.of_differences(differences, present)], resamples=1_000)
    assert found.unseen_reviews > (found.difference or 0.0)
    assert found.doubt


def test_rare_large_losses_among_many_gains_and_small_losses_cause_few_false_claims() -> None:
    values, shares = [-1.0, 0.1, -0.1, 0.0], [0.025, 0.3, 0.05, 0.625]
    claimed, held = false_claims(lambda random: random.choice(values, (50, 1), p=shares))
    assert (claimed <= 0.06, held >= 0.93) == (True, True)


@pytest.mark.parametrize("loss", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("orders", [5, 10, 30])
def test_a_rare_bad_order_causes_few_false_claims(loss: float, orders: int) -> None:
    def draw(random: np.random.Generator) -> Differences:
        means = np.where(random.random(orders) < 0.1, -loss, loss / 9)
        return np.round(random.normal(0.0, 0.1, (60, orders)) + means, 3)

    assert false_claims(draw, experiments=100, grows=True)[0] <= 0.06


@pytest.mark.parametrize("sizes", [(0.5, 0.5, 0.5, 0.5), (0.2, 0.2, -0.4, -1 / 3), (2 / 3, 0.02, 0.02, 0.02)])
def test_sparse_differences_do_not_get_intervals_ten_times_those_of_a_plain_bootstrap(sizes: tuple[float, ...]) -> None:
    plain = bootstrap_intervals([[*sizes, *[0.0] * 152]])[0]
    [found] = assess([cells(*sizes, n=156)])
    assert plain is not None
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_high - found.ci_low < 5 * (plain[1] - plain[0])


def test_a_difference_must_outweigh_what_was_not_drawn() -> None:
    difference = made(0.012, 0.052, p_value=0.0078, p_holm=0.0078, n=50).model_copy(update={"unseen_reviews": 0.05})
    assert (difference.no_claim, difference.claim) == ("unseen_reviews", "none")
    assert difference.model_copy(update={"unseen_reviews": 0.02}).claim == "significant"
    assert difference.model_copy(update={"unseen_reviews": 0.0, "unseen_orders": 0.135}).no_claim == "unseen_orders"


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({}, ""),
        ({"ci_low": 0.0}, "interval"),
        ({"grows": True, "orders_n": 4}, "few_orders"),
        ({"method": "crossed", "orders_n": 4}, "few_orders"),
        ({"orders_n": 4}, ""),
        ({"p_value": 0.05}, "test"),
        ({"p_orders": 0.05, "method": "crossed"}, "orders"),
        ({"p_orders": 0.049, "method": "crossed"}, ""),
        ({"difference": 0.03, "unseen_reviews": 0.03}, "unseen_reviews"),
        ({"difference": 0.03, "grows": True, "unseen_orders": 0.03}, "unseen_orders"),
        ({"failed_low": 0.0}, "failed"),
        ({"failed_low": 0.001, "failed_high": -0.2}, ""),
        ({"difference": -0.03, "ci_low": -0.05, "ci_high": -0.01, "failed_high": -0.001, "failed_low": 0.2}, ""),
        ({"difference": -0.03, "ci_low": -0.05, "ci_high": -0.01, "failed_high": 0.0}, "failed"),
    ],
)
def test_every_rule_is_a_reason_of_its_own(changes: dict[str, object], doubt: str) -> None:
    known = made(0.01, 0.05, p_holm=0.01).model_copy(update={"orders_n": 5, "p_orders": None, **changes})
    assert (known.doubt, known.no_claim, known.claim == "none") == (doubt, doubt, bool(doubt))


def test_orders_that_go_against_a_difference_leave_room_for_more_of_them() -> None:
    means = np.array([0.2] * 9 + [-0.1])
    table = np.tile(means, (40, 1)) + np.linspace(-0.3, 0.3, 40)[:, None]
    [found] = assess([PairedCells.of_differences(table)], memory_grows=True, resamples=200)
    assert found.unseen_orders == pytest.approx(0.3 * largest_share(1, 10))
    assert assess([PairedCells.of_differences(table)], resamples=200)[0].unseen_orders == 0.0
    assert (found.is_of_these_orders, found.doubt) == (True, "")
    [weak] = assess([PairedCells.of_differences(table - 0.1)], memory_grows=True, resamples=200)
    assert weak.is_of_these_orders
