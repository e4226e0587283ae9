"""Intervals of paired differences: over reviews, and crossed over reviews and orders where order is random."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, sqrt
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED, rows_at_once
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.paired.order_test import t_quantile, variance_parts
from episodic_absa.metrics.statistics.random_draws import RandomDraws
from episodic_absa.metrics.statistics.whole_units import FINEST_DIGITS, to_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IntervalMethod = Literal["percentile", "studentised", "crossed"]
_REVIEW_DRAWS: Final = 1
_ORDER_DRAWS: Final = 3
_TAILS: Final = (0.025, 0.05, 0.95, 0.975)
_FEW_REVIEWS: Final = 200
_SKEWED: Final = 1.0
"""Absolute skewness of the differences above which percentiles of resampled means lie too close on one side."""


class PairedInterval(NamedTuple):
    """The 95 % interval of a difference, the 90 % interval for equivalence, and how they were made."""

    low: float
    high: float
    low90: float
    high90: float
    method: IntervalMethod


def paired_intervals(
    metrics: Sequence[PairedCells], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[PairedInterval | None, ...]:
    """Return one interval per metric; None for a metric whose reviews all have the same difference.

    A metric with one order gets the percentile interval over reviews; below 200 reviews, or where the differences are
    skewed, the wider of that and the studentised one. A metric with several orders gets an interval that crosses
    reviews and orders. Metrics with equally many reviews share their draws; an interval depends only on its own values
    and the seed.
    """
    by_size: dict[int, list[int]] = {}
    for place, cells in enumerate(metrics):
        if cells.has_variation:
            by_size.setdefault(cells.n, []).append(place)
    intervals: list[PairedInterval | None] = [None] * len(metrics)
    for n, places in by_size.items():
        columns = [_Columns(metrics[place]) for place in places]
        sums = _resampled(columns, n, resamples, seed)
        for place, column, drawn in zip(places, columns, sums, strict=True):
            intervals[place] = _interval(column, drawn, resamples, seed)
    return tuple(intervals)


class _Columns:
    """The columns of one metric that resampling adds up, in whole units."""

    def __init__(self, cells: PairedCells) -> None:
        import numpy as np

        self.cells = cells
        self.is_crossed = cells.orders_n > 1
        deviations = cells.of_reviews - cells.difference
        self.is_studentised = cells.n < _FEW_REVIEWS or abs(_skewness(deviations)) > _SKEWED
        self.has_reviews = self.is_crossed or self.is_studentised or not cells.is_complete
        # Flat: the units leave room for sums over reviews and over orders.
        above, self.above_per_one = to_units(cells.numerators.ravel())
        parts = [above.reshape(cells.n, -1)]
        if not cells.is_complete:
            below, self.below_per_one = to_units(cells.denominators.ravel())
            parts.append(below.reshape(cells.n, -1))
        if self.has_reviews:
            units, self.review_per_one = to_units(deviations)
            squares, self.square_per_one = to_units(deviations**2)
            parts.append(np.column_stack([units, squares]))
        self.matrix = np.hstack(parts)


def _resampled(columns: Sequence[_Columns], n: int, resamples: int, seed: int) -> list[NDArray[np.float64]]:
    """Return the sums of every metric's columns in each resample of reviews. Whole units make the product exact."""
    import numpy as np

    matrix = np.hstack([column.matrix for column in columns])
    draws, step = RandomDraws(seed, _REVIEW_DRAWS), rows_at_once(n)
    sums = np.concatenate(
        [draws.resample_counts(min(step, resamples - start), n) @ matrix for start in range(0, resamples, step)]
    )
    edges = np.cumsum([column.matrix.shape[1] for column in columns])[:-1]
    return list(np.split(sums, edges, axis=1))


def _interval(column: _Columns, sums: NDArray[np.float64], resamples: int, seed: int) -> PairedInterval:
    import numpy as np

    cells = column.cells
    bounds = np.quantile(_differences(column, sums, resamples, seed), _TAILS)
    method: IntervalMethod = "percentile"
    if column.is_crossed:
        method = "crossed"
        bounds = _wider(bounds, _with_order_variance(cells, _over_reviews(column, sums)))
    elif column.is_studentised:
        method = "studentised"
        bounds = _wider(bounds, _over_reviews(column, sums))
    low, low90, high90, high = bounds.round(FINEST_DIGITS).tolist()
    return PairedInterval(low, high, low90, high90, method)


def _differences(column: _Columns, sums: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Return the difference of each resample of reviews and, with several orders, of orders."""
    import numpy as np

    cells = column.cells
    sides = cells.numerators.shape[2]
    size = cells.orders_n * sides
    above = sums[:, :size].reshape(resamples, cells.orders_n, sides)
    weights = np.ones((resamples, 1))
    if column.is_crossed:
        weights = RandomDraws(seed, _ORDER_DRAWS).resample_counts(resamples, cells.orders_n)
    # Whole numbers: the order of addition does not matter.
    above = (above * weights[:, :, None]).sum(axis=1) / column.above_per_one
    if cells.is_complete:
        values: NDArray[np.float64] = above[:, 0] / (cells.n * cells.orders_n)
        return values
    below = sums[:, size : 2 * size].reshape(resamples, cells.orders_n, sides)
    below = (below * weights[:, :, None]).sum(axis=1) / column.below_per_one
    ratios: NDArray[np.float64] = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    if sides == 2:
        ratios[:, 0] -= ratios[:, 1]
    first: NDArray[np.float64] = ratios[:, 0]
    return first


def _over_reviews(column: _Columns, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bounds over reviews alone: percentiles, or the wider of these and the studentised ones."""
    import numpy as np

    cells, n = column.cells, column.cells.n
    means = sums[:, -2] / column.review_per_one / n
    bounds: NDArray[np.float64] = cells.difference + np.quantile(means, _TAILS)
    if not column.is_studentised:
        return bounds
    variances = sums[:, -1] / column.square_per_one / n - means**2
    overall = float(((cells.of_reviews - cells.difference) ** 2).sum()) / n
    # A resample of equal differences has no spread; the least spread of the others stands in for it.
    least = variances[variances > overall * 1e-9].min(initial=overall)
    ratios = means / np.sqrt(np.maximum(variances, least) / n)
    error = sqrt(overall / (n - 1))
    studentised = cells.difference - np.quantile(ratios, _TAILS)[::-1] * error
    return _wider(bounds, studentised)


def _with_order_variance(cells: PairedCells, bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return bounds over reviews, widened by t over the means of orders.

    The squares of the two distances are added (Banerjee 1960): the interval then covers at least as often as it says,
    however the variance is split between reviews and orders.
    """
    import numpy as np

    parts = variance_parts(cells)
    share = parts.reviews_alone / parts.reviews if parts.reviews else 0.0
    widened = []
    for tail, bound in zip(_TAILS, bounds.tolist(), strict=True):
        by_reviews = bound - cells.difference
        by_orders = t_quantile(tail, cells.orders_n - 1) * sqrt(parts.orders)
        distance = sqrt(share * by_reviews**2 + by_orders**2)
        widened.append(cells.difference + copysign(distance, tail - 0.5))
    return np.asarray(widened)


def _wider(bounds: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    return np.concatenate([np.minimum(bounds[:2], others[:2]), np.maximum(bounds[2:], others[2:])])


def _skewness(deviations: NDArray[np.float64]) -> float:
    spread = float((deviations**2).mean())
    return float((deviations**3).mean()) / spread**1.5 if spread else 0.0
