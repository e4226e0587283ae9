"""RQ1, RQ3, memory, impact and efficiency: tables of samples and what they come to."""

from typing import Literal

import pytest
from tests.metrics.hand_made_cards import covering, failed, judged, make_card, make_memory, measure

from episodic_absa.schemas.absa import Drop
from episodic_absa.schemas.run_files.scorecard import (
    OverrideScore,
    Scorecard,
    ScoredRisk,
    StageDelta,
    UsageSums,
)

LOW = ScoredRisk(type="OTHER", severity="low")
HIGH = ScoredRisk(type="NEGATION_SCOPE", severity="high")


def test_severe_errors_name_a_gold_term_and_turn_its_polarity_round() -> None:
    found = measure(
        make_card(
            [("food", "negative"), ("staff", "positive"), ("bar", "negative"), ("", "negative")],
            [("food", "positive"), ("food", "neutral"), ("staff", "positive"), ("", "positive")],
            stage1=[("food", "positive")],
        ),
        make_card([("food", "neutral")], [("food", "positive"), ("food", "neutral")]),
        make_card([("food", "negative")], None),
    )
    assert found("severe_polarity_error_L3_count").value == 1
    rate = found("severe_polarity_error_L3_rate")
    assert (rate.numerator, rate.denominator) == (1, 3)
    samples = found("severe_polarity_error_L3_sample_rate")
    assert (samples.numerator, samples.denominator) == (1, 2)
    assert found("severe_polarity_error_L3_count_s1").value == 0


def test_conflicts_drops_and_hallucinations_are_shares_of_samples() -> None:
    two_drops = [Drop(aspect_term="x", drop_reason="alignment_failure")] * 2
    found = measure(
        make_card([("Food", "positive"), ("food", "negative")], drops=two_drops, risks_s1=[HIGH]),
        make_card([("food", "positive")], sentiments_judged=(judged(in_text=False),)),
        make_card(risks_s1=[LOW]),
        failed(make_card([("food", "positive"), ("food", "negative")])),
    )
    for metric in ("polarity_conflict_rate", "alignment_failure_rate", "aspect_hallucination_rate"):
        assert (found(metric).numerator, found(metric).denominator) == (1, 3), metric
    assert found("negation_contrast_risk_rate").value == pytest.approx(1 / 3)
    assert found("filter_rejection_rate").value == 0.0
    assert found("conflict_resolved_by_representative_n").value == 1


def test_risk_is_told_before_and_after_with_and_without_change() -> None:
    fixed = make_card([("a", "positive")], stage1=[("a", "negative")], risks_s1=[HIGH])
    calmed = make_card([("a", "positive")], risks_s1=[HIGH, LOW], risks_s2=[LOW])
    plain = make_card([("a", "positive")])
    found = measure(fixed, calmed, plain)
    told = {
        metric: (found(metric).numerator, found(metric).denominator)
        for metric in (
            "risk_flagged_rate",
            "validator_clear_rate",
            "validator_residual_risk_rate",
            "outcome_residual_risk_rate",
            "risk_before_mean",
            "risk_after_mean",
            "delta_risk_mean",
            "risk_resolved_with_change_rate",
            "risk_resolved_without_change_rate",
            "risk_affected_change_rate",
            "ignored_proposal_rate",
            "changed_rate",
            "guided_change_rate",
            "unguided_drift_rate",
        )
    }
    assert told == {
        "risk_flagged_rate": (2, 3),
        "validator_clear_rate": (1, 2),
        "validator_residual_risk_rate": (1, 3),
        "outcome_residual_risk_rate": (1, 3),
        "risk_before_mean": (7, 3),
        "risk_after_mean": (4, 3),
        "delta_risk_mean": (-3, 3),
        "risk_resolved_with_change_rate": (1, 1),
        "risk_resolved_without_change_rate": (1, 2),
        "risk_affected_change_rate": (1, 2),
        "ignored_proposal_rate": (1, 2),
        "changed_rate": (1, 3),
        "guided_change_rate": (1, 1),
        "unguided_drift_rate": (0, 3),
    }


def overriding(*, applied: int, stands: bool, success: bool = False, skips: dict[str, int] | None = None) -> Scorecard:
    delta = StageDelta(
        changed=stands,
        label_changed=False,
        n_s1_pairs=1,
        n_final_pairs=1,
        change_type="guided" if stands else "none",
        override_applied=stands,
        override_gate_applied_n=applied,
    )
    override = OverrideScore.model_validate(
        {"success": success, "harm": stands and not success, "skip_counts": skips or {}}
    )
    card = make_card([("a", "positive")], stage_delta=delta, override=override)
    assert card.adoption is not None
    return card.model_copy(update={"adoption": card.adoption.model_copy(update={"adopt": stands})})


