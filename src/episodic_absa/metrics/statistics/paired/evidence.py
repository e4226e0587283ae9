"""The numbers of a paired difference by which a claim stands or falls, and the rule."""

from typing import Literal

from episodic_absa.metrics.statistics.paired.interval import IntervalMethod
from episodic_absa.metrics.statistics.power import ALPHA, FEWEST_ORDERS, Variances
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel

Doubt = Literal["", "interval", "few_orders", "test", "orders", "unseen_reviews", "unseen_orders", "failed"]
"""The first reason against a claim: the interval includes 0; the order may decide and there are fewer than five; p over
reviews; p over orders; reviews or orders that were not drawn could undo it; failed samples could undo it."""


class Evidence(FrozenModel):
    """A difference with its interval and tests."""

    n_uids: Count
    """Reviews with a value on both sides; the seeds of a review are averaged within an order."""
    orders_n: Count = 1
    """Different orders with a value on both sides; orders in which every sample ended alike count as one."""
    difference: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    ci90_low: float | None = None
    """The 90 % interval, by which equivalence is judged."""
    ci90_high: float | None = None
    method: IntervalMethod = "percentile"
    """How the interval was made. "crossed": over reviews and orders, because the order changes results. "equal": all
    reviews differ by the same amount."""
    p_value: float | None = None
    """The permutation test over reviews."""
    p_exact: Flag = False
    """Whether p_value counts all sign patterns, not a sample of them."""
    p_orders: float | None = None
    """t over the means of orders; None below three orders, and where the order changes nothing."""
    sd: float | None = None
    """Standard deviation of the differences between reviews; None without an interval."""
    orders_variance: float = 0.0
    """What the choice of orders adds to the variance of the difference; more reviews do not lower it."""
    unseen_reviews: float = 0.0
    """What reviews that were not drawn could take away from the difference; a claim needs more."""
    unseen_orders: float = 0.0
    """What orders that were not run could take away, where a memory grows; a claim needs more."""
    grows: Flag = False
    """Whether a side shows a memory that grows as it goes: then the order of the reviews may decide the difference."""
    failed_low: float | None = None
    """The lower bound of the interval if every failed sample had gone against A; None without one."""
    failed_high: float | None = None
    """The upper bound if every failed sample had gone for A."""

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and 0 lies outside it."""
        low, high = self.ci_low, self.ci_high
        return low is not None and high is not None and (low > 0 or high < 0)

    @property
    def has_few_orders(self) -> bool:
        """Whether the order may decide the difference and there are too few different ones for a claim."""
        return (self.grows or self.method == "crossed") and self.orders_n < FEWEST_ORDERS

    @property
    def is_of_these_orders(self) -> bool:
        """Whether the interval is about the orders that were run alone, as that of every memory that grows is."""
        return self.grows

    @property
    def variances(self) -> Variances:
        """The variances of single reviews and orders, for the power of other designs."""
        return Variances(reviews=(self.sd or 0.0) ** 2, orders=self.orders_variance * self.orders_n)

    @property
    def doubt(self) -> Doubt:
        """The first reason against a claim, whatever the metric; "" for none."""
        difference = self.difference or 0.0
        rises = difference > 0
        worst = self.failed_low if rises else self.failed_high
        reasons: tuple[tuple[Doubt, bool], ...] = (
            ("interval", not self.excludes_zero),
            ("few_orders", self.has_few_orders),
            ("test", self.p_value is None or self.p_value >= ALPHA),
            ("orders", self.p_orders is not None and self.p_orders >= ALPHA),
            ("unseen_reviews", abs(difference) <= self.unseen_reviews),
            ("unseen_orders", abs(difference) <= self.unseen_orders),
            ("failed", worst is not None and (worst <= 0 if rises else worst >= 0)),
        )
        return next((doubt for doubt, holds in reasons if holds), "")
