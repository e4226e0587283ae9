"""The paired difference of one metric as tables hold it, and the strongest claim it supports."""

from typing import Literal

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.metric_value import MetricKind
from episodic_absa.metrics.statistics.paired.doubts import FEWEST_GROWN, Doubt, doubt_of
from episodic_absa.metrics.statistics.paired.equivalence import SMALLEST_EFFECT, Equivalence
from episodic_absa.metrics.statistics.paired.interval import IntervalMethod
from episodic_absa.metrics.statistics.paired.order_test import FEWEST_CLAIMED
from episodic_absa.metrics.statistics.power import ALPHA
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel

Claim = Literal["none", "direction", "significant"]


class PairedDifference(FrozenModel):
    """The difference A minus B of one metric, with its interval and tests.

    Means, interval and tests are over the reviews and orders with a value on both sides.
    """

    metric: str
    kind: MetricKind
    n_uids: Count
    """Reviews with a value on both sides; the seeds of a review are averaged within an order."""
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
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    """The permutation test over reviews."""
    p_holm: float | None = None
    """For the primary metric the larger of p_value and p_orders; for another outcome metric that after Holm's
    correction over the distinct tests of this pair, and at least that of the primary metric. None for other kinds."""
    dz: float | None
    """Cohen's dz: the difference over the standard deviation of the differences."""
    variation: Flag
    """False if the differences are all equal or there are fewer than two; then there is no interval and no test."""
    sd: float | None = None
    """Standard deviation of the differences between reviews."""
    detectable: float | None = None
    """The smallest absolute difference that this many reviews and orders show with 80 % power."""
    orders_variance: float = 0.0
    """What the choice of orders adds to the variance of the difference; more reviews do not lower it."""
    needed_n: int | None = None
    """For the primary metric the reviews, more than there are, that show the smallest effect of interest with 80 %
    power; None where no number of reviews would do."""
    orders_n: Count = 1
    """Different orders with a value on both sides; orders in which every sample ended alike count as one."""
    differing_n: Count = 0
    """Reviews whose difference is not 0."""
    method: IntervalMethod = "percentile"
    """How the interval was made. "crossed": over reviews and orders, because the order changes results."""
    p_exact: Flag = False
    """Whether p_value counts all sign patterns, not a sample of them."""
    p_orders: float | None = None
    """t over the means of orders; None below three orders, and where the order changes nothing."""
    ci90_low: float | None = None
    """The 90 % interval, by which equivalence is judged."""
    ci90_high: float | None = None
    equivalence: Equivalence | None = None
    """Against the smallest effect of interest; None for metrics that are no outcome."""
    smallest_effect: float = SMALLEST_EFFECT
    is_primary: Flag = False
    unseen_reviews: float = 0.0
    """What reviews that were not drawn could take away from the difference; a claim needs more."""
    unseen_orders: float = 0.0
    """What orders that were not run could take away, where a memory grows; a claim needs more."""
    grows: Flag = False
    """Whether a side shows a memory that grows as it goes: then the order of the reviews may decide the difference."""
    failed_n: Count = 0
    """Pairs of samples of which one failed or both did."""
    failed_low: float | None = None
    """The lower bound of the interval if every failed sample had gone against A; None without one."""
    failed_high: float | None = None
    """The upper bound if every failed sample had gone for A."""
    same_by_construction: Flag = False
    """Whether the two conditions cannot differ: neither shows memory to the model or to the decision."""
    recall_worse: Flag = False
    """Whether A has worse recall in this comparison: no metric is claimed better then."""

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and 0 lies outside it."""
        low, high = self.ci_low, self.ci_high
        return low is not None and high is not None and (low > 0 or high < 0)

    @property
    def favours_a(self) -> bool:
        """Whether the difference has the desired sign."""
        rises = self.difference is not None and self.difference > 0
        return rises == (definition_of(self.metric).better == "higher")

    @property
    def has_few_orders(self) -> bool:
        """Whether order changes results and there are too few orders for a significant claim."""
        return (self.method == "crossed" or self.hangs_on_few_orders) and self.orders_n < FEWEST_CLAIMED

    @property
    def hangs_on_few_orders(self) -> bool:
        """Whether the order may decide the difference and there are fewer than three different ones."""
        return self.grows and self.orders_n < FEWEST_GROWN

    @property
    def no_claim(self) -> Doubt:
        """The first reason against a claim; "" for none."""
        if self.kind != "outcome" or not definition_of(self.metric).better:
            return "kind"
        return doubt_of(self) or ("recall" if self.recall_worse and self.favours_a else "")

    @property
    def claim(self) -> Claim:
        """The strongest claim that the numbers support."""
        if self.no_claim:
            return "none"
        is_confirmed = self.p_holm is not None and self.p_holm < ALPHA and not self.has_few_orders
        return "significant" if is_confirmed else "direction"
