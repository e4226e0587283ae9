"""Metrics of RQ3: risk, change, overrides, coverage.

"Samples with retrieval" (coverage_rate) are those where retrieval ran; a sample where it found something is
"retrieved". "Changed with gold" counts every changed sample with valid gold, also one without explicit gold.
"""

from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics import oracles
from tests.metrics.checking import assert_count, assert_ratio, assert_value, measured
from tests.metrics.drawn_cards import cells, final_tuple, gold, memory_meta, ok_card
from tests.metrics.oracles import Ratio, ok

from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.run_files.scorecard import Coverage, MappedTag, OverrideScore, Scorecard, StageDelta
from episodic_absa.vocabulary import AdoptReason, OverrideSkip


@settings(max_examples=80)
@given(cells(), st.booleans())
def test_every_process_rate_is_its_sentence(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    for name, expected in oracles.rq3(cards, count_backfilled=count_backfilled).items():
        assert_ratio(metrics[name], expected)
        assert (metrics[name].group, metrics[name].kind) == ("rq3", "process")


@settings(max_examples=30)
@given(cells())
def test_every_reason_is_counted_even_if_it_never_occurs(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    for skip in get_args(OverrideSkip):
        expected = sum(oracles.override(card).skip_counts.get(skip, 0) for card in ok(cards))
        assert_count(metrics[f"override_skip_{skip}_n"], expected)
    for reason in get_args(AdoptReason):
        assert_count(metrics[f"adopt_reason_{reason}_n"], sum(oracles.adoption(c).reason == reason for c in ok(cards)))


@settings(max_examples=45)
@given(cells(), st.booleans())
def test_changes_improve_or_degrade_the_explicit_f1(cards: list[Scorecard], count_backfilled: bool) -> None:
    metrics = measured(cards, count_backfilled=count_backfilled)
    changed = [card for card in ok(cards) if oracles.changed(card) and oracles.has_valid_gold(card)]
    gains = [oracles.delta_f1(card, count_backfilled=count_backfilled) for card in changed]
    known = [gain for gain in gains if gain is not None]
    assert_ratio(metrics["changed_improved_rate"], Ratio(sum(gain > 0 for gain in known), len(changed)))
    assert_ratio(metrics["changed_degraded_rate"], Ratio(sum(gain < 0 for gain in known), len(changed)))


@settings(max_examples=45)
@given(cells())
def test_coverage_is_mapped_tags_over_tags_where_memory_was_asked(cards: list[Scorecard]) -> None:
    mapped = sum(len(card.coverage.risk_tag_to_principle_mapped) for card in ok(cards) if card.coverage)
    asked = sum(len(oracles.before(card).tags) for card in ok(cards) if oracles.memory(card).retrieval_calls)
    assert_ratio(measured(cards)["coverage_rate"], Ratio(mapped, asked))


def test_a_retrieval_that_finds_nothing_lowers_the_coverage_and_one_that_never_ran_does_not() -> None:
    risky = RiskVectorV1_1(severity_sum=3, tags=("IRONY",))
    tag = MappedTag(risk_tag="IRONY", principle_id="P-IRO-01")
    covered = Coverage(risk_tag_to_principle_mapped=(tag,), mapping_coverage_hit=True)
    bare = Coverage(risk_tag_to_principle_mapped=(), mapping_coverage_hit=False)
    helped = ok_card("u1", memory=memory_meta("C2", retrieved_k=1), risk_before=risky, coverage=covered)
    empty = ok_card("u2", memory=memory_meta("C2", retrieved_k=0), risk_before=risky, coverage=bare)
    unasked = ok_card("u3", memory=memory_meta("C1"), risk_before=risky, coverage=bare)
    assert_ratio(measured([helped, empty, unasked])["coverage_rate"], Ratio(1, 2))


def with_override(*, applied_n: int, applied: bool, skips: dict[OverrideSkip, int], adopt: bool) -> Scorecard:
    return ok_card(
        adopt=adopt,
        stage_delta=StageDelta(
            changed=False,
            label_changed=False,
            n_s1_pairs=0,
            n_final_pairs=0,
            change_type="none",
            override_applied=applied,
            override_gate_applied_n=applied_n,
        ),
        override=OverrideScore(success=False, harm=False, skip_counts=skips),
    )


def test_an_apply_decision_that_was_not_adopted_is_rejected_not_skipped() -> None:
    metrics = measured(
        [with_override(applied_n=1, applied=False, skips={"max_one_override_per_sample": 2}, adopt=False)]
    )
    assert_ratio(metrics["override_ev_rejected_rate"], Ratio(1, 1))
    assert_ratio(metrics["override_skipped_rate"], Ratio(0, 1))
    assert_ratio(metrics["override_applied_rate"], Ratio(0, 1))
    assert_value(metrics["override_success_rate"], None)
    assert_value(metrics["override_harm_rate"], None)
    assert_count(metrics["override_skip_max_one_override_per_sample_n"], 2)


def test_a_sample_without_a_decision_skips_nothing() -> None:
    metrics = measured([with_override(applied_n=0, applied=False, skips={}, adopt=False)])
    assert_value(metrics["override_skipped_rate"], None)
    assert_value(metrics["override_ev_rejected_rate"], None)


def test_a_change_that_helps_improves_and_one_that_hurts_degrades() -> None:
    good, bad = final_tuple("food", "positive"), final_tuple("food", "negative")
    right = gold(("food", "positive"))
    helped = ok_card(stage1=[bad], stage2=[good], adopt=True, gold_tuples=right)
    hurt = ok_card("u1", stage1=[good], stage2=[bad], adopt=True, gold_tuples=right)
    kept = ok_card("u2", stage1=[good], gold_tuples=right)
    metrics = measured([helped, hurt, kept])
    assert_ratio(metrics["changed_improved_rate"], Ratio(1, 2))
    assert_ratio(metrics["changed_degraded_rate"], Ratio(1, 2))
    assert_ratio(metrics["changed_rate"], Ratio(2, 3))
