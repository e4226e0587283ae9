"""Quality over cost, the error taxonomy, and quality by language and domain, as report.json holds them."""

from typing import Literal

from episodic_absa.metrics.per_sample.pair_errors import PairError
from episodic_absa.reports.tables.table import Score
from episodic_absa.schemas.frozen_model import FrozenModel


class CostOfSample(FrozenModel):
    """What an analysis takes: means per successful sample."""

    calls: float
    tokens_in: float
    tokens_out: float
    cost_usd: float | None
    """None if a price is unknown."""

    @property
    def tokens(self) -> float:
        """Tokens in both directions."""
        return self.tokens_in + self.tokens_out


class CostPoint(FrozenModel):
    """One condition: what its result is worth and what it takes."""

    condition: str
    colour: int
    reviews: int
    """The n of the scores: successful reviews with explicit gold."""
    cost: CostOfSample
    micro: Score
    macro: Score
    stage1_cost: CostOfSample | None
    """None if traces do not show the calls of every sample."""
    stage1_micro: float | None
    stage1_macro: float | None


class CostView(FrozenModel):
    """Quality over cost. The axis has calls if no condition uses tokens."""

    axis: Literal["tokens", "calls"]
    points: tuple[CostPoint, ...]


class ErrorCount(FrozenModel):
    """How often one class of error occurs in one condition."""

    error: PairError
    pairs: int
    """Over all orders and seeds."""
    samples: int
    """Samples of `ErrorRow.order` and `ErrorRow.seed` with such a pair: those that the explorer lists."""


class ErrorRow(FrozenModel):
    """The error taxonomy of one condition, its orders and seeds together."""

    condition: str
    colour: int
    seed: int
    """The seed that the explorer opens with."""
    order: int | None = None
    """The order that the explorer opens with; None where `RunFacts.orders` is empty."""
    seeds: int
    """How many cells, one per order and seed, are counted together."""
    samples: int
    """Successful samples with valid gold, over all orders and seeds."""
    gold: int
    predicted: int
    right: int
    errors: tuple[ErrorCount, ...]

    @property
    def is_of_several_seeds(self) -> bool:
        """Whether the pairs of several orders or seeds are counted together."""
        return self.seeds > 1


class GroupValue(FrozenModel):
    """One condition over the reviews of one language or domain."""

    reviews: int
    """The n of `score`: successful reviews with explicit gold."""
    score: Score
    micro: float | None
    exact_match: float | None


class GroupRow(FrozenModel):
    """The reviews of one language or domain under every condition, in the order of the cards."""

    name: str
    reviews: int
    """All reviews of the group, with or without gold."""
    values: tuple[GroupValue, ...]


class GroupTable(FrozenModel):
    """Quality by language or by domain."""

    by: Literal["language", "domain"]
    rows: tuple[GroupRow, ...]


class QualityViews(FrozenModel):
    """What report.json holds, and what the page shows of it."""

    cost: CostView | None = None
    """None without gold, and on the page of a single cell."""
    errors: tuple[ErrorRow, ...] = ()
    groups: tuple[GroupTable, ...] = ()
