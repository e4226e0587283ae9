"""Differences by review and order: crossed intervals, the test over orders, exact p, ratios of sums, equivalence."""

from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.metrics.statistics.four_term_cards import f1, make_card

from episodic_absa.metrics.statistics import Comparison, compare, verdict_sentence
from episodic_absa.metrics.statistics.paired import (
    PairedCells,
    assess,
    equivalence_of,
    order_test_p,
    swap_tests,
)
from episodic_absa.schemas.run_files.scorecard import Scorecard

F1 = "tuple_f1_explicit"
RECALL = "tuple_recall_explicit_micro"
Found = dict[tuple[str, int], int]
"""How many of the four gold terms were found, by uid and order."""


def cards(found: Found, *, spurious: frozenset[str] = frozenset()) -> list[Scorecard]:
    """Return one card per review and order; a uid in `spurious` also has predictions that are not gold."""
    made = []
    for (uid, order), count in found.items():
        card = make_card(uid, found=count).model_copy(update={"order": order})
        if uid in spurious:
            wrong = tuple(final.model_copy(update={"polarity": "negative"}) for final in make_card(uid).final_tuples)
            card = card.model_copy(update={"final_tuples": (*card.final_tuples, *wrong)})
        made.append(card)
    return made


def shocked(rng: np.random.Generator, *, n: int = 150, orders: int = 5, sd: float = 0.08) -> NDArray[np.float64]:
    """Return differences of a condition without effect, whose orders each have a good or a bad day."""
    reviews = np.where(rng.random(n) < 0.2, rng.choice([-0.5, 0.5], n), 0.0)
    values: NDArray[np.float64] = reviews[:, None] + rng.normal(0, 0.1, (n, orders)) + rng.normal(0, sd, orders)
    return values


def test_orders_with_good_and_bad_days_cause_false_claims_only_where_they_are_taken_for_fixed() -> None:
    rng = np.random.default_rng(7)
    tables = [PairedCells.of_differences(shocked(rng)) for _ in range(150)]
    crossed = [not found.doubt for found in assess(tables, resamples=400)]
    fixed = [not found.doubt for found in assess(tables, orders_are_random=False, resamples=400)]
    # 5 % of 150, with room for the chance of so few experiments; benchmarks/statistics_simulated.py runs thousands.
    assert sum(crossed) <= 15
    assert sum(fixed) > 45


def test_an_effect_in_every_order_is_seen_and_the_interval_is_the_same_everywhere() -> None:
    rng = np.random.default_rng(3)
    table = np.round(shocked(rng, sd=0.01) + 0.1, 3)
    (found,) = assess([PairedCells.of_differences(table)])
    assert (found.doubt, found.method) == ("", "crossed")
    assert (found.ci_low, found.ci_high) == (0.061218379, 0.133311244)
    bounds = [found.ci_low, found.ci90_low, found.difference, found.ci90_high, found.ci_high]
    assert bounds == sorted(bound for bound in bounds if bound is not None)
    # One order of the five: not as sure, and nothing is known of the others.
    (single,) = assess([PairedCells.of_differences(table[:, :1])])
    assert (single.orders_n, single.p_orders) == (1, None)


@pytest.mark.parametrize(("orders", "doubt"), [(2, "few_orders"), (4, "few_orders"), (5, "")])
def test_a_claim_needs_five_orders(orders: int, doubt: str) -> None:
    rng = np.random.default_rng(1)
    (found,) = assess([PairedCells.of_differences(0.3 + rng.normal(0, 0.1, (60, orders)))], resamples=500)
    assert found.excludes_zero
    assert found.doubt == doubt
    assert (found.p_orders is None) == (orders < 3)


def test_the_test_over_orders_is_the_t_test_of_their_means() -> None:
    from scipy.stats import ttest_1samp

    table = np.random.default_rng(2).normal(0.05, 0.2, (40, 6))
    expected = ttest_1samp(table.mean(axis=0), 0.0).pvalue
    assert order_test_p(PairedCells.of_differences(table)) == pytest.approx(expected)
    assert order_test_p(PairedCells.of_differences(table[:, :2])) is None


def test_p_is_exact_for_many_reviews_and_drawn_where_there_is_no_common_unit() -> None:
    ups, downs = 60, 38
    tail = sum(comb(ups + downs, count) for count in range(downs + 1)) / 2 ** (ups + downs - 1)
    drawn = np.random.default_rng(1).normal(0.3, 1, 40)
    tables = [[0.5] * ups + [-0.5] * downs + [0.0] * 900, [1.0] * 1_200 + [2.0], np.rint(drawn * 40) / 40, drawn]
    found = swap_tests([PairedCells.of_differences(np.array(differences)[:, None]) for differences in tables])
    of_halves, least, exact, sampled = (test for test in found if test is not None)
    assert of_halves.p_value == pytest.approx(tail, rel=1e-9)
    assert least.p_value == 2.0**-1000
    assert (exact.is_exact, sampled.is_exact) == (True, False)
    assert exact.p_value == pytest.approx(sampled.p_value, abs=0.02)


