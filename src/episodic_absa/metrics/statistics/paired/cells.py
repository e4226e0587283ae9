"""One metric of two conditions as a table: a row per review, a column per order. Every difference is A minus B."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Final

from episodic_absa.metrics.statistics.whole_units import FINEST_DIGITS, has_spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SIGNS: Final = (1.0, -1.0)
_NOISE: Final = 1e-12
"""A smaller difference is a rounding error and counts as 0."""


@dataclass(frozen=True, eq=False)
class PairedCells:
    """The numerators and denominators of a metric, with the axes (review, order, side).

    A mean has one side: the differences over the number of cells. A ratio of sums, such as a micro F1, has two: A
    and B. A missing cell is 0 in both; a column of equal orders counts each of them.
    """

    numerators: NDArray[np.float64]
    denominators: NDArray[np.float64]
    largest: float | None = 1.0
    """The largest possible difference; None for a metric without bounds, such as a number of tokens."""

    @classmethod
    def of_differences(
        cls, differences: NDArray[np.float64], present: NDArray[np.bool_] | None = None, largest: float | None = 1.0
    ) -> PairedCells:
        """Return the cells of a mean of differences.

        Args:
            differences: A minus B by review and order; seeds are averaged first.
            present: which cells have a value on both sides; None for all.
            largest: the largest possible difference; None for a metric without bounds.
        """
        import numpy as np

        known = np.ones_like(differences, dtype=np.float64) if present is None else present.astype(np.float64)
        return cls(np.where(known > 0, differences, 0.0)[:, :, None], known[:, :, None], largest)

    @property
    def n(self) -> int:
        """The number of reviews."""
        return int(self.numerators.shape[0])

    @property
    def orders_n(self) -> int:
        """The number of orders."""
        return int(self.numerators.shape[1])

    @property
    def is_mean(self) -> bool:
        """Whether the metric is a mean over cells, not a ratio of sums."""
        return int(self.numerators.shape[2]) == 1

    @cached_property
    def is_complete(self) -> bool:
        """Whether no cell of a mean is missing, so that its denominator is the same in every resample."""
        return self.is_mean and bool((self.denominators == 1.0).all())

    @cached_property
    def difference(self) -> float:
        """The difference over all reviews and orders."""
        value = self._difference(self.numerators, self.denominators)
        return 0.0 if abs(value) < _NOISE else value

    @cached_property
    def of_orders(self) -> tuple[float, ...]:
        """The difference of each order."""
        return tuple(
            self._difference(self.numerators[:, [place]], self.denominators[:, [place]])
            for place in range(self.orders_n)
            if self.denominators[:, place].any()
        )

    @cached_property
    def influence(self) -> NDArray[np.float64]:
        """The share of each cell in the deviation from the difference: their mean over all cells is 0.

        For a mean without missing cells this is the cell's difference minus the mean; for a ratio it is the linear
        approximation.
        """
        import numpy as np

        values = np.zeros(self.numerators.shape[:2])
        for side, sign in zip(range(self.numerators.shape[2]), _SIGNS, strict=False):
            above, below = self.numerators[:, :, side], self.denominators[:, :, side]
            total = fsum(below.ravel().tolist())
            if total:
                ratio = fsum(above.ravel().tolist()) / total
                values += sign * (above - ratio * below) * (below.size / total)
        return values

    @cached_property
    def of_reviews(self) -> NDArray[np.float64]:
        """The difference of each review: the overall difference plus the mean influence of its cells."""
        values: NDArray[np.float64] = self.difference + self.influence.mean(axis=1)
        return values

    @cached_property
    def net_of_reviews(self) -> NDArray[np.float64]:
        """What each review adds to the sums of A minus what it adds to those of B; 0 if its sides are equal.

        Unlike `of_reviews` this does not depend on the other reviews, and a missing cell adds nothing.
        """
        import numpy as np

        if self.is_mean:
            return np.asarray(self.numerators.sum(axis=(1, 2)))
        # A review whose sides have unequal counts differs, even if its hits are equal or its orders cancel out.
        changes = [np.abs(table[:, :, 0] - table[:, :, 1]) for table in (self.numerators, self.denominators)]
        return np.asarray((changes[0] + changes[1]).sum(axis=1))

    @cached_property
    def has_variation(self) -> bool:
        """Whether the reviews differ in their difference."""
        return has_spread(self.of_reviews)

    @cached_property
    def can_be_tested(self) -> bool:
        """Whether there is an interval and a test: the reviews vary, or all of them differ by the same amount."""
        is_shifted = self.difference != 0.0 or self.varies_by_order
        return self.has_variation or (self.n > 1 and self.largest is not None and is_shifted)

    @cached_property
    def varies_by_order(self) -> bool:
        """Whether the difference of some review changes with the order."""
        if self.orders_n < 2:
            return False
        import numpy as np

        known = np.asarray((self.denominators > 0).all(axis=2))
        values: tuple[NDArray[np.float64], ...] = (self.numerators.round(FINEST_DIGITS), self.denominators)
        if self.is_mean:
            values = ((self.numerators / np.maximum(self.denominators, 1.0)).round(FINEST_DIGITS),)
        return any(
            bool((known & (side != _first_known(side, known)[:, None])).any())
            for table in values
            for side in np.moveaxis(table, 2, 0)
        )

    def merged(self, groups: Sequence[int]) -> PairedCells:
        """Return the same metric with a column per group of orders; a mean weighs each column by its orders.

        Args:
            groups: the group of each order; equal orders share one.
        """
        import numpy as np

        kept = list(dict.fromkeys(groups))
        if len(kept) == self.orders_n:
            return self
        of_order = np.asarray(groups)
        weight = self.orders_n if self.is_complete and len(kept) == 1 else 1
        numerators, denominators = (
            np.stack([table[:, of_order == group].sum(axis=1) for group in kept], axis=1) / weight
            for table in (self.numerators, self.denominators)
        )
        return PairedCells(numerators, denominators, self.largest)

    def over_orders(self) -> PairedCells:
        """Return the same metric with the orders of a review added up: orders are not random then."""
        return self.merged([0] * self.orders_n)

    @staticmethod
    def _difference(numerators: NDArray[np.float64], denominators: NDArray[np.float64]) -> float:
        value = 0.0
        for side, sign in zip(range(numerators.shape[2]), _SIGNS, strict=False):
            total = fsum(denominators[:, :, side].ravel().tolist())
            value += sign * fsum(numerators[:, :, side].ravel().tolist()) / total if total else 0.0
        return value


def _first_known(table: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return each row's value in its first known column."""
    import numpy as np

    values: NDArray[np.float64] = table[np.arange(len(table)), known.argmax(axis=1)]
    return values
