"""Metrics of RQ1: severe polarity errors, conflicts, buckets, drops."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics import oracles
from tests.metrics.checking import ByName, assert_count, assert_ratio, assert_value, measured
from tests.metrics.drawn_cards import cells, drop_of, final_tuple, gold, judged, ok_card
from tests.metrics.oracles import Ratio, ok, share

from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import ModeratorRule

BUCKETS = ("unsupported", "implicit", "explicit", "explicit_failure")
FOOD = final_tuple("food", "positive")


def bucket_rates(metrics: ByName) -> dict[str, Ratio]:
    found = {name: metrics[f"{name}_rate"] for name in BUCKETS}
    return {name: Ratio(value.numerator or 0, value.denominator or 0) for name, value in found.items()}


@settings(max_examples=70)
@given(cells(), st.booleans())
def test_severe_errors_are_counted_over_tuples_and_over_samples(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    with_gold = [card for card in ok(cards) if oracles.has_valid_gold(card)]
    each = [oracles.severe(card, count_backfilled=count_backfilled) for card in with_gold]
    wrong, about = int(sum(r.numerator for r in each)), sum(r.denominator for r in each)
    assert_value(metrics["severe_polarity_error_L3_count"], wrong)
    assert_ratio(metrics["severe_polarity_error_L3_rate"], Ratio(wrong, about))
    sample_rate = Ratio(sum(r.numerator > 0 for r in each), len(with_gold))
    assert_ratio(metrics["severe_polarity_error_L3_sample_rate"], sample_rate)


def test_a_polarity_that_some_annotator_gave_the_term_is_no_severe_error() -> None:
    both = gold(("food", "positive"), ("Food.", "negative"), ("", "positive"))
    right = ok_card(stage1=[FOOD, final_tuple("", "negative")], gold_tuples=both)
    assert_count(measured([right])["severe_polarity_error_L3_count"], 0)
    wrong = ok_card(stage1=[final_tuple("FOOD", "neutral"), final_tuple("service", "neutral")], gold_tuples=both)
    metrics = measured([wrong])
    assert_count(metrics["severe_polarity_error_L3_count"], 1)
    assert_ratio(metrics["severe_polarity_error_L3_rate"], Ratio(1, 1))


@settings(max_examples=45)
@given(cells(), st.booleans())
def test_a_conflict_is_one_aspect_with_two_polarities(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    expected = share(ok(cards), lambda c: oracles.conflict(c.final_tuples, count_backfilled=count_backfilled))
    assert_ratio(metrics["polarity_conflict_rate"], expected)
    # One representative per aspect leaves no conflict.
    assert_count(metrics["conflict_resolved_by_representative_n"], int(expected.numerator))


@pytest.mark.parametrize("count_backfilled", [False, True])
def test_a_backfill_makes_a_conflict_only_if_backfills_count(count_backfilled: bool) -> None:
    """Backfills are excluded from metrics unless eval.count_backfilled is true."""
    card = ok_card(stage1=[final_tuple("food", "neutral", 0.5, backfilled=True), FOOD])
    metrics = measured([card], count_backfilled=count_backfilled)
    assert_ratio(metrics["polarity_conflict_rate"], Ratio(int(count_backfilled), 1))


@pytest.mark.parametrize("count_backfilled", [False, True])
def test_a_backfill_is_grounded_only_if_backfills_count(count_backfilled: bool) -> None:
    backfill = final_tuple("food", "neutral", 0.5, backfilled=True)
    card = ok_card(stage1=[backfill], applied_rules=("Z",), label="neutral")
    rates = bucket_rates(measured([card], count_backfilled=count_backfilled))
    assert rates["explicit" if count_backfilled else "unsupported"].value == 1


@settings(max_examples=70)
@given(cells(), st.booleans())
def test_each_sample_falls_in_one_bucket_and_the_rates_sum_to_one(
    cards: list[Scorecard], count_backfilled: bool
) -> None:
    rates = bucket_rates(measured(cards, count_backfilled=count_backfilled))
    n = ok(cards)
    for name, rate in rates.items():
        expected = share(n, lambda c, name=name: oracles.bucket(c, count_backfilled=count_backfilled) == name)  # type: ignore[misc]
        assert rate == expected, name
    if n:
        assert sum(r.value or 0 for r in rates.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("term", "grounded", "evidence", "rules", "candidate", "expected"),
    [
        (None, False, False, ("Z",), False, "unsupported"),
        (None, False, False, ("Z",), True, "unsupported"),
        (None, False, False, ("B",), False, "implicit"),
        ("", False, True, ("B",), False, "implicit"),
        ("", False, False, ("Z",), False, "implicit"),
        ("food", True, True, ("B",), False, "explicit"),
        ("food", True, True, ("B",), True, "explicit"),
        ("food", True, False, ("B",), False, "unsupported"),
        ("food", True, False, ("B",), True, "unsupported"),
        ("food", False, True, ("B",), False, "explicit_failure"),
        ("food", False, False, ("B",), False, "explicit_failure"),
        ("food", False, True, ("B",), True, "implicit"),
        ("food", False, False, ("B", "C"), True, "implicit"),
        ("food", False, True, ("Z",), True, "explicit_failure"),
    ],
)
def test_the_bucket_of_a_sample_by_table(
    term: str | None,
    grounded: bool,
    evidence: bool,
    rules: tuple[ModeratorRule, ...],
    candidate: bool,
    expected: str,
) -> None:
    tuples = [] if term is None else [final_tuple(term), final_tuple("가격")]
    judgements = [judged(item, grounded=grounded, evidence=evidence) for item in tuples[:1]]
    card = ok_card(
        stage1=tuples,
        judgements=[*judgements, *(judged(item) for item in tuples[1:])],
        applied_rules=rules,
        label="neutral",
        implicit_grounding_candidate=candidate,
    )
    rates = bucket_rates(measured([card]))
    assert {name for name, rate in rates.items() if rate.value == 1} == {expected}
    assert {name for name, rate in rates.items() if rate.value} == {expected}


@settings(max_examples=45)
@given(cells())
def test_hallucinations_and_drops_are_shares_of_all_samples(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    n = ok(cards)
    hallucinated = share(n, lambda c: any(not judgement.term_in_text for judgement in c.sentiments_judged))
    assert_ratio(metrics["aspect_hallucination_rate"], hallucinated)
    for reason in ("alignment_failure", "filter_rejection", "semantic_hallucination"):
        expected = share(n, lambda c, reason=reason: oracles.dropped(c, reason))  # type: ignore[misc]
        assert_ratio(metrics[f"{reason}_rate"], expected)


def test_two_drops_of_one_kind_in_a_sample_count_once() -> None:
    metrics = measured([ok_card(drops=(drop_of("alignment_failure"),) * 2), ok_card("u1")])
    assert_ratio(metrics["alignment_failure_rate"], Ratio(1, 2))


@settings(max_examples=45)
@given(cells())
def test_negation_and_contrast_risks_of_stage1_are_counted_by_sample(cards: list[Scorecard]) -> None:
    def has_scope_risk(card: Scorecard) -> bool:
        return any(risk.type in {"NEGATION_SCOPE", "CONTRAST_SCOPE"} for risk in card.risks_s1)

    assert_ratio(measured(cards)["negation_contrast_risk_rate"], share(ok(cards), has_scope_risk))


def test_the_group_rq1_holds_outcomes_and_residual_risk_is_a_process_metric() -> None:
    metrics = measured([ok_card(stage1=[FOOD])])
    for name in ("severe_polarity_error_L3_rate", "polarity_conflict_rate", "aspect_hallucination_rate"):
        assert (metrics[name].group, metrics[name].kind) == ("rq1", "outcome")
    assert metrics["outcome_residual_risk_rate"].kind == "process"