def test_pairs_share_uid_order_and_seed_and_a_missing_cell_is_left_out() -> None:
    a: Found = {(f"r{place}", order): (place + order) % 5 for place in range(8) for order in (1, 2, 3)}
    b: Found = {key: 2 for key in a if key != ("r0", 2)}
    del a["r7", 3]
    one = compare("A", cards(a), "B", cards({**b, ("r0", 9): 4}), resamples=300).of(F1)
    shared = [key for key in a if key in b]
    assert (one.n_uids, one.orders_n, one.n_pairs) == (8, 3, len(shared))
    assert (one.unpaired_a, one.unpaired_b) == (1, 2)
    assert one.difference == pytest.approx(sum(f1(a[key]) - f1(2) for key in shared) / len(shared))
    assert one.method == "crossed"
    assert one.ci_low is not None
    assert one.ci_high is not None
    assert one.ci_low < (one.difference or 0.0) < one.ci_high


def test_orders_that_change_no_result_count_as_one() -> None:
    a: Found = {(f"r{place:02d}", order): 4 - (place % 3 == 0) for place in range(30) for order in (1, 2)}
    b: Found = dict.fromkeys(a, 1)
    twice, once = (
        compare("A", cards(left), "B", cards(right)).of(F1)
        for left, right in (
            (a, b),
            ({key: count for key, count in a.items() if key[1] == 1}, {key: 1 for key in b if key[1] == 1}),
        )
    )
    assert (twice.orders_n, twice.method, twice.p_orders) == (1, "studentised", None)
    assert (twice.ci_low, twice.ci_high, twice.p_value) == (once.ci_low, once.ci_high, once.p_value)
    assert twice.claim == once.claim == "significant"


def test_micro_metrics_are_ratios_of_sums_and_are_paired_by_review() -> None:
    a = {("r0", 0): 4, ("r1", 0): 1, ("r2", 0): 0, ("r3", 0): 3}
    b = {("r0", 0): 2, ("r1", 0): 2, ("r2", 0): 2, ("r3", 0): 2}
    found = compare("A", cards(a), "B", cards(b))
    one = {name: found.of(f"tuple_{name}_explicit_micro") for name in ("f1", "precision", "recall")}
    assert (one["f1"].mean_a, one["f1"].mean_b) == pytest.approx((16 / 24, 16 / 24))
    assert (one["recall"].mean_a, one["recall"].difference) == (0.5, 0.0)
    assert (one["precision"].mean_a, one["precision"].variation) == (1.0, False)
    # All sign patterns: recall differs by 2, -1, -2 and 1 hits of 16.
    assert one["recall"].p_value == 1.0
    assert found.of(F1).mean_a != one["f1"].mean_a


def recall_falls(*, spurious_under_b: bool) -> Comparison:
    """A finds three of four terms everywhere, B all four; B may also predict much that is not gold."""
    a = {(f"r{place:02d}", 0): 3 - (place % 5 == 0) for place in range(40)}
    b = dict.fromkeys(a, 4)
    uids = frozenset(uid for uid, _ in b if not uid.endswith("9")) if spurious_under_b else frozenset[str]()
    return compare("A", cards(a), "B", cards(b, spurious=uids), resamples=500)


def test_nothing_is_claimed_better_beside_worse_recall() -> None:
    found = recall_falls(spurious_under_b=True)
    assert found.of(RECALL).claim == "significant"
    precision = found.of("tuple_precision_explicit_micro")
    assert (precision.no_claim, precision.claim, precision.favours_a) == ("recall", "none", True)
    assert precision.model_copy(update={"recall_worse": False}).no_claim != "recall"
    verdict = found.verdict()
    assert (verdict.kind, verdict.reason) == ("undecided", "recall")
    assert "more gold pairs are missed, so no claim is made" in verdict_sentence("A", "B", verdict)
    assert "놓친 정답 쌍이 더 많습니다" in verdict_sentence("A", "B", verdict, "ko")
    # A worse metric is still called worse.
    assert recall_falls(spurious_under_b=False).verdict().kind == "lowered"


@pytest.mark.parametrize(
    ("bounds", "differing", "expected"),
    [
        ((-0.004, 0.006), 90, "no_larger_effect"),
        ((-0.004, 0.010), 90, "undecided"),
        ((0.002, 0.008), 90, "no_larger_effect"),
        ((0.011, 0.030), 90, "larger_effect"),
        ((-0.030, -0.011), 90, "larger_effect"),
        ((0.002, 0.030), 90, "undecided"),
        ((0.0, 0.004), 3, "no_larger_effect"),
        (None, 0, "no_larger_effect"),
    ],
)
def test_equivalence_is_stated_against_the_smallest_effect(
    bounds: tuple[float, float] | None, differing: int, expected: str
) -> None:
    low, high = bounds or (None, None)
    assert equivalence_of(low, high, 0.01, n=1_000, differing=differing) == expected
    # So few reviews leave room for a share of differing ones that none of them shows.
    assert equivalence_of(0.0, 0.001, 0.01, n=50, differing=0) == "undecided"


def test_a_review_with_equal_counts_on_both_sides_does_not_differ_in_a_ratio_of_sums() -> None:
    predicted = np.repeat(np.arange(1.0, 41.0), 2).reshape(40, 1, 2)
    hits = np.ones((40, 1, 2))
    hits[0, 0, 0] = 0.0
    cells = PairedCells(hits, predicted)
    assert (cells.of_reviews != 0).all()  # the linear approximation moves every review
    assert np.count_nonzero(cells.net_of_reviews) == 1
