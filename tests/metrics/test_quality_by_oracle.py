"""Metrics of quality: P, R, F1 over pair sets, on samples with valid gold."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics import oracles
from tests.metrics.checking import assert_count, assert_ratio, assert_value, measured
from tests.metrics.drawn_cards import (
    POLARITIES,
    cells,
    error_card,
    final_tuple,
    gold,
    ok_card,
    some_tuples,
    valid_gold,
    with_final,
)

from episodic_absa.metrics import Majority
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity

FOOD = final_tuple("food", "positive")
SLOW = final_tuple("service", "negative")
UNSAID = final_tuple("", "positive")
F1S = (*oracles.MACRO, "tuple_f1_explicit_micro")


@settings(max_examples=100)
@given(cells(), st.booleans())
def test_every_macro_f1_is_the_mean_of_the_samples_f1(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    for name in oracles.MACRO:
        expected = oracles.macro(name, cards, count_backfilled=count_backfilled)
        assert_value(metrics[name], expected.value)
        if metrics[name].value is not None and metrics[name].denominator:
            assert metrics[name].denominator == expected.denominator


@settings(max_examples=45)
@given(cells(), st.booleans())
def test_micro_f1_pools_the_samples_with_explicit_gold(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    expected = oracles.f1_explicit_micro(cards, count_backfilled=count_backfilled)
    assert_ratio(metrics["tuple_f1_explicit_micro"], expected)


def test_only_samples_with_explicit_gold_are_pooled() -> None:
    golds = (gold(("food", "positive")), gold(("", "negative")), ())
    cards = [ok_card(f"u{i}", stage1=[FOOD], gold_tuples=gold_tuples) for i, gold_tuples in enumerate(golds)]
    assert_ratio(measured(cards)["tuple_f1_explicit_micro"], oracles.Ratio(2, 2))


@settings(max_examples=45)
@given(cells(), st.booleans())
def test_a_metric_with_the_suffix_s1_is_the_same_over_stage1(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    first = measured([oracles.as_stage1(card) for card in cards], count_backfilled=count_backfilled)
    assert "tuple_f1_explicit_s1" in metrics
    for name, metric in metrics.items():
        base = name.removesuffix("_s1")
        if base != name and base in F1S:
            expected = (
                oracles.f1_explicit_micro(map(oracles.as_stage1, cards), count_backfilled=count_backfilled).value
                if base.endswith("micro")
                else oracles.macro(base, map(oracles.as_stage1, cards), count_backfilled=count_backfilled).value
            )
            assert_value(metric, expected)
        elif base != name:
            assert_value(metric, first[base].value)


@settings(max_examples=45)
@given(cells(), st.booleans())
def test_delta_f1_is_explicit_f1_minus_that_of_stage1(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    gains = [oracles.delta_f1(card, count_backfilled=count_backfilled) for card in oracles.ok(cards)]
    assert_value(metrics["delta_f1"], oracles.mean(gain for gain in gains if gain is not None).value)


@settings(max_examples=70)
@given(cells(), st.booleans())
def test_exact_match_and_corrections_count_samples_with_gold(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    assert_ratio(metrics["exact_match"], oracles.exact_match(cards, count_backfilled=count_backfilled))
    for name, expected in oracles.corrections(cards, count_backfilled=count_backfilled).items():
        assert_ratio(metrics[name], expected)


@settings(max_examples=45)
@given(cells(), st.booleans())
def test_implicit_gold_without_an_implicit_prediction_is_counted(
    cards: list[Scorecard], count_backfilled: bool
) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    expected = oracles.implicit_invalid(cards, count_backfilled=count_backfilled)
    assert_ratio(metrics["implicit_invalid_pred_rate"], expected)


@settings(max_examples=30)
@given(cells())
def test_samples_with_invalid_gold_are_counted_and_score_nowhere(cards: list[Scorecard]) -> None:
    invalid = [card for card in oracles.ok(cards) if card.gold_tuples is not None and not oracles.has_valid_gold(card)]
    metrics = measured(cards)
    assert_count(metrics["gold_invalid_n"], len(invalid))
    assert_count(metrics["n_gold"], sum(map(oracles.has_valid_gold, oracles.ok(cards))))
    without = measured([card for card in cards if card not in invalid])
    for name, metric in metrics.items():
        if metric.group == "quality" and name != "gold_invalid_n":
            assert_value(metric, without[name].value)


@settings(max_examples=30)
@given(cells())
def test_precision_and_recall_are_macro_means_over_samples_with_explicit_gold(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    precisions, recalls = [], []
    for card in oracles.ok(cards):
        right = oracles.explicit(oracles.gold_pairs(card)) if oracles.has_valid_gold(card) else frozenset()
        if right:
            found = oracles.explicit(oracles.pairs(card.final_tuples))
            precisions.append(len(found & right) / len(found) if found else 0.0)
            recalls.append(len(found & right) / len(right))
    assert_value(metrics["tuple_precision_explicit"], oracles.mean(precisions).value)
    assert_value(metrics["tuple_recall_explicit"], oracles.mean(recalls).value)


def test_explicit_f1_is_strict_where_lenient_f1_is_not() -> None:
    gold_tuples = gold(("food", "positive"), ("", "negative"))
    metrics = measured([ok_card(stage1=[FOOD, SLOW], gold_tuples=gold_tuples)])
    assert_value(metrics["tuple_f1_explicit"], 2 * 1 * 0.5 / 1.5)
    assert_value(metrics["tuple_f1_overall"], 0.5)
    assert_value(metrics["tuple_f1_implicit"], 0.0)
    assert_value(metrics["tuple_f1_lenient"], 1.0)


def test_lenient_matching_takes_the_polarity_of_the_gold_and_no_prediction_twice() -> None:
    two_unsaid = gold(("", "positive"), ("", "negative"))
    assert_value(measured([ok_card(stage1=[FOOD], gold_tuples=two_unsaid)])["tuple_f1_lenient"], 2 / 3)
    neutral = final_tuple("food", "neutral")
    assert_value(measured([ok_card(stage1=[neutral], gold_tuples=two_unsaid)])["tuple_f1_lenient"], 0.0)
    both = ok_card(stage1=[FOOD], gold_tuples=gold(("food", "positive"), ("", "positive")))
    assert_value(measured([both])["tuple_f1_lenient"], 2 / 3)  # food is matched by its own gold already
    served = ok_card(stage1=[FOOD, UNSAID], gold_tuples=gold(("", "positive")))
    assert_value(measured([served])["tuple_f1_lenient"], 2 / 3)  # the unsaid gold is matched by its own prediction


@pytest.mark.parametrize("name", ["tuple_f1_overall", "tuple_f1_explicit", "tuple_f1_lenient", "generalized_f1@0.95"])
def test_a_sample_with_gold_and_no_prediction_scores_zero(name: str) -> None:
    found = ok_card("u1", stage1=[FOOD], gold_tuples=gold(("food", "positive")))
    assert_value(measured([ok_card(gold_tuples=gold(("food", "positive"))), found])[name], 0.5)


def test_the_representative_of_an_aspect_is_the_most_confident_then_the_first() -> None:
    gold_tuples = gold(("food", "negative"))
    sure = [final_tuple("food", "negative", 0.9), final_tuple("food", "positive", 0.6)]
    assert_value(measured([ok_card(stage1=sure, gold_tuples=gold_tuples)])["tuple_f1_after_rep"], 1.0)
    level = [final_tuple("food", "negative", 0.6), final_tuple("Food", "positive", 0.6)]
    assert_value(measured([ok_card(stage1=level, gold_tuples=gold_tuples)])["tuple_f1_after_rep"], 1.0)
    assert_value(measured([ok_card(stage1=level[::-1], gold_tuples=gold_tuples)])["tuple_f1_after_rep"], 0.0)


@settings(max_examples=30)
@given(some_tuples, valid_gold)
def test_writing_a_tuple_twice_changes_no_score(
    tuples: Sequence[FinalTuple], gold_tuples: tuple[GoldTuple, ...]
) -> None:
    card = ok_card(stage1=tuples, gold_tuples=gold_tuples)
    twice = [
        item.model_copy(update={"aspect_term": f"{item.aspect_term}." if item.aspect_term else ""}) for item in tuples
    ]
    once, again = measured([card]), measured([with_final(card, [*tuples, *twice])])
    for name in (*F1S, "exact_match"):
        assert_value(again[name], once[name].value)


@settings(max_examples=30)
@given(st.lists(valid_gold, min_size=1, max_size=3))
def test_gold_against_gold_gives_one(golds: list[tuple[GoldTuple, ...]]) -> None:
    cards = [
        ok_card(
            f"u{i}",
            stage1=[final_tuple(item.aspect_term, item.polarity) for item in gold_tuples if item.polarity],
            gold_tuples=gold_tuples,
        )
        for i, gold_tuples in enumerate(golds)
    ]
    contradicts = any(oracles.conflict(card.final_tuples) for card in cards)
    metrics = measured(cards)
    for name in F1S:
        if metrics[name].value is not None and not (name == "tuple_f1_after_rep" and contradicts):
            assert_value(metrics[name], 1.0)
    assert_value(metrics["tuple_f1_overall"], 1.0)
    assert_value(metrics["exact_match"], 1.0)
    assert_value(metrics["severe_polarity_error_L3_count"], 0)


@pytest.mark.parametrize(
    "left_out",
    [
        ok_card(stage1=[SLOW]),
        ok_card(stage1=[SLOW], gold_tuples=gold(("", "positive"))),
        ok_card(stage1=[SLOW], gold_tuples=()),
        ok_card(stage1=[SLOW], gold_tuples=gold(("service", None))),
        error_card(gold_tuples=gold(("food", "positive"))),
    ],
    ids=["no gold", "implicit gold", "no opinion", "gold without polarity", "failed"],
)
def test_a_sample_without_usable_explicit_gold_takes_no_part_in_the_primary_metric(left_out: Scorecard) -> None:
    right = ok_card("u1", stage1=[FOOD], gold_tuples=gold(("food", "positive")))
    assert_ratio(measured([left_out])["tuple_f1_explicit"], oracles.Ratio(0, 0))
    assert_ratio(measured([left_out, right])["tuple_f1_explicit"], oracles.Ratio(1, 1))


def test_a_backfill_is_no_prediction_unless_the_experiment_counts_it() -> None:
    backfill = final_tuple("food", "neutral", 0.5, backfilled=True)
    card = ok_card(stage1=[backfill], gold_tuples=gold(("food", "neutral")))
    assert_value(measured([card])["tuple_f1_explicit"], 0.0)
    assert_value(measured([card], count_backfilled=True)["tuple_f1_explicit"], 1.0)


def test_an_annotated_sample_without_opinions_is_right_only_without_predictions() -> None:
    quiet, loud = ok_card(gold_tuples=()), ok_card("u1", stage1=[FOOD], gold_tuples=())
    metrics = measured([quiet, loud])
    assert_ratio(metrics["exact_match"], oracles.Ratio(1, 2))
    assert_value(metrics["tuple_f1_explicit"], None)  # no sample has explicit gold
    assert_value(metrics["tuple_f1_implicit"], None)
    assert_value(metrics["tuple_f1_overall"], None)


def test_generalized_f1_matches_similar_terms_one_to_one_and_names_its_similarity() -> None:
    long = "the very long name of a dish that nobody remembers"
    near = f"{long}s"

    def score(*predicted: str, right: Sequence[str] = (long,)) -> float | None:
        card = ok_card(stage1=[final_tuple(t) for t in predicted], gold_tuples=gold(*((t, "positive") for t in right)))
        found = measured([card])
        assert found["generalized_f1@0.95"].note == "similarity: character 2- and 3-gram cosine"
        assert found["tuple_f1_overall"].value != 1.0 or set(predicted) == set(right)
        return found["generalized_f1@0.95"].value

    assert score(near) == 1.0
    assert score(near, long) == pytest.approx(2 / 3)
    assert score(near, long, right=(long, near)) == 1.0
    assert score("foods", right=("food",)) == 0.0


def test_generalized_f1_matches_equal_terms_and_never_unrelated_ones_or_other_polarities() -> None:
    def score(*pairs: tuple[str, Polarity]) -> float | None:
        card = ok_card(
            stage1=[final_tuple("FOOD!", "positive"), final_tuple("배송", "negative")], gold_tuples=gold(*pairs)
        )
        return measured([card])["generalized_f1@0.95"].value

    assert score(("food", "positive"), ("배송", "negative")) == 1.0
    assert score(("food", "negative"), ("배송", "positive")) == 0.0
    assert score(("배송", "negative")) == pytest.approx(2 / 3)
    assert score(("화면 밝기", "negative")) == 0.0


@pytest.mark.parametrize("term", ["맛", "A", "", "as", "배터리 수명"])
def test_generalized_f1_knows_a_term_however_short(term: str) -> None:
    card = ok_card(stage1=[final_tuple(term)], gold_tuples=gold((term, "positive")))
    assert_value(measured([card])["generalized_f1@0.95"], 1.0)
    other = ok_card(stage1=[final_tuple(term)], gold_tuples=gold(("질", "positive")))
    assert_value(measured([other])["generalized_f1@0.95"], 0.0)


def test_generalized_f1_pairs_conflicting_polarities_of_a_term_the_best_way() -> None:
    both = [final_tuple("food", "negative"), final_tuple("food", "positive")]
    card = ok_card(stage1=both, gold_tuples=gold(("food", "positive"), ("food", "negative")))
    assert_value(measured([card])["generalized_f1@0.95"], 1.0)


@settings(max_examples=45)
@given(cells(), st.sampled_from(POLARITIES), st.sampled_from(("train", "evaluation")))
def test_the_majority_baseline_gives_every_kept_stage1_term_the_majority_polarity(
    cards: list[Scorecard], polarity: Polarity, source: str
) -> None:
    metrics = measured(cards, majority=Majority.model_validate({"polarity": polarity, "source": source}))
    guessed = [oracles.as_baseline(card, polarity) for card in cards]
    assert metrics["baseline_majority"].group == "baseline"
    assert metrics["baseline_majority"].note == f"majority: {polarity}, from {source} gold"
    assert_value(metrics["baseline_majority"], oracles.macro("tuple_f1_explicit", guessed).value)
    assert_value(metrics["baseline_majority_exact_match"], oracles.exact_match(guessed).value)
    for name in oracles.MACRO:
        assert_value(metrics[f"baseline_majority_{name}"], oracles.macro(name, guessed).value)


def test_the_majority_baseline_reads_no_gold_terms_and_takes_backfilled_terms() -> None:
    card = ok_card(
        stage1=[final_tuple("food", "neutral", 0.5, backfilled=True), UNSAID],
        gold_tuples=gold(("food", "negative"), ("service", "negative")),
    )
    negative = Majority(polarity="negative", source="evaluation")
    assert_value(measured([card], majority=negative)["baseline_majority"], 2 / 3)


def test_without_a_majority_the_baseline_is_null() -> None:
    card = ok_card(stage1=[FOOD], gold_tuples=gold(("food", "negative")))
    baseline = measured([card], majority=None)["baseline_majority"]
    assert (baseline.value, baseline.note) == (None, "no gold to take a majority from")
