"""What a report shows within parts of a run: differences per stratum, and the effect of each principle."""

from typing import Literal

from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.schemas.frozen_model import FrozenModel


class StratumView(FrozenModel):
    """The paired difference within one stratum."""

    stratum: str
    n_uids: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_holm: float | None
    is_small: bool
    """Whether the stratum has too few reviews for an interval and a test."""


class StratumTable(FrozenModel):
    """One pair of conditions, divided by one property of the reviews."""

    a: str
    b: str
    by: str
    title: Bilingual
    metric: str
    exploratory: bool
    """Whether the table was not asked for before the first sample."""
    overlapping: bool
    """Whether a review may be in several strata."""
    interaction_p: float | None
    sentence: Bilingual
    """Whether the difference is the same in every stratum."""
    rows: tuple[StratumView, ...]

    @property
    def pair(self) -> str:
        """The compared conditions."""
        return f"{self.a} − {self.b}"

    @property
    def name(self) -> str:
        """The name of the table and of its figure."""
        return f"strata_{self.by}_{self.a}_minus_{self.b}"


class EffectView(FrozenModel):
    """The effect of one principle: reviews that saw it minus reviews from which it was withheld."""

    principle_id: str
    n_shown: int
    n_withheld: int
    mean_shown: float | None
    mean_withheld: float | None
    effect: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_holm: float | None
    verdict: Literal["helps", "harms", "not shown"]


class EffectTable(FrozenModel):
    """The principles for which one condition tossed coins."""

    condition: str
    shadow: str | None
    """The condition whose values are subtracted, sample by sample; None if the grid has none."""
    metric: str
    exploratory: bool
    """Whether the trial was not asked for before the first sample."""
    sentence: Bilingual
    rows: tuple[EffectView, ...]
    """Those with a verdict first."""

    @property
    def name(self) -> str:
        """The name of the table and of its figure."""
        return f"principle_effects_{self.condition}"
