"""Everything a cell reports: nulls, bounds, definitions, counts of errors, cost."""

import math
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.checking import assert_value, measured
from tests.metrics.drawn_cards import cells, error_card, final_tuple, ok_card
from tests.metrics.oracles import ok

from episodic_absa.metrics import all_definitions, definition_of, sample_value
from episodic_absa.metrics.definitions import definitions_in
from episodic_absa.schemas.run_files.scorecard import Scorecard, UsageSums

BOUNDED = ("_rate", "_micro", "exact_match", "self_consistency", "correction_precision", "mapping_coverage")


def is_share(name: str) -> bool:
    return name.endswith(BOUNDED) or ("f1" in name and "delta" not in name) or "_rate_" in name


@settings(max_examples=80)
@given(cells(), st.booleans())
def test_no_rate_leaves_zero_to_one_and_nothing_is_nan(cards: list[Scorecard], count_backfilled: bool) -> None:
    for name, metric in measured(cards, count_backfilled=count_backfilled).items():
        if metric.value is not None:
            assert math.isfinite(metric.value)
            assert not is_share(name) or 0 <= metric.value <= 1, name
        if metric.denominator == 0:
            assert metric.value is None, name
        if metric.value is not None and metric.denominator and metric.numerator is not None and name != "delta_f1":
            assert metric.value == pytest.approx(metric.numerator / metric.denominator, abs=1e-6), name


@pytest.mark.parametrize("cards", [[], [error_card()]])
def test_without_an_ok_sample_every_share_and_mean_is_null(cards: list[Scorecard]) -> None:
    for name, metric in measured(cards).items():
        if is_share(name) or "mean" in name or name == "net_gain":
            assert metric.value is None, name


def test_without_gold_every_quality_score_is_null() -> None:
    metrics = measured([ok_card(stage1=[final_tuple("food")])])
    for name, metric in metrics.items():
        if metric.group == "quality" and name != "gold_invalid_n":
            assert metric.value is None, name
    assert_value(metrics["severe_polarity_error_L3_sample_rate"], None)


@settings(max_examples=30)
@given(cells())
def test_errors_are_counted_beside_the_samples(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    n = len(ok(cards))
    assert [metrics[name].value for name in ("n_samples", "n_ok", "n_error")] == [len(cards), n, len(cards) - n]


def test_each_usage_metric_reads_its_own_sum() -> None:
    usage = UsageSums(calls=11, attempts=13, tokens_in=700, tokens_out=40, cost_usd=0.25)
    metrics = measured([ok_card(usage=usage)])
    for name, expected in usage.model_dump().items():
        assert_value(metrics[name], expected)


@settings(max_examples=30)
@given(cells(min_size=1))
def test_usage_is_told_per_ok_sample_and_in_total_over_all_samples(cards: list[Scorecard]) -> None:
    n = ok(cards)
    metrics = measured(cards)
    for name in ("calls", "attempts", "tokens_in", "tokens_out", "cost_usd"):
        of_ok, of_all = ([getattr(card.usage, name) for card in some] for some in (n, cards))
        assert_value(metrics[name], None if None in of_ok or not n else sum(of_ok) / len(n))
        assert_value(metrics[f"{name}_total"], None if None in of_all else sum(of_all))


def test_the_cost_is_null_if_a_price_is_unknown() -> None:
    known, unknown = UsageSums(calls=1, cost_usd=0.25), UsageSums(calls=1)
    for cards in ([ok_card(usage=unknown)], [ok_card(usage=known), ok_card("u1", usage=unknown)]):
        costs = [value for name, value in measured(cards).items() if "cost" in name]
        assert costs
        assert all(value.value is None for value in costs)


@settings(max_examples=30)
@given(cells(), st.randoms(use_true_random=False))
def test_the_order_of_the_cards_is_of_no_consequence(cards: list[Scorecard], random: Random) -> None:
    shuffled = list(cards)
    random.shuffle(shuffled)
    first, again = measured(cards), measured(shuffled)
    assert list(first) == list(again)
    for name, metric in first.items():
        assert_value(again[name], metric.value)


def test_every_cell_has_all_defined_metrics_in_the_order_of_their_definitions() -> None:
    defined = [name for name, definition in all_definitions().items() if definition.scope == "cell"]
    for cards in ([], [error_card()], [ok_card(stage1=[final_tuple("food")])]):
        assert list(measured(cards)) == defined


def test_the_groups_stand_in_the_order_of_the_questions() -> None:
    groups = [value.group for value in measured([ok_card()]).values()]
    assert list(dict.fromkeys(groups)) == [
        *("quality", "baseline", "rq1", "rq2", "rq3", "memory", "impact", "efficiency")
    ]
    assert groups == sorted(groups, key=groups.index)


def test_every_metric_has_a_definition_in_both_languages_that_agrees_with_it() -> None:
    for name, metric in measured([ok_card()]).items():
        definition = definition_of(name)
        assert (definition.group, definition.kind) == (metric.group, metric.kind), name
        assert definition.definition.endswith(".")
        assert any("가" <= letter <= "힣" for letter in definition.definition_ko)


def test_a_metric_without_a_definition_or_without_a_value_per_sample_is_refused() -> None:
    with pytest.raises(KeyError):
        definition_of("accuracy")
    with pytest.raises(KeyError, match="net_gain"):
        sample_value("net_gain", ok_card())


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


def test_importing_the_metrics_loads_neither_numpy_nor_scipy() -> None:
    script = "import sys, episodic_absa.metrics.statistics; print({'numpy', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
