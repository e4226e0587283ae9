"""For any samples: no rate exceeds 1, an empty denominator gives no value, order does not matter, gold scores 1."""

import subprocess
import sys
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.hand_made_cards import failed, make_card, make_memory

from episodic_absa.metrics import (
    PAIRED_METRICS,
    Majority,
    all_definitions,
    compute_cell_metrics,
    compute_growth,
    definition_of,
    sample_value,
)
from episodic_absa.metrics.definitions import definitions_in
from episodic_absa.metrics.metric_value import MetricGroup
from episodic_absa.metrics.per_sample.sample_values import VALUE_METRICS
from episodic_absa.schemas.run_files.scorecard import Scorecard, ScoredRisk
from episodic_absa.vocabulary import POLARITIES, RISK_IDS

PAIRS = st.lists(
    st.tuples(st.sampled_from(["", "food", "Food ", "staff", "값"]), st.sampled_from(POLARITIES)), max_size=4
)
RISKS = st.lists(
    st.builds(ScoredRisk, type=st.sampled_from(RISK_IDS), severity=st.sampled_from(["low", "mid", "high"])), max_size=3
)
MEMORY = st.builds(
    make_memory,
    retrieved_k=st.integers(0, 3),
    prompt_injection_chars=st.integers(0, 2),
    advisory_expects=st.sampled_from([None, "change", "hold"]),
)
MAJORITY = Majority(polarity="positive", source="train")
UNBOUNDED = ("_mean", "_n", "_count", "_count_s1", "mean_delta_risk_", "mean_prompt_", "mean_stage2_")


@st.composite
def cards(draw: st.DrawFn) -> list[Scorecard]:
    made = []
    for place in range(draw(st.integers(0, 6))):
        fields: dict[str, Any] = {
            "stage1": draw(st.none() | PAIRS),
            "backfilled": draw(PAIRS),
            "risks_s1": draw(RISKS),
            "risks_s2": draw(RISKS),
            "memory": draw(MEMORY),
            "uid": f"u{place}",
            "sample_index": place,
        }
        card = make_card(draw(PAIRS), draw(st.none() | PAIRS), **fields)
        made.append(failed(card) if draw(st.integers(0, 5)) == 0 else card)
    return made


@given(cards(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_rate_exceeds_one_and_an_empty_denominator_shows_no_number(found: list[Scorecard], backfilled: bool) -> None:
    for value in compute_cell_metrics(found, majority=MAJORITY, count_backfilled=backfilled):
        if value.denominator == 0:
            assert value.value is None, value
        if (
            value.kind == "efficiency"
            or value.metric.startswith("n_")
            or any(part in value.metric for part in UNBOUNDED)
        ):
            continue
        assert value.value is None or -1 <= value.value <= 1, value
        assert value.value is None or value.value >= 0 or value.metric in ("delta_f1", "net_gain"), value


@given(cards(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_scorecards_changes_nothing(found: list[Scorecard], random: Any) -> None:
    mixed = random.sample(found, len(found))
    assert compute_cell_metrics(mixed, majority=MAJORITY) == compute_cell_metrics(found, majority=MAJORITY)
    assert compute_growth(mixed) == compute_growth(found)


@given(PAIRS)
def test_gold_scored_against_itself_is_perfect(gold: list[Any]) -> None:
    card = make_card(gold, gold)
    found = {value.metric: value.value for value in compute_cell_metrics([card], majority=None)}
    for metric in ("explicit", "explicit_micro", "overall", "implicit", "lenient"):
        assert found[f"tuple_f1_{metric}"] in (None, 1.0)
    assert (found["exact_match"], found["severe_polarity_error_L3_count"]) == (1.0, 0.0)
    assert found["generalized_f1@0.95"] in (None, 1.0)


@given(cards(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_buckets_sum_to_one(found: list[Scorecard], backfilled: bool) -> None:
    metrics = {value.metric: value for value in compute_cell_metrics(found, majority=None, count_backfilled=backfilled)}
    buckets = [metrics[f"{name}_rate"] for name in ("explicit", "implicit", "explicit_failure", "unsupported")]
    assert sum(value.numerator or 0 for value in buckets) == metrics["n_ok"].value
    assert {value.denominator for value in buckets} == {metrics["n_ok"].value}


@given(cards())
@settings(max_examples=40, deadline=None)
def test_the_mean_of_a_sample_s_values_is_the_metric_of_the_cell(found: list[Scorecard]) -> None:
    metrics = {value.metric: value for value in compute_cell_metrics(found, majority=None)}
    named = {
        "severe_polarity_error": "severe_polarity_error_L3_sample_rate",
        "polarity_conflict": "polarity_conflict_rate",
        "delta_risk": "delta_risk_mean",
    }
    for metric in VALUE_METRICS:
        of_cell = metrics.get(metric) or metrics.get(f"{metric}_rate") or metrics[named[metric]]
        values = [value for card in found if (value := sample_value(metric, card)) is not None]
        assert (of_cell.value is None) == (not values), metric
        assert not values or of_cell.value == pytest.approx(sum(values) / len(values)), metric


def test_a_metric_without_a_value_per_sample_is_refused() -> None:
    with pytest.raises(KeyError, match="net_gain"):
        sample_value("net_gain", make_card())


def test_every_metric_is_defined_in_both_languages_and_stands_in_the_order_of_its_definition() -> None:
    values = compute_cell_metrics([make_card()], majority=MAJORITY)
    known = all_definitions()
    assert [value.metric for value in values] == [name for name, entry in known.items() if entry.scope == "cell"]
    assert {definition.group for definition in known.values()} == set(get_args(MetricGroup))
    for value in values:
        definition = definition_of(value.metric)
        assert (value.group, value.kind) == (definition.group, definition.kind)
        assert definition.definition.endswith(".")
        assert any("가" <= letter <= "힣" for letter in definition.definition_ko)
    assert {known[metric].scope for metric in PAIRED_METRICS} == {"cell", "sample"}
    with pytest.raises(KeyError):
        definition_of("accuracy")


@pytest.mark.parametrize("again", [{"metric": "exact_share"}, {"metric": "exact_share_s1", "also": ()}])
def test_a_metric_that_is_defined_twice_is_refused(again: dict[str, Any]) -> None:
    entry = {
        "metric": "exact_share",
        "group": "quality",
        "kind": "outcome",
        "definition": "A share.",
        "definition_ko": "비율입니다.",
        "also": ("s1",),
    }
    assert list(definitions_in([entry])) == ["exact_share", "exact_share_s1"]
    with pytest.raises(ValueError, match=f"defines {again['metric']} twice"):
        definitions_in([entry, entry | again])


def test_loading_the_metrics_loads_neither_scipy_nor_numpy() -> None:
    code = "import sys, episodic_absa.metrics; print([name for name in ('numpy', 'scipy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
