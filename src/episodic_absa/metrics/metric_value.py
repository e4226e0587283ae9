"""One number of a table, with what it was divided from: a share without its denominator cannot be judged."""

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
    """None on an empty denominator, never 0."""
    numerator: float | None
    denominator: float | None
    """None for a plain count."""
    note: str = ""
    """What the name does not say: the similarity used, the majority polarity and where it comes from."""
