"""Intervals of paired differences: over reviews, and crossed over reviews and orders where order is random."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, fsum, sqrt
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.paired.order_test import t_quantile, variance_parts
from episodic_absa.metrics.statistics.paired.unseen import unseen_reviews
from episodic_absa.metrics.statistics.power import MOST_WIDENED
from episodic_absa.metrics.statistics.random_draws import RandomDraws
from episodic_absa.metrics.statistics.whole_units import FINEST_DIGITS, to_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IntervalMethod = Literal["percentile", "studentised", "crossed", "equal"]
_REVIEW_DRAWS: Final = 1
_ORDER_DRAWS: Final = 3
_TAILS: Final = (0.025, 0.05, 0.95, 0.975)
_FEW_REVIEWS: Final = 200
_SKEWED: Final = 1.0
"""Absolute skewness of the differences above which percentiles of resampled means lie too close on one side."""
_NO_SPREAD: Final = 1e-9
_SPARSE: Final = 0.5
_DRAWN_AT_ONCE: Final = 2**20
"""Numbers per chunk of draws: memory use does not grow with the number of reviews."""


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
    """Return one interval per metric; None for a metric whose reviews do not differ between the sides.

    A metric with one order gets the percentile interval over reviews; below 200 reviews, or where the differences are
    skewed, the wider of that and the studentised one. A metric with several orders gets an interval that crosses
    reviews and orders. Reviews that all differ by the same amount bound the share of those that do not. Metrics with
    equally many reviews share their draws; an interval depends only on its own values and the seed.
    """
    by_size: dict[int, list[int]] = {}
    for place, cells in enumerate(metrics):
        if cells.has_variation:
            by_size.setdefault(cells.n, []).append(place)
    intervals = [
        None if cells.has_variation or not cells.can_be_tested else _of_equal_reviews(cells) for cells in metrics
    ]
    for n, places in by_size.items():
        columns = [_Columns(metrics[place]) for place in places]
        sums = _resampled(columns, n, resamples, seed)
        for place, column, drawn in zip(places, columns, sums, strict=True):
            intervals[place] = _interval(column, drawn, resamples, seed)
    return tuple(intervals)


def _of_equal_reviews(cells: PairedCells) -> PairedInterval:
    """Return exact bounds: a limited share of all reviews is unlike the drawn ones, and differs as much as possible."""
    import numpy as np

    share = 1 - np.array([_TAILS[0], _TAILS[1], _TAILS[1], _TAILS[0]]) ** (1 / cells.n)
    largest = cells.largest or 0.0
    bounds = cells.difference + share * (np.array([-largest, -largest, largest, largest]) - cells.difference)
    is_crossed = cells.varies_by_order
    return _rounded(
        cells, _with_order_variance(cells, bounds) if is_crossed else bounds, "crossed" if is_crossed else "equal"
    )


class _Columns:
    """The columns of one metric that resampling adds up, in whole units."""

    def __init__(self, cells: PairedCells) -> None:
        self.cells = cells
        self.is_crossed = cells.orders_n > 1
        deviations = cells.of_reviews - cells.difference
        self.is_studentised = cells.n < _FEW_REVIEWS or abs(_skewness(deviations)) > _SKEWED
        # Flat: the units leave room for sums over reviews and over orders.
        above, self.above_per_one = to_units(cells.numerators.ravel())
        self.parts = [above.reshape(cells.n, -1)]
        if not cells.is_complete:
            below, self.below_per_one = to_units(cells.denominators.ravel())
            self.parts.append(below.reshape(cells.n, -1))
        if self.is_studentised:
            # Reviews without a difference have the value 0: such rows are left out of sums.
            self.shift = cells.difference if cells.is_complete else 0.0
            squares, self.square_per_one = to_units((deviations + self.shift) ** 2)
            self.parts.append(squares[:, None])

    @property
    def size(self) -> int:
        """The number of columns."""
        return sum(part.shape[1] for part in self.parts)


def _resampled(columns: Sequence[_Columns], n: int, resamples: int, seed: int) -> list[NDArray[np.float64]]:
    """Return the sums of every metric's columns in each resample of reviews. Whole units make the product exact."""
    import numpy as np

    # Metrics often share columns: F1 over all pairs is F1 over explicit pairs where no pair is implicit.
    places: dict[bytes, int] = {}
    distinct: list[NDArray[np.float64]] = []
    chosen: list[int] = []
    for column in (part[:, place] for metric in columns for part in metric.parts for place in range(part.shape[1])):
        content = column.tobytes()
        if content not in places:
            places[content] = len(distinct)
            distinct.append(column)
        chosen.append(places[content])
    matrix = np.column_stack(distinct)
    # Most reviews do not differ in most metrics; what is 0 adds nothing.
    is_sparse = (matrix != 0.0).mean(axis=0) < _SPARSE
    sparse, dense = matrix[:, is_sparse], matrix[:, ~is_sparse]
    rows = np.flatnonzero((sparse != 0.0).any(axis=1))
    sparse = sparse[rows]
    sums = np.empty((resamples, matrix.shape[1]))
    draws, step = RandomDraws(seed, _REVIEW_DRAWS), max(2, _DRAWN_AT_ONCE // n // 2 * 2)
    for start in range(0, resamples, step):
        counts = draws.resample_counts(min(step, resamples - start), n)
        sums[start : start + step, ~is_sparse] = counts @ dense
        sums[start : start + step, is_sparse] = counts[:, rows] @ sparse
    edges = np.cumsum([metric.size for metric in columns])[:-1]
    return [sums[:, part] for part in np.split(np.array(chosen), edges)]


def _interval(column: _Columns, sums: NDArray[np.float64], resamples: int, seed: int) -> PairedInterval:
    import numpy as np

    cells = column.cells
    shape = (resamples, cells.orders_n, cells.numerators.shape[2])
    size = shape[1] * shape[2]
    above = sums[:, :size].reshape(shape) / column.above_per_one
    below = None if cells.is_complete else sums[:, size : 2 * size].reshape(shape) / column.below_per_one
    weights = np.ones((resamples, 1))
    if column.is_crossed:
        weights = RandomDraws(seed, _ORDER_DRAWS).resample_counts(resamples, cells.orders_n)
    bounds = np.quantile(_differences(cells, above, below, weights), _TAILS)
    method: IntervalMethod = "percentile"
    if column.is_crossed:
        method = "crossed"
        bounds = _wider(bounds, _with_order_variance(cells, _over_reviews(column, above, below, sums)))
    elif column.is_studentised or cells.is_mean:
        method = "studentised" if column.is_studentised else "percentile"
        bounds = _wider(bounds, _over_reviews(column, above, below, sums))
    return _rounded(cells, bounds, method)


def _rounded(cells: PairedCells, bounds: NDArray[np.float64], method: IntervalMethod) -> PairedInterval:
    if cells.largest is not None:
        bounds = bounds.clip(-cells.largest, cells.largest)
    low, low90, high90, high = bounds.round(FINEST_DIGITS).tolist()
    return PairedInterval(low, high, low90, high90, method)


def _differences(
    cells: PairedCells,
    above: NDArray[np.float64],
    below: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the difference of each resample of reviews and, with several orders, of orders."""
    import numpy as np

    above = _added(above, weights)
    if below is None:
        values: NDArray[np.float64] = above[:, 0] / (cells.n * cells.orders_n)
        return values
    below = _added(below, weights)
    ratios: NDArray[np.float64] = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    if ratios.shape[1] == 2:
        ratios[:, 0] -= ratios[:, 1]
    first: NDArray[np.float64] = ratios[:, 0]
    return first


def _over_reviews(
    column: _Columns, above: NDArray[np.float64], below: NDArray[np.float64] | None, sums: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the bounds over reviews alone: percentiles, made wider where reviews are few or skewed."""
    import numpy as np

    cells, n = column.cells, column.cells.n
    means = _mean_deviations(cells, above, below)
    bounds: NDArray[np.float64] = cells.difference + np.quantile(means, _TAILS)
    if not column.is_studentised:
        return _with_unseen(cells, bounds, bounds)
    variances = sums[:, -1] / column.square_per_one / n - (means + column.shift) ** 2
    overall = float(((cells.of_reviews - cells.difference) ** 2).sum()) / n
    # A resample of equal differences has no spread; the least spread of the others stands in for it.
    least = variances[variances > overall * _NO_SPREAD].min(initial=overall)
    ratios = means / np.sqrt(np.maximum(variances, least) / n)
    error = sqrt(overall / (n - 1))
    studentised = cells.difference - np.quantile(ratios, _TAILS)[::-1] * error
    return _with_unseen(cells, bounds, _wider(bounds, studentised))


def _with_unseen(
    cells: PairedCells, percentiles: NDArray[np.float64], bounds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return bounds widened by what reviews that were not drawn could change; the squares of distances are added."""
    import numpy as np

    unseen = unseen_reviews(cells)
    distances = np.hypot(bounds - cells.difference, np.array([unseen.down, unseen.down, unseen.up, unseen.up]))
    half = np.abs(percentiles[::-1] - percentiles) / 2
    limits = np.maximum(MOST_WIDENED * half, np.abs(percentiles - cells.difference))
    widened: NDArray[np.float64] = cells.difference + np.array([-1, -1, 1, 1]) * np.minimum(distances, limits)
    return widened


def _mean_deviations(
    cells: PairedCells, above: NDArray[np.float64], below: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the mean of the drawn reviews' deviations from the difference, orders as they are."""
    import numpy as np

    weights = np.ones((len(above), cells.orders_n))
    above = _added(above, weights)
    if below is None:
        values: NDArray[np.float64] = above[:, 0] / (cells.n * cells.orders_n) - cells.difference
        return values
    below = _added(below, weights)
    deviations = np.zeros(len(above))
    for side, sign in zip(range(above.shape[1]), (1.0, -1.0), strict=False):
        total = fsum(cells.denominators[:, :, side].ravel().tolist())
        if total:
            ratio = fsum(cells.numerators[:, :, side].ravel().tolist()) / total
            deviations += sign * (above[:, side] - ratio * below[:, side]) / total
    return deviations


def _added(table: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted sum over orders, one order after another: the same on every machine."""
    total = table[:, 0] * weights[:, :1]
    for order in range(1, table.shape[1]):
        total = total + table[:, order] * weights[:, order : order + 1]
    return total


def _with_order_variance(cells: PairedCells, bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return bounds over reviews, widened by t over the means of orders.

    The squares of the two distances are added (Banerjee 1960): the interval then covers at least as often as it says,
    however the variance is split between reviews and orders.
    """
    import numpy as np

    parts = variance_parts(cells)
    share = parts.reviews_alone / parts.reviews if cells.has_variation else 1.0
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
