"""The paired difference of one metric as tables hold it, and the strongest claim it supports."""

from typing import Literal

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.metric_value import MetricKind
from episodic_absa.metrics.statistics.paired.equivalence import SMALLEST_EFFECT, Equivalence
from episodic_absa.metrics.statistics.paired.evidence import Doubt, Evidence
from episodic_absa.metrics.statistics.power import ALPHA, FEWEST_ORDERS, largest_share, needed_reviews
from episodic_absa.schemas.frozen_model import Count, Flag

Claim = Literal["none", "significant"]
NoClaim = Literal[Doubt, "recall", "holm", "kind"]
"""Why a metric carries no claim: a doubt; recall fell; Holm's correction does not confirm it; it is no outcome."""


class PairedDifference(Evidence):
    """The difference A minus B of one metric, with its interval and tests.

    Means, interval and tests are over the reviews and orders with a value on both sides.
    """

    metric: str
    kind: MetricKind
    n_pairs: Count
    """Pairs of samples; each order and seed of a review is a pair."""
    unpaired_a: Count
    """Samples with a value under A and none under B."""
    unpaired_b: Count
    """Samples with a value under B and none under A."""
    mean_a: float | None
    """A mean over reviews and orders; for a micro metric a ratio of sums. None if no review has a value on both
    sides."""
    mean_b: float | None
    p_holm: float | None = None
    """For the primary metric the larger of p_value and p_orders; for another outcome metric that after Holm's
    correction over the distinct tests of this pair, and at least that of the primary metric. None for other kinds."""
    dz: float | None = None
    """Cohen's dz: the difference over the standard deviation of the differences."""
    variation: Flag = False
    """False if no review differs or there are fewer than two; then there is no interval and no test."""
    detectable: float | None = None
    """The smallest absolute difference that this many reviews and orders show with 80 % power."""
    needed_n: int | None = None
    """For the primary metric the reviews, more than there are, that tell the smallest effect of interest in orders like
    these with 80 % power; None where no number of reviews would do."""
    needed_orders: int | None = None
    """For the primary metric the orders, more than there are, that a decision needs at least: for a claim, where the
    interval excludes 0. None where there are enough."""
    differing_n: Count = 0
    """Reviews whose difference is not 0."""
    equivalence: Equivalence | None = None
    """Against the smallest effect of interest; None for metrics that are no outcome."""
    smallest_effect: float = SMALLEST_EFFECT
    is_primary: Flag = False
    failed_n: Count = 0
    """Pairs of samples of which one failed or both did."""
    same_by_construction: Flag = False
    """Whether the two conditions cannot differ: neither shows memory to the model or to the decision."""
    recall_worse: Flag = False
    """Whether A has worse recall in this comparison: no metric is claimed better then."""

    @property
    def favours_a(self) -> bool:
        """Whether the difference has the desired sign."""
        rises = self.difference is not None and self.difference > 0
        return rises == (definition_of(self.metric).better == "higher")

    @property
    def no_claim(self) -> NoClaim:
        """The first reason against a claim; "" for none."""
        if self.kind != "outcome" or not definition_of(self.metric).better:
            return "kind"
        if self.doubt:
            return self.doubt
        if self.recall_worse and self.favours_a:
            return "recall"
        return "" if self.p_holm is not None and self.p_holm < ALPHA else "holm"

    @property
    def claim(self) -> Claim:
        """The strongest claim that the numbers support."""
        return "none" if self.no_claim else "significant"

    @property
    def room(self) -> float:
        """How much more than the drawn reviews another one could go against the difference."""
        return self.unseen_reviews / largest_share(0, self.n_uids) if self.n_uids else 0.0

    def reviews_for(self, effect: float) -> int | None:
        """Return the reviews that show an effect with 80 % power in these orders; None if no number of them does."""
        return needed_reviews(effect, self.variances, self.orders_n, grows=self.grows, room=self.room)

    def reviews_of_these_orders(self, effect: float) -> int | None:
        """Return the reviews that would tell an effect of this size in orders like these; None if none would."""
        orders = max(self.orders_n, FEWEST_ORDERS) if self.has_few_orders else self.orders_n
        return needed_reviews(effect, self.variances, orders, room=self.room)
