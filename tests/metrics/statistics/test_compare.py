"""Comparisons as a whole: what is paired, what is counted, and what never changes a result."""

import random
from collections.abc import Sequence
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.statistics.four_term_cards import f1, make_card, make_cards

from episodic_absa.errors import ContractError
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS
from episodic_absa.metrics.statistics import Comparison, claim_strength, compare, holm
from episodic_absa.schemas.run_files.scorecard import Scorecard

F1 = "tuple_f1_explicit"
FOUND = st.lists(st.integers(0, 4), min_size=2, max_size=10)
A = (4, 3, 4, 2, 4, 1, 4, 4, 3, 4, 4, 2)
B = (2, 3, 3, 2, 4, 2, 1, 4, 2, 3, 0, 2)


def compared(a: Sequence[Scorecard], b: Sequence[Scorecard]) -> Comparison:
    return compare("A", a, "B", b, resamples=500)


def without_counts(comparison: Comparison) -> list[dict[str, object]]:
    return [paired.model_dump(exclude={"unpaired_a", "unpaired_b"}) for paired in comparison.metrics]


def test_a_difference_is_the_mean_of_paired_differences() -> None:
    # CHECKLIST 200
    one = compare("A", make_cards(A), "B", make_cards(B)).of(F1)
    differences = [f1(a) - f1(b) for a, b in zip(A, B, strict=True)]
    assert one.difference == pytest.approx(fmean(differences))
    assert (one.mean_a, one.mean_b) == pytest.approx((fmean(map(f1, A)), fmean(map(f1, B))))
    assert one.sd == pytest.approx(stdev(differences))
    assert one.dz == pytest.approx(fmean(differences) / stdev(differences))
    assert (one.n_uids, one.n_pairs, one.unpaired_a, one.unpaired_b) == (12, 12, 0, 0)
    assert one.ci_low is not None
    assert one.ci_high is not None
    assert one.ci_low < fmean(differences) < one.ci_high


def test_every_metric_with_a_value_per_sample_is_compared() -> None:
    comparison = compared(make_cards(A), make_cards(B))
    assert tuple(paired.metric for paired in comparison.metrics) == PAIRED_METRICS
    assert comparison.metrics[0].metric == F1


def test_the_seeds_of_a_review_are_averaged_first() -> None:
    # CHECKLIST 200
    a = [make_card("r1", seed=1, found=4), make_card("r1", seed=2, found=2), make_card("r2", seed=1, found=1)]
    b = [make_card("r1", seed=1, found=1), make_card("r1", seed=2, found=0), make_card("r2", seed=1, found=1)]
    one = compared(a, b).of(F1)
    first = fmean([f1(4), f1(2)]) - fmean([f1(1), f1(0)])
    assert one.difference == pytest.approx(fmean([first, 0.0]))
    assert (one.n_uids, one.n_pairs) == (2, 3)


def test_seeds_are_not_mistaken_for_reviews() -> None:
    once, thrice = (
        compare("A", make_cards(A, seeds=seeds), "B", make_cards(B, seeds=seeds)) for seeds in ((1,), (1, 2, 3))
    )
    assert [paired.n_pairs for paired in thrice.metrics] == [3 * paired.n_pairs for paired in once.metrics]
    for paired, same in zip(once.metrics, thrice.metrics, strict=True):
        assert same.model_dump(exclude={"metric", "kind", "n_pairs"}) == pytest.approx(
            paired.model_dump(exclude={"metric", "kind", "n_pairs"})
        )
    assert once.mcnemar == thrice.mcnemar


def test_samples_are_paired_by_uid_and_seed() -> None:
    # CHECKLIST 200
    a = [
        make_card("r1", seed=1),
        make_card("r1", seed=2),
        make_card("r2", seed=1),
        make_card("r3", seed=1, failed=True),
    ]
    b = [make_card("r1", seed=1), make_card("r1", seed=3), make_card("r3", seed=1), make_card("r4", seed=1)]
    one = compared(a, b).of(F1)
    # r3 failed under A: what B made of it has no partner either.
    assert (one.n_pairs, one.unpaired_a, one.unpaired_b) == (1, 2, 3)


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
    # CHECKLIST 200
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
    # CHECKLIST 200
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
            paired.needed_n,
        } == {None}
        assert claim_strength(paired) == "none"
    assert "NaN" not in comparison.model_dump_json()


def test_a_difference_that_is_the_same_everywhere_has_no_variation_either() -> None:
    one = compared(make_cards([4] * 9), make_cards([2] * 9)).of(F1)
    assert one.difference == pytest.approx(f1(4) - f1(2))
    assert (one.variation, one.ci_low, one.p_value, one.dz, claim_strength(one)) == (False, None, None, None, "none")


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_reviews_are_no_sample(n: int) -> None:
    one = compared(make_cards([4] * n), make_cards([1] * n)).of(F1)
    assert (one.n_uids, one.variation, one.ci_low, one.p_value, one.detectable) == (n, False, None, None, None)
    assert (one.difference is None) == (n == 0)


def test_the_tests_of_outcome_metrics_are_corrected_together_and_those_of_others_not_at_all() -> None:
    # CHECKLIST 200
    a = [make_card(f"r{place}", found=found_n, tokens=100 + place) for place, found_n in enumerate(A)]
    comparison = compare("A", a, "B", make_cards({f"r{place}": found_n for place, found_n in enumerate(B)}))
    outcome = [paired for paired in comparison.metrics if paired.kind == "outcome" and paired.p_value is not None]
    assert comparison.mcnemar is not None
    p_values = [paired.p_value for paired in outcome if paired.p_value is not None]
    assert comparison.mcnemar.p_value is not None
    expected = holm([*p_values, comparison.mcnemar.p_value])
    assert [*(paired.p_holm for paired in outcome), comparison.mcnemar.p_holm] == list(expected)
    tokens = comparison.of("tokens_in")
    assert tokens.p_value is not None
    assert (tokens.kind, tokens.p_holm, claim_strength(tokens)) == ("efficiency", None, "none")


def test_the_same_sample_twice_is_refused_by_name() -> None:
    with pytest.raises(ContractError, match="side one has sample r1 with seed 1 twice"):
        compare("side one", [make_card("r1"), make_card("r1")], "B", [make_card("r1")])


def test_without_gold_only_what_needs_none_is_compared() -> None:
    a, b = ([make_card(f"r{place}", gold=False, found=place) for place in range(4)] for _ in range(2))
    comparison = compared(a, b)
    assert comparison.mcnemar is None
    assert comparison.of(F1).n_uids == 0
    assert comparison.of("unsupported").n_uids == 4