def test_overrides_are_counted_where_the_gate_decided() -> None:
    found = measure(
        overriding(applied=1, stands=True, success=True, skips={"low_signal": 2}),
        overriding(applied=1, stands=True),
        overriding(applied=1, stands=False),
        overriding(applied=0, stands=False, skips={"low_signal": 1, "neutral_only": 1}),
        overriding(applied=0, stands=False),
    )
    told = {
        metric: (found(metric).numerator, found(metric).denominator)
        for metric in (
            "override_applied_rate",
            "override_skipped_rate",
            "override_success_rate",
            "override_harm_rate",
            "override_ev_rejected_rate",
        )
    }
    assert told == {
        "override_applied_rate": (2, 5),
        "override_skipped_rate": (1, 4),
        "override_success_rate": (1, 2),
        "override_harm_rate": (1, 2),
        "override_ev_rejected_rate": (1, 3),
    }
    assert found("override_skip_low_signal_n").value == 3
    assert found("override_skip_l3_conservative_n").value == 0


def test_debate_coverage_and_reading_rates() -> None:
    covered = make_card(risks_s1=[HIGH, LOW], coverage=covering("NEGATION_SCOPE"))
    hidden = make_card(risks_s1=[HIGH], memory=make_memory(retrieval_calls=0))
    found = measure(
        covered,
        hidden.model_copy(update={"polarity_read_count": 4, "polarity_repair_count": 1, "polarity_invalid_count": 2}),
    )
    told = {
        metric: found(metric).value
        for metric in (
            "coverage_rate",
            "hint_invalid_rate",
            "polarity_repair_rate",
            "polarity_invalid_rate",
            "mapping_coverage",
            "mapping_direct",
            "mapping_fallback",
            "mapping_none",
        )
    }
    assert list(told.values()) == [0.5, 0.25, 0.25, 0.5, 0.75, 0.5, 0.25, 0.25]


def advised(expects: Literal["change", "hold"] | None, *, changed: bool, chars: int = 10) -> Scorecard:
    memory = make_memory(
        retrieved_k=1,
        retrieved_ids=("epi_000001",),
        prompt_injection_chars=chars,
        injection_trigger_reason="validator",
        injection_trigger_reasons=("validator", "alignment"),
        advisory_expects=expects,
    )
    stage1 = [("a", "negative")] if changed else None
    return make_card([("a", "positive")], stage1=stage1, risks_s1=[HIGH], memory=memory)  # type: ignore[arg-type]


def test_following_is_doing_what_the_top_advisory_expects() -> None:
    found = measure(
        advised("change", changed=True),
        advised("hold", changed=False),
        advised("hold", changed=True),
        advised("change", changed=False),
        advised(None, changed=True),
        advised("change", changed=True, chars=0),
    )
    assert (found("follow_rate").numerator, found("follow_rate").denominator) == (2, 4)
    assert found("mean_delta_risk_followed").value == -1.5
    assert found("mean_delta_risk_ignored").value == -1.5
    assert found("harm_rate_followed").value == 0.0
    assert (found("memory_injected_rate").numerator, found("memory_used_changed_rate").numerator) == (5, 3)
    assert (found("injection_trigger_validator_n").value, found("injection_trigger_alignment_n").value) == (5, 0)
    assert found("mean_prompt_injection_chars").value == pytest.approx(50 / 6)
    assert measure(make_card())("follow_rate").value is None


def test_what_is_retrieved_and_may_be_shown_is_available() -> None:
    hidden = make_memory(retrieved_k=2, exposed_to_debate=False, exposed_to_stage2=False)
    shown = make_memory(retrieved_k=2, exposed_to_debate=False, memory_blocked_episode_n=3, memory_blocked_advisory_n=1)
    found = measure(make_card(memory=hidden), make_card(memory=shown), make_card())
    assert (found("memory_retrieved_rate").numerator, found("memory_available_rate").numerator) == (2, 1)
    assert (found("memory_blocked_episode_n").value, found("memory_blocked_advisory_n").value) == (3, 1)


def test_usage_is_summed_over_all_calls_and_an_unknown_price_stays_unknown() -> None:
    usage = UsageSums(calls=10, attempts=11, tokens_in=100, tokens_out=20, cost_usd=0.5)
    card, lost = make_card(usage=usage), failed(make_card(usage=usage))
    found = measure(card, card, lost)
    assert (found("attempts").value, found("attempts_total").value) == (11, 33)
    assert (found("tokens_in").value, found("tokens_in_total").value) == (100, 300)
    assert (found("cost_usd").value, found("cost_usd_total").value) == (0.5, 1.5)
    unpriced = measure(card, make_card(usage=usage.model_copy(update={"cost_usd": None})))
    assert (unpriced("cost_usd").value, unpriced("cost_usd_total").value) == (None, None)
