"""The three forms of a metric: count, rate and mean. With a denominator of 0 the value is None."""

from collections.abc import Iterable, Sequence
from math import fsum
from statistics import fmean

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.metric_value import MetricValue


def count(metric: str, number: float) -> MetricValue:
    """Return a count: the value is its own numerator and has no denominator."""
    return _value(metric, float(number), float(number), None)


def rate(metric: str, numerator: float | None, denominator: float, *, note: str = "") -> MetricValue:
    """Return numerator / denominator; the value is None if the denominator is 0 or the numerator is None."""
    if numerator is None:
        return _value(metric, None, None, float(denominator), note)
    value = numerator / denominator if denominator else None
    return _value(metric, value, float(numerator), float(denominator), note)


def mean(metric: str, values: Iterable[float | None], *, note: str = "") -> MetricValue:
    """Return the mean of the values that are not None; the order of the values does not change the result."""
    known = [value for value in values if value is not None]
    return rate(metric, fsum(known), len(known), note=note)


def unknown(metric: str, *, note: str = "") -> MetricValue:
    """Return a metric without a value; the note says why it is missing."""
    return _value(metric, None, None, None, note)


def _value(
    metric: str, value: float | None, numerator: float | None, denominator: float | None, note: str = ""
) -> MetricValue:
    definition = definition_of(metric)
    return MetricValue(
        metric=metric,
        group=definition.group,
        kind=definition.kind,
        value=value,
        numerator=numerator,
        denominator=denominator,
        note=note,
    )


def mean_of(values: Sequence[float]) -> float | None:
    """Return the mean; None without values."""
    return fmean(values) if values else None
