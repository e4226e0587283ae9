"""Compares a computed metric with its oracle."""

from collections.abc import Iterable, Mapping, Sequence

import pytest
from tests.metrics.oracles import Ratio

from episodic_absa.metrics import Majority, MetricValue, compute_cell_metrics
from episodic_absa.schemas.run_files.scorecard import Scorecard

ByName = Mapping[str, MetricValue]
MAJORITY = Majority(polarity="positive", source="train")


def by_name(metrics: Iterable[MetricValue]) -> ByName:
    found = list(metrics)
    names = [value.metric for value in found]
    assert len(set(names)) == len(names), "a metric name stands for two values"
    return {value.metric: value for value in found}


def measured(
    cards: Sequence[Scorecard], *, majority: Majority | None = MAJORITY, count_backfilled: bool = False
) -> ByName:
    return by_name(compute_cell_metrics(cards, majority=majority, count_backfilled=count_backfilled))


def assert_value(found: MetricValue, expected: float | None) -> None:
    assert found.value == (None if expected is None else pytest.approx(expected, abs=1e-9)), found


def assert_ratio(found: MetricValue, expected: Ratio) -> None:
    """Value, numerator and denominator; on an empty denominator the value is null."""
    assert_value(found, expected.value)
    if expected.denominator:
        assert found.numerator == pytest.approx(expected.numerator, abs=1e-9), found
        assert found.denominator == expected.denominator, found
    else:
        assert not found.denominator, found


def assert_count(found: MetricValue, expected: int) -> None:
    assert found.value == expected, found
    assert found.denominator is None, found
