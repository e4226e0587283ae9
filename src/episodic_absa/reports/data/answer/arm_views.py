"""The answer of a run: every arm against the baseline in the primary metric."""

from episodic_absa.metrics.statistics.verdict import VerdictKind
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.schemas.frozen_model import FrozenModel


class ArmRow(FrozenModel):
    """The paired difference of one arm minus the baseline."""

    condition: str
    colour: int
    is_asked: bool
    """Whether this is the pair of the first sentence."""
    exploratory: bool
    """Whether the comparison was not fixed before the first sample."""
    reviews: int
    orders: int
    mean: float | None
    baseline_mean: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_orders: float | None
    """t over the orders; None below three orders, and where the order changes nothing."""
    variation: bool
    """False if no review differs, or all differ alike; then there is no interval."""
    verdict: VerdictKind
    words: Bilingual
    """What the interval says about the difference."""

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and 0 lies outside it."""
        return self.ci_low is not None and self.ci_high is not None and (self.ci_low > 0 or self.ci_high < 0)


class ArmsView(FrozenModel):
    """All arms of a grid on one axis."""

    baseline: str
    metric: str
    smallest_effect: float
    """Differences up to this size are of no interest."""
    rows: tuple[ArmRow, ...]
    """The asked pair first."""
