"""Quality against gold: what counts as a hit, which samples take part, and what the baseline predicts."""

import pytest
from tests.metrics.hand_made_cards import NO_POLARITY, Pairs, failed, make_card, make_gold, measure

from episodic_absa.metrics import Majority
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs as SetOfPairs
from episodic_absa.metrics.per_sample.term_similarity import count_similar_pairs, similarity
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.scorecard import Scorecard

MAJORITY = Majority(polarity="positive", source="train")


@pytest.mark.parametrize(
    "left_out",
    [
        make_card([("food", "negative")], None),
        make_card([("food", "negative")], [("", "positive")]),
        make_card([("food", "negative")], []),
        failed(make_card([("food", "negative")], [("food", "positive")])),
        make_card([("food", "negative")]).model_copy(update={"gold_tuples": (NO_POLARITY,)}),
    ],
    ids=["no gold", "implicit gold", "no opinion", "failed", "gold without polarity"],
)
def test_a_sample_without_usable_explicit_gold_takes_no_part_in_the_primary_metric(left_out: Scorecard) -> None:
    alone = measure(left_out)("tuple_f1_explicit")
    assert (alone.value, alone.numerator, alone.denominator) == (None, 0.0, 0.0)
    beside = measure(left_out, make_card([("food", "positive")], [("food", "positive")]))("tuple_f1_explicit")
    assert (beside.value, beside.denominator) == (1.0, 1.0)


def test_means_are_over_samples_and_micro_is_over_pairs() -> None:
    found = measure(
        make_card([("a", "positive")], [("a", "positive")]),
        make_card([("a", "negative"), ("b", "negative")], [("a", "positive"), ("b", "negative"), ("c", "neutral")]),
    )
    assert found("tuple_f1_explicit").value == pytest.approx((1 + 2 / 5) / 2)
    micro = found("tuple_f1_explicit_micro")
    assert (micro.numerator, micro.denominator) == (4, 7)
    assert micro.value == pytest.approx(4 / 7)


def test_annotated_and_without_opinion_is_gold_of_exact_match_alone() -> None:
    found = measure(make_card([], []), make_card([("a", "positive")], []))
    assert (found("exact_match").value, found("exact_match").denominator) == (0.5, 2)
    assert found("tuple_f1_overall").value is None


def test_only_samples_with_explicit_gold_are_pooled() -> None:
    found = measure(
        make_card([("a", "positive")], [("a", "positive")]),
        make_card([("b", "negative")], [("", "negative")]),
        make_card([("c", "negative")], []),
    )
    micro = found("tuple_f1_explicit_micro")
    assert (micro.numerator, micro.denominator) == (2, 2)


def test_a_backfill_is_no_prediction_unless_the_experiment_counts_it() -> None:
    card = make_card([], [("food", "neutral")], backfilled=[("food", "neutral")])
    assert measure(card)("tuple_f1_explicit").value == 0.0
    assert measure(card, count_backfilled=True)("tuple_f1_explicit").value == 1.0


def test_corrections_are_counted_by_exact_match_before_and_after() -> None:
    right: Pairs = [("a", "positive")]
    wrong: Pairs = [("a", "negative")]
    fix, broken = make_card(right, right, stage1=wrong), make_card(wrong, right, stage1=right)
    still, keep = make_card(wrong, right), make_card(right, right)
    found = measure(fix, fix, fix, broken, still, keep)
    rates = {metric: found(metric) for metric in ("fix_rate", "break_rate", "net_gain", "correction_precision")}
    assert {metric: (value.numerator, value.denominator) for metric, value in rates.items()} == {
        "fix_rate": (3, 4),
        "break_rate": (1, 2),
        "net_gain": (2, 6),
        "correction_precision": (3, 4),
    }
    assert found("delta_f1").value == pytest.approx((3 - 1) / 6)
    assert found("tuple_f1_explicit_s1").value == pytest.approx(2 / 6)


def test_the_baseline_gives_every_kept_term_the_majority_polarity() -> None:
    card = make_card(
        [("food", "negative")],
        [("food", "positive"), ("staff", "positive")],
        stage1=[("food", "negative"), ("", "negative")],
        backfilled=[("staff", "neutral")],
    )
    found = measure(card, majority=MAJORITY)
    assert found("baseline_majority").value == 1.0
    assert found("baseline_majority_exact_match").value == 1.0
    assert found("baseline_majority").note == "majority: positive, from train gold"
    assert found("tuple_f1_explicit").value == 0.0
    without = measure(card)("baseline_majority")
    assert (without.value, without.note) == (None, "no gold to take a majority from")


def test_similar_terms_are_matched_one_to_one_and_the_similarity_is_named() -> None:
    long = "the very long name of a dish that nobody remembers"
    near = long + "s"
    assert 0.95 <= similarity(long, near) < 1.0
    assert similarity("food", "foods") < 0.95
    assert similarity("", "food") == similarity("food", "") == 0.0
    assert similarity("", "") == 1.0
    both: SetOfPairs = frozenset({(long, "positive"), (near, "positive")})
    assert count_similar_pairs(both, both) == 2
    assert count_similar_pairs(both, frozenset({(long, "positive")})) == 1
    assert count_similar_pairs(both, frozenset({(long, "negative")})) == 0
    found = measure(make_card([(near, "positive")], [(long, "positive")]))
    assert (found("tuple_f1_overall").value, found("generalized_f1@0.95").value) == (0.0, 1.0)
    assert found("generalized_f1@0.95").note == "similarity: character 2- and 3-gram cosine"


def test_invalid_gold_is_counted_where_it_is_left_out() -> None:
    broken = make_card([]).model_copy(
        update={"gold_tuples": (GoldTuple(aspect_term="a", polarity="positive"), NO_POLARITY)}
    )
    found = measure(broken, make_card([], []), failed(broken), make_card())
    counted = {metric: found(metric).value for metric in ("n_samples", "n_ok", "n_error", "n_gold", "gold_invalid_n")}
    assert counted == {"n_samples": 4, "n_ok": 3, "n_error": 1, "n_gold": 1, "gold_invalid_n": 1}
    assert make_gold(None) is None
