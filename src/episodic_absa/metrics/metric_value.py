"""One value of a table. A rate keeps its numerator and denominator, so that a reader can judge it."""

from typing import Literal

from episodic_absa.schemas.frozen_model import FrozenModel

MetricGroup = Literal["quality", "baseline", "rq1", "rq2", "rq3", "memory", "impact", "efficiency"]
MetricKind = Literal["outcome", "process", "efficiency"]


class MetricValue(FrozenModel):
    """A metric of one cell, or of one condition over its seeds."""

    metric: str
    group: MetricGroup
    kind: MetricKind
    """Only outcomes may carry a claim."""
    value: float | None
    """None if the denominator is 0: an empty share is not 0."""
    numerator: float | None
    denominator: float | None
    """None for a plain count."""
    note: str = ""
    """What the name does not say: the term similarity, the majority polarity and its source, why a value is missing."""
