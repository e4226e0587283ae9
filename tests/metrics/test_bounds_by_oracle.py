"""Everything a cell reports: nulls, bounds, counts of errors, cost.

Usage is tested on samples that went well, so these tests leave open whether it also sums failed ones.
"""

import math
import subprocess
import sys
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.checking import assert_value, measured
from tests.metrics.drawn_cards import cells, error_card, final_tuple, ok_card
from tests.metrics.oracles import ok

from episodic_absa.metrics.definitions import definition_of
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
def test_usage_is_told_per_sample_and_in_total(cards: list[Scorecard]) -> None:
    n = ok(cards)
    metrics = measured(n)
    for name in ("calls", "attempts", "tokens_in", "tokens_out", "cost_usd"):
        values = [getattr(card.usage, name) for card in n]
        total = None if None in values or not values else sum(values)
        if n:
            assert_value(metrics[name], None if total is None else total / len(n))
            assert_value(metrics[f"{name}_total"], total)
        else:
            assert metrics[name].value is None


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


def test_the_metrics_of_every_cell_are_the_same_in_the_same_order() -> None:
    names = list(measured([]))
    assert names == list(measured([error_card()])) == list(measured([ok_card(stage1=[final_tuple("food")])]))


def test_the_groups_stand_in_the_order_of_the_questions() -> None:
    groups = [value.group for value in measured([ok_card()]).values()]
    assert list(dict.fromkeys(groups)) == [
        *("quality", "baseline", "rq1", "rq2", "rq3", "memory", "impact", "efficiency")
    ]
    assert groups == sorted(groups, key=groups.index)


def test_every_metric_has_a_definition_that_agrees_with_it() -> None:
    for name, metric in measured([ok_card()]).items():
        definition = definition_of(name)
        assert (definition.group, definition.kind) == (metric.group, metric.kind), name
        assert definition.definition
        assert definition.definition_ko


def test_importing_the_metrics_loads_neither_numpy_nor_scipy() -> None:
    script = "import sys, episodic_absa.metrics; sys.exit(any(m in sys.modules for m in ('numpy', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
