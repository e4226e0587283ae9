"""Comparisons as a whole: what is paired, what is counted, and what never changes a result."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.hand_made_cards import make_memory
from tests.metrics.statistics.four_term_cards import make_card, make_cards

from episodic_absa.errors import ContractError
from episodic_absa.metrics import PAIRED_METRICS
from episodic_absa.metrics.statistics import Comparison, compare, holm
from episodic_absa.schemas.run_files.scorecard import Scorecard

F1 = "tuple_f1_explicit"
FOUND = st.lists(st.integers(0, 4), min_size=2, max_size=10)
A = (4, 3, 4, 2, 4, 1, 4, 4, 3, 4, 4, 2)
B = (2, 3, 3, 2, 4, 2, 1, 4, 2, 3, 0, 2)


def compared(a: Sequence[Scorecard], b: Sequence[Scorecard]) -> Comparison:
    return compare("A", a, "B", b, resamples=500)


def without_counts(comparison: Comparison) -> list[dict[str, object]]:
    return [paired.model_dump(exclude={"unpaired_a", "unpaired_b"}) for paired in comparison.metrics]


def test_every_metric_with_a_value_per_sample_is_compared() -> None:
    comparison = compared(make_cards(A), make_cards(B))
    assert tuple(paired.metric for paired in comparison.metrics) == PAIRED_METRICS
    assert comparison.metrics[0].metric == F1


def test_seeds_are_not_mistaken_for_reviews() -> None:
    once, thrice = (
        compare("A", make_cards(A, seeds=seeds), "B", make_cards(B, seeds=seeds)) for seeds in ((1,), (1, 2, 3))
    )
    assert [paired.n_pairs for paired in thrice.metrics] == [3 * paired.n_pairs for paired in once.metrics]
    for paired, same in zip(once.metrics, thrice.metrics, strict=True):
        words = {"metric", "kind", "n_pairs", "method", "equivalence"}
        assert same.model_dump(exclude=words) == pytest.approx(paired.model_dump(exclude=words))
        assert (same.method, same.equivalence) == (paired.method, paired.equivalence)
    assert once.mcnemar == thrice.mcnemar


@given(FOUND, st.data())
@settings(max_examples=25)
def test_swapping_the_sides_turns_every_sign(found: list[int], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.integers(0, 4), min_size=len(found), max_size=len(found)))
    forth = compared(make_cards(found), make_cards(others))
    back = compared(make_cards(others), make_cards(found))
    for paired, other in zip(forth.metrics, back.metrics, strict=True):
        assert other.difference == pytest.approx(-paired.difference if paired.difference is not None else None)
        if paired.ci_low is not None and paired.ci_high is not None:
            assert (other.ci_low, other.ci_high) == pytest.approx((-paired.ci_high, -paired.ci_low), abs=2e-9)
        assert (other.p_value, other.p_holm, other.needed_n) == (paired.p_value, paired.p_holm, paired.needed_n)
    assert forth.mcnemar is not None
    assert back.mcnemar is not None
    assert (forth.mcnemar.a_only, forth.mcnemar.p_value) == (back.mcnemar.b_only, back.mcnemar.p_value)


@given(FOUND, st.integers(0, 3), st.integers(0, 3), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_neither_samples_without_a_partner_nor_the_order_of_cards_change_anything(
    found: list[int], extra_a: int, extra_b: int, chance: random.Random
) -> None:
    a, b = make_cards(found), make_cards([*found[1:], found[0]])
    plain = compared(a, b)
    a = [*a, *(make_card(f"a{place}", found=place) for place in range(extra_a))]
    b = [*b, *(make_card(f"b{place}", found=place) for place in range(extra_b)), make_card("failed", failed=True)]
    chance.shuffle(a)
    chance.shuffle(b)
    with_more = compared(a, b)
    assert without_counts(with_more) == without_counts(plain)
    assert with_more.mcnemar == plain.mcnemar
    assert {(paired.unpaired_a, paired.unpaired_b) for paired in with_more.metrics if paired.n_uids} == {
        (extra_a, extra_b)
    }


def test_equal_runs_have_no_variation_and_no_nan() -> None:
    comparison = compared(make_cards(A), make_cards(A))
    for paired in comparison.metrics:
        assert not paired.variation
        assert paired.difference in (0.0, None)
        assert {
            paired.ci_low,
            paired.ci_high,
            paired.p_value,
            paired.p_holm,
            paired.dz,
            paired.detectable,
        } == {None}
        # 299 equal reviews would bound the share of those that differ by 0.01.
        assert paired.needed_n == (299 if paired.is_primary else None)
        assert paired.claim == "none"
    assert "NaN" not in comparison.model_dump_json()


def test_the_primary_metric_is_tested_first_and_then_the_distinct_tests_of_the_other_outcomes() -> None:
    a = [make_card(f"r{place:03d}", found=found_n, tokens=100 + place) for place, found_n in enumerate(A)]
    comparison = compare("A", a, "B", make_cards(B))
    assert [paired.is_primary for paired in comparison.metrics] == [True] + [False] * (len(PAIRED_METRICS) - 1)
    p_values = {paired.metric: paired.p_value for paired in comparison.metrics if paired.kind == "outcome"}
    assert comparison.of(F1).p_holm == p_values[F1]
    # Without implicit gold these are the same differences as those of the primary metric: one test.
    for same in ("tuple_f1_overall", "tuple_f1_lenient", "tuple_f1_after_rep"):
        assert comparison.of(same).p_holm == p_values[F1]
    # McNemar's test is the exact test of exact_match; recall and the two other micro metrics are tests of their own.
    matched = comparison.mcnemar
    assert matched is not None
    assert matched.p_value == pytest.approx(p_values["exact_match"])
    distinct = ["exact_match", "tuple_f1_explicit_micro", "tuple_recall_explicit_micro"]
    corrected = holm([p_values[metric] or 0.0 for metric in distinct])
    for metric, p_holm in zip(distinct, corrected, strict=True):
        assert comparison.of(metric).p_holm == pytest.approx(max(p_holm, p_values[F1] or 0.0))
    assert matched.p_holm == comparison.of("exact_match").p_holm
    tokens = comparison.of("tokens_in")
    assert tokens.p_value is not None
    assert (tokens.kind, tokens.p_holm, tokens.claim) == ("efficiency", None, "none")


def test_another_primary_metric_comes_first_and_opens_the_gate() -> None:
    comparison = compare("A", make_cards(A), "B", make_cards(B), primary="exact_match", smallest_effect=0.2)
    assert (comparison.metrics[0].metric, comparison.primary.smallest_effect) == ("exact_match", 0.2)
    assert comparison.primary.p_holm == comparison.primary.p_value
    others = [paired for paired in comparison.metrics[1:] if paired.p_holm is not None]
    assert all(paired.p_holm >= (comparison.primary.p_value or 0.0) for paired in others)  # type: ignore[operator]
    for wrong in ({"primary": "calls"}, {"primary": "accuracy"}, {"smallest_effect": 0.0}):
        with pytest.raises(ValueError, match=r"outcome metric|smallest effect"):
            compare("A", make_cards(A), "B", make_cards(B), **wrong)


def test_the_same_sample_twice_is_refused_by_name() -> None:
    with pytest.raises(ContractError, match="side one has sample r1 in order 0 with seed 1 twice"):
        compare("side one", [make_card("r1"), make_card("r1")], "B", [make_card("r1")])


def test_without_gold_only_what_needs_none_is_compared() -> None:
    a, b = ([make_card(f"r{place}", has_gold=False, found=place) for place in range(4)] for _ in range(2))
    comparison = compared(a, b)
    assert comparison.mcnemar is None
    assert comparison.of(F1).n_uids == 0
    assert comparison.of("unsupported").n_uids == 4


def test_a_memory_that_grows_and_was_seen_in_one_order_supports_no_claim() -> None:
    better, worse = make_cards((4,) * 60), make_cards((1, 2, 3) * 20)
    shown = make_memory(memory_mode="on", exposed_to_debate=True, exposed_to_stage2=True, prompt_injection_chars=9)
    frozen = [card.model_copy(update={"memory": shown, "store_decision": "skipped"}) for card in better]
    growing = [*frozen[:-1], frozen[-1].model_copy(update={"store_decision": "stored"})]
    assert compared(frozen, worse).of(F1).claim == "significant"
    found = compared(growing, worse)
    assert (found.of(F1).claim, found.of(F1).no_claim, found.verdict().reason) == ("none", "few_orders", "few_orders")
    # One order rules no effect out, either: not even where all reviews are equal.
    equal = make_cards((2,) * 400)
    still = [card.model_copy(update={"memory": shown, "store_decision": "stored"}) for card in equal]
    assert compared(equal, equal).of(F1).equivalence == "no_larger_effect"
    assert compared(still, equal).of(F1).equivalence == "undecided"


def test_the_largest_smallest_effect_of_a_config_can_be_compared() -> None:
    # experiment.smallest_effect may be 1: a run must not fail at its tables, after all samples are paid for.
    cards = make_cards((1, 2, 3))
    assert compare("C2", cards, "C1", cards, smallest_effect=1.0).primary.smallest_effect == 1.0
    for wrong in (0.0, 1.1):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            compare("C2", cards, "C1", cards, smallest_effect=wrong)
