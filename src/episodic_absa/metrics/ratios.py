"""The three shapes a metric has: a count, a rate and a mean. An empty denominator gives no number."""

from collections.abc import Iterable
from math import fsum

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.metric_value import MetricValue


def count(metric: str, number: float) -> MetricValue:
    """Return a plain count."""
    return _value(metric, float(number), float(number), None)


def rate(metric: str, numerator: float | None, denominator: float, *, note: str = "") -> MetricValue:
    """Return numerator over denominator; no number without a denominator, or where the numerator is not known."""
    if numerator is None:
        return _value(metric, None, None, float(denominator), note)
    value = numerator / denominator if denominator else None
    return _value(metric, value, float(numerator), float(denominator), note)


def mean(metric: str, values: Iterable[float | None], *, note: str = "") -> MetricValue:
    """Return the mean of the values that there are; the sum does not depend on their order."""
    known = [value for value in values if value is not None]
    return rate(metric, fsum(known), len(known), note=note)


def unknown(metric: str, *, note: str = "") -> MetricValue:
    """Return a metric that nothing can be said about, and why."""
    return _value(metric, None, None, None, note)


def _value(
    metric: str, value: float | None, numerator: float | None, denominator: float | None, note: str = ""
) -> MetricValue:
    known = definition_of(metric)
    return MetricValue(
        metric=metric,
        group=known.group,
        kind=known.kind,
        value=value,
        numerator=numerator,
        denominator=denominator,
        note=note,
    )
