"""The paired metrics of one sample."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics import oracles
from tests.metrics.drawn_cards import any_cards

from episodic_absa.metrics import PAIRED_METRICS, sample_value
from episodic_absa.schemas.run_files.scorecard import Scorecard

MICRO = tuple(f"tuple_{score}_explicit_micro" for score in ("f1", "precision", "recall"))
EVERY_PAIRED = (
    "tuple_f1_explicit",
    "tuple_f1_overall",
    "tuple_f1_lenient",
    "tuple_f1_implicit",
    "tuple_f1_after_rep",
    "exact_match",
    "delta_f1",
    "severe_polarity_error",
    "polarity_conflict",
    "unsupported",
    "aspect_hallucination",
    "changed",
    "delta_risk",
    "outcome_residual_risk",
    "validator_residual_risk",
    "tokens_in",
    "tokens_out",
    "calls",
)


@settings(max_examples=100)
@given(any_cards(condition="C2"), st.booleans())
def test_the_value_of_a_sample_is_the_metric_of_that_sample(card: Scorecard, count_backfilled: bool) -> None:
    def told(name: str) -> float | None:
        return sample_value(name, card, count_backfilled=count_backfilled)

    if card.status == "error":
        assert all(told(name) is None for name in EVERY_PAIRED)
        return
    expected: dict[str, float | None] = {
        name: oracle(card, count_backfilled=count_backfilled)
        for name, oracle in oracles.MACRO.items()
        if name in EVERY_PAIRED
    }
    with_gold = oracles.has_valid_gold(card)
    expected |= {
        "delta_f1": oracles.delta_f1(card, count_backfilled=count_backfilled),
        "exact_match": oracles.exact_match([card], count_backfilled=count_backfilled).value,
        "severe_polarity_error": float(oracles.severe(card, count_backfilled=count_backfilled).numerator > 0)
        if with_gold
        else None,
        "polarity_conflict": oracles.conflict(card.final_tuples, count_backfilled=count_backfilled),
        "unsupported": oracles.bucket(card, count_backfilled=count_backfilled) == "unsupported",
        "aspect_hallucination": any(not judgement.term_in_text for judgement in card.sentiments_judged),
        "changed": oracles.changed(card),
        "delta_risk": oracles.delta_risk(card),
        "outcome_residual_risk": oracles.residual(card, count_backfilled=count_backfilled),
        "validator_residual_risk": bool(card.risks_s2),
        "tokens_in": card.usage.tokens_in,
        "tokens_out": card.usage.tokens_out,
        "calls": card.usage.calls,
    }
    for name, value in expected.items():
        assert told(name) == (None if value is None else pytest.approx(float(value), abs=1e-9)), name


def test_the_paired_metrics_are_those_agreed_upon() -> None:
    assert set(PAIRED_METRICS) == {*EVERY_PAIRED, *MICRO}
