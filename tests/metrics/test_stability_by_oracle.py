"""Metrics of RQ2: do the seeds agree?

risk_set_consistency compares the RiskIds after revision, as docs/metrics.md says: the other metrics of the group
compare what a run ends with too. Seeds are given in ascending order, so that "seed order" cannot mean two things.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics import oracles
from tests.metrics.checking import ByName, assert_ratio, assert_value, by_name, measured
from tests.metrics.drawn_cards import cells, error_card, final_tuple, grids, ok_card
from tests.metrics.oracles import Ratio

from episodic_absa.metrics import MetricValue, compute_stability
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import SentenceLabel

NAMES = ("tuple_agreement_rate", "self_consistency", "risk_set_consistency", "variance", "flip_flop_rate")
EXPOSED = ("C2", "C2_frozen")
NEVER_EXPOSED = ("C1", "C2_silent", "C2_eval_only")
Grid = dict[int, list[Scorecard]]


def rq2(metrics: tuple[MetricValue, ...]) -> ByName:
    found = by_name(metrics)
    assert set(NAMES) <= set(found)
    return {name: found[name] for name in NAMES}


def labelled(*labels: SentenceLabel, uid: str = "u0", condition: str = "C1") -> Grid:
    return {seed: [ok_card(uid, label=label, seed=seed, condition=condition)] for seed, label in enumerate(labels)}


@settings(max_examples=70)
@given(grids(), st.booleans())
def test_stability_with_a_seeded_backend(grid: Grid, count_backfilled: bool) -> None:
    found = compute_stability(grid, seed_supported=True, count_backfilled=count_backfilled)
    metrics = rq2(found.metrics)
    eligible = oracles.trials(grid)
    assert found.eligible is bool(eligible)
    assert found.eligible_uids == len(eligible)
    for name, expected in oracles.stability(grid, count_backfilled=count_backfilled).items():
        assert_value(metrics[name], expected.value)
        if name != "variance":
            assert_ratio(metrics[name], expected)


@settings(max_examples=45)
@given(grids())
def test_risk_set_consistency_is_the_share_of_uids_with_equal_risks_after_revision(grid: Grid) -> None:
    found = rq2(compute_stability(grid, seed_supported=True).metrics)["risk_set_consistency"]
    eligible = oracles.trials(grid).values()
    kinds = [{oracles.after(card).tags for card in cards} for cards in eligible]
    assert_ratio(found, Ratio(sum(len(tags) == 1 for tags in kinds), len(kinds)))


@settings(max_examples=30)
@given(grids(names=NEVER_EXPOSED))
def test_seeds_that_change_nothing_are_one_trial(grid: Grid) -> None:
    found = compute_stability(grid, seed_supported=False)
    assert found.eligible is False
    assert all(value.value is None for value in rq2(found.metrics).values())


@pytest.mark.parametrize("condition", ["C1", "C2"])
@pytest.mark.parametrize("seed_supported", [True, False])
@pytest.mark.parametrize("order_varies", [True, False])
def test_seeds_are_trials_if_they_change_answers_or_an_order_that_memory_sees(
    condition: str, seed_supported: bool, order_varies: bool
) -> None:
    grid = labelled("positive", "positive", condition=condition)
    found = compute_stability(grid, seed_supported=seed_supported, order_varies=order_varies)
    eligible = seed_supported or (order_varies and condition == "C2")
    assert (found.eligible, found.trials) == (eligible, 2 if eligible else 1)
    reason = "memory is never shown" if order_varies else "the order is not shuffled"
    assert eligible or all(reason in value.note for value in found.metrics)


def test_seeds_are_compared_within_an_order_and_orders_are_not() -> None:
    first, second = labelled("positive", "positive"), labelled("negative", "negative")
    both = {seed: [*first[seed], *(card.model_copy(update={"order": 1}) for card in second[seed])] for seed in first}
    apart = compute_stability(both, seed_supported=True, orders_apart=True)
    assert (apart.eligible_uids, apart.trials) == (1, 2)
    assert_ratio(rq2(apart.metrics)["self_consistency"], Ratio(2, 2))
    assert_ratio(rq2(compute_stability(both, seed_supported=True).metrics)["self_consistency"], Ratio(0, 1))
    ignored = compute_stability(
        labelled("positive", "positive", condition="C2"), seed_supported=False, orders_apart=True
    )
    assert (ignored.eligible, ignored.trials) == (False, 1)
    assert all("orders are not compared" in value.note for value in ignored.metrics)


@settings(max_examples=30)
@given(grids(names=EXPOSED))
def test_an_exposed_condition_has_a_trial_per_seed_even_if_the_backend_ignores_seeds(grid: Grid) -> None:
    seeded = compute_stability(grid, seed_supported=True)
    unseeded = compute_stability(grid, seed_supported=False)
    if any(card.status == "ok" for cards in grid.values() for card in cards):
        assert unseeded.eligible is seeded.eligible
        assert [value.value for value in unseeded.metrics] == [value.value for value in seeded.metrics]


def test_one_trial_is_no_agreement() -> None:
    found = compute_stability(labelled("positive"), seed_supported=True)
    assert (found.eligible, found.eligible_uids) == (False, 0)
    assert all(value.value is None for value in found.metrics)
    failed = compute_stability({1: [ok_card(seed=1)], 2: [error_card(seed=2)]}, seed_supported=True)
    assert (failed.eligible, failed.eligible_uids) == (False, 0)


def test_no_trial_at_all_is_null() -> None:
    found = compute_stability({}, seed_supported=True)
    assert found.eligible is False
    assert all(value.value is None for value in found.metrics)


@pytest.mark.parametrize(
    ("labels", "variance", "flips"),
    [
        (("positive", "positive", "positive"), 0.0, Ratio(0, 2)),
        (("positive", "negative", "positive"), 1 / 3, Ratio(2, 2)),
        (("positive", "positive", "negative"), 1 / 3, Ratio(1, 2)),
        (("positive", "negative", "mixed"), 2 / 3, Ratio(2, 2)),
        (("positive", "negative"), 0.5, Ratio(1, 1)),
    ],
)
def test_variance_and_flip_flop_by_table(labels: tuple[SentenceLabel, ...], variance: float, flips: Ratio) -> None:
    metrics = rq2(compute_stability(labelled(*labels), seed_supported=True).metrics)
    assert_value(metrics["variance"], variance)
    assert_ratio(metrics["flip_flop_rate"], flips)


def test_agreement_needs_equal_pairs_and_consistency_equal_labels() -> None:
    food, shout = final_tuple("food", "positive", 0.9), final_tuple("FOOD!", "positive", 0.6)
    same = {1: [ok_card(stage1=[food], seed=1)], 2: [ok_card(stage1=[shout], seed=2, label="mixed")]}
    metrics = rq2(compute_stability(same, seed_supported=True).metrics)
    assert_ratio(metrics["tuple_agreement_rate"], Ratio(1, 1))
    assert_ratio(metrics["self_consistency"], Ratio(0, 1))


def test_stability_is_an_outcome() -> None:
    metrics = rq2(compute_stability(labelled("positive", "negative"), seed_supported=True).metrics)
    assert {(value.group, value.kind) for value in metrics.values()} == {("rq2", "outcome")}


@settings(max_examples=30)
@given(cells())
def test_stage_mismatch_is_a_process_metric_over_all_samples(cards: list[Scorecard]) -> None:
    found = measured(cards)["stage_mismatch_rate"]
    assert_ratio(found, oracles.share(oracles.ok(cards), lambda c: c.label_s1 != c.label_s2))
    assert (found.group, found.kind) == ("rq2", "process")
