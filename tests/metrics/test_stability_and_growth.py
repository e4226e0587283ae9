"""RQ2 over seeds, and the window that slides over the samples of a cell."""

import pytest
from tests.metrics.hand_made_cards import make_card, make_memory

from episodic_absa.metrics import Stability, compute_growth, compute_stability
from episodic_absa.schemas.run_files.scorecard import Scorecard

HIDDEN = make_memory(exposed_to_debate=False, exposed_to_stage2=False)


def trials(*labels: str, memory_shown: bool = True) -> dict[int, list[Scorecard]]:
    """One sample, a label per seed."""
    memory = make_memory() if memory_shown else HIDDEN
    return {
        seed: [make_card([("a", "positive" if label == "positive" else "negative")], label=label, memory=memory)]
        for seed, label in enumerate(labels)
    }


def values(stability: Stability) -> dict[str, float | None]:
    return {value.metric: value.value for value in stability.metrics}


def test_seeds_are_compared_within_an_order_and_orders_are_not() -> None:
    first = trials("positive", "positive")
    second = {seed: [card.model_copy(update={"order": 1}) for card in trials("negative")[0]] for seed in first}
    both = {seed: [*first[seed], *second[seed]] for seed in first}
    apart = compute_stability(both, seed_supported=True, orders_apart=True)
    assert (apart.eligible_uids, apart.trials) == (1, 2)
    assert (values(apart)["tuple_agreement_rate"], apart.metrics[0].denominator) == (1.0, 2)
    assert values(compute_stability(both, seed_supported=True))["tuple_agreement_rate"] == 0.0
    ignored = compute_stability(both, seed_supported=False, orders_apart=True)
    assert (ignored.eligible, ignored.trials) == (False, 1)


def test_seeds_are_compared_sample_by_sample() -> None:
    found = compute_stability(trials("positive", "negative", "positive"), seed_supported=True)
    assert (found.eligible, found.eligible_uids, found.trials) == (True, 1, 3)
    assert values(found) == {
        "tuple_agreement_rate": 0.0,
        "self_consistency": 0.0,
        "risk_set_consistency": 1.0,
        "variance": pytest.approx(1 / 3),
        "flip_flop_rate": 1.0,
    }
    assert values(compute_stability(trials("positive", "positive"), seed_supported=True))["flip_flop_rate"] == 0.0


def test_adjacent_trials_are_those_of_neighbouring_seeds_whatever_order_they_come_in() -> None:
    by_seed = trials("positive", "positive", "negative")
    mixed = {seed: by_seed[seed] for seed in (1, 2, 0)}
    assert compute_stability(mixed, seed_supported=True) == compute_stability(by_seed, seed_supported=True)


@pytest.mark.parametrize(
    ("seed_supported", "memory_shown", "eligible"),
    [(True, True, True), (True, False, True), (False, True, True), (False, False, False)],
)
def test_seeds_that_can_change_nothing_are_one_trial(seed_supported: bool, memory_shown: bool, eligible: bool) -> None:
    by_seed = trials("positive", "positive", memory_shown=memory_shown)
    found = compute_stability(by_seed, seed_supported=seed_supported)
    assert found.eligible is eligible
    assert found.trials == (2 if eligible else 1)
    assert all((value is not None) is eligible for value in values(found).values())


@pytest.mark.parametrize(("seed_supported", "eligible"), [(True, True), (False, False)])
def test_seeds_that_change_neither_order_nor_answers_are_one_trial(seed_supported: bool, eligible: bool) -> None:
    found = compute_stability(trials("positive", "positive"), seed_supported=seed_supported, order_varies=False)
    assert (found.eligible, found.trials) == ((True, 2) if eligible else (False, 1))
    assert eligible or all("the order is not shuffled" in value.note for value in found.metrics)


def test_one_trial_agrees_with_nothing() -> None:
    by_seed = trials("positive", "negative")
    by_seed[1] = [card.model_copy(update={"uid": "other"}) for card in by_seed[1]]
    for cards in (by_seed, {0: by_seed[0]}, {}):
        found = compute_stability(cards, seed_supported=True)
        assert (found.eligible, found.eligible_uids, set(values(found).values())) == (False, 0, {None})


def test_the_window_slides_by_one_in_the_order_of_samples() -> None:
    cards = [make_card(uid=f"u{n}", sample_index=n, store_size_after=n, store_decision="stored") for n in range(52)]
    lines = compute_growth(cards[::-1])
    assert [(line.window_end_sample, line.window_size, line.store_size) for line in lines] == [
        (49, 50, 49),
        (50, 50, 50),
        (51, 50, 51),
    ]
    assert lines[0].store_new_entry_rate == 1.0
    assert lines[0].follow_rate is lines[0].mean_tuple_f1_explicit is None
    assert compute_growth([]) == ()


def test_a_short_cell_has_one_window() -> None:
    shown = make_memory(retrieved_k=1, prompt_injection_chars=3, advisory_expects="hold")
    cards = [make_card([("a", "positive")], [("a", "positive")], memory=shown), make_card(sample_index=1, uid="v")]
    (line,) = compute_growth(cards)
    assert (line.window_size, line.advisory_presence_rate, line.follow_rate) == (2, 0.5, 1.0)
    assert (line.retrieval_hit_k, line.mean_tuple_f1_explicit) == (0.5, 1.0)
