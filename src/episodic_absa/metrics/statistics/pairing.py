"""Pairs the samples of two conditions by uid, order and seed, and lays each metric out by review and order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Final

from episodic_absa.errors import ContractError
from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.per_sample.sample_values import (
    MICRO_F1,
    MICRO_METRICS,
    MICRO_PRECISION,
    VALUE_METRICS,
    ExplicitCounts,
    ScoredSample,
)
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.whole_units import FINEST_DIGITS
from episodic_absa.schemas.run_files.scorecard import Scorecard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SampleKey = tuple[str, int, int]
"""uid, order and seed."""
Cards = Mapping[SampleKey, Scorecard]
_COUNTS: Final = len(ExplicitCounts._fields)
_NO_COUNTS: Final = (None,) * _COUNTS


@dataclass(frozen=True, eq=False)
class PairedMetric:
    """One metric under two conditions, over the samples that have it on both sides."""

    n_pairs: int
    unpaired_a: int = 0
    """Samples with a value under A whose partner under B is missing, failed or has no value."""
    unpaired_b: int = 0
    cells: PairedCells | None = None
    """A row per review, in ascending order of uid; None without a pair."""
    mean_a: float | None = None
    """The condition's figure over these cells: a mean, or for a micro metric a ratio of sums."""
    mean_b: float | None = None
    differing: bytes = b""
    """The differences that are not 0 and where they are, up to the sign: metrics with equal ones make one test."""
    varies_by_order: bool = False
    """Whether the difference of some review changes with the order."""

    def with_merged(self, groups: Sequence[int]) -> PairedMetric:
        """Return the metric with a column per group of equal orders; the figures stay those of all orders."""
        cells = self.cells
        return replace(
            self, cells=cells and cells.merged(groups), varies_by_order=bool(cells and cells.varies_by_order)
        )


@dataclass(frozen=True, eq=False)
class _Side:
    """The values of VALUE_METRICS and the explicit counts of one side, a row per pair."""

    values: NDArray[np.float64]
    """NaN without a value."""
    failed: NDArray[np.float64]
    """What samples that failed would have if they had predicted nothing; NaN in all other rows."""
    known: NDArray[np.int64]
    """Per column, the samples with a value, paired or not."""

    def at_worst(self, *, is_best: bool) -> NDArray[np.float64]:
        """Return the values with every failed sample as bad, or as good, as it could have been."""
        import numpy as np

        limits = np.array([*(_limits(metric)[is_best] for metric in VALUE_METRICS), *[0.0] * _COUNTS])
        imputed = np.broadcast_to(limits, self.values.shape).copy()
        gold = self.failed[:, -1]
        # As many predictions as gold pairs, all of them hits or none.
        imputed[:, -_COUNTS:] = np.stack([gold * is_best, gold, gold], axis=1)
        return np.where(np.isnan(self.failed), self.values, imputed)


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """The samples of two conditions, a row per pair."""

    keys: tuple[SampleKey, ...]
    """The samples that both sides have, in ascending order."""
    a: _Side
    b: _Side
    uid_codes: NDArray[np.int64]
    """A number per uid, in ascending order of uid."""
    orders: NDArray[np.int64]
    """The order of each pair."""
    alike: Mapping[int, int]
    """For every order the first one in which every sample ended alike."""

    def of(self, metric: str) -> PairedMetric:
        """Return one metric of PAIRED_METRICS by review and order."""
        column = _column(metric)
        paired = self._paired(metric, self.a.values, self.b.values)
        known_a, known_b = (int(side.known[column]) - paired.n_pairs for side in (self.a, self.b))
        return replace(paired, unpaired_a=known_a, unpaired_b=known_b)

    def with_failed(self, metric: str) -> tuple[int, tuple[PairedCells, ...]]:
        """Return how many pairs failed, and the metric with all of them against A and with all of them for A.

        Without a failed pair, and for metrics without bounds, there are no such cells.
        """
        import numpy as np

        column = _column(metric)
        failed = [~np.isnan(side.failed[:, column]) for side in (self.a, self.b)]
        failed_n = int((failed[0] | failed[1]).sum())
        if not failed_n or _largest(metric) is None:
            return failed_n, ()
        tables = (
            self._paired(metric, self.a.at_worst(is_best=is_best), self.b.at_worst(is_best=not is_best)).cells
            for is_best in (False, True)
        )
        return failed_n, tuple(cells for cells in tables if cells is not None)

    def _paired(self, metric: str, a: NDArray[np.float64], b: NDArray[np.float64]) -> PairedMetric:
        import numpy as np

        column = _column(metric)
        known = ~np.isnan(a[:, column]) & ~np.isnan(b[:, column])
        n_pairs = int(known.sum())
        if not n_pairs:
            return PairedMetric(0)
        places = _Places(self.uid_codes[known], self.orders[known])
        if metric not in MICRO_METRICS:
            paired = _mean_metric(places, a[known, column], b[known, column], n_pairs, _largest(metric))
        else:
            paired = _ratio_metric(places, [_micro_shares(metric, side[known, column:]) for side in (a, b)], n_pairs)
        return paired.with_merged([self.alike[order] for order in places.orders])

    def values_by_uid(self, metric: str) -> tuple[dict[str, tuple[float, ...]], dict[str, tuple[float, ...]]]:
        """Return the values of a metric of VALUE_METRICS under A and under B, by uid; one per paired sample."""
        column = VALUE_METRICS.index(metric)
        by_uid: tuple[dict[str, tuple[float, ...]], dict[str, tuple[float, ...]]] = ({}, {})
        pairs = zip(self.keys, self.a.values[:, column].tolist(), self.b.values[:, column].tolist(), strict=True)
        for (uid, _, _), *values in pairs:
            if all(value == value for value in values):
                for side, value in zip(by_uid, values, strict=True):
                    side[uid] = (*side.get(uid, ()), value)
        return by_uid


def by_uid_and_seed(cards: Iterable[Scorecard], name: str) -> dict[SampleKey, Scorecard]:
    """Return the scorecards by uid, order and seed.

    Raises:
        ContractError: two scorecards have the same uid, order and seed.
    """
    indexed: dict[SampleKey, Scorecard] = {}
    for card in cards:
        key = card.pair_key
        if key in indexed:
            raise ContractError(
                f"{name} has sample {card.uid} in order {card.order} with seed {card.seed} twice; "
                "give each side one run per order and seed",
                uid=card.uid,
                field="uid",
            )
        indexed[key] = card
    return indexed


def pair_samples(
    cards_a: Cards, cards_b: Cards, *, count_backfilled: bool = False, alike: Mapping[int, int] | None = None
) -> PairedSamples:
    """Return the paired samples with everything that the paired metrics need of them.

    Args:
        cards_a: the scorecards of condition A.
        cards_b: the scorecards of condition B.
        count_backfilled: whether a backfilled tuple counts as a prediction.
        alike: the orders that are equal in all samples, where these are a part of them.
    """
    import numpy as np

    keys = tuple(sorted(cards_a.keys() & cards_b.keys()))
    a, b = (_side(cards, keys, count_backfilled) for cards in (cards_a, cards_b))
    codes = {uid: code for code, uid in enumerate(dict.fromkeys(uid for uid, _, _ in keys))}
    uid_codes = np.array([codes[uid] for uid, _, _ in keys], dtype=np.int64)
    alike = _alike(keys, np.hstack([a.values, b.values])) if alike is None else alike
    orders = np.array([order for _, order, _ in keys], dtype=np.int64)
    return PairedSamples(keys, a, b, uid_codes, orders, alike)


def _side(
    cards: Cards,
    keys: tuple[SampleKey, ...],
    count_backfilled: bool,  # noqa: FBT001 - private
) -> _Side:
    """Return the values of the samples with these keys, and how many of all samples have each value."""
    import numpy as np

    rows = {key: place for place, key in enumerate(keys)}
    values, failed = (np.full((len(keys), len(VALUE_METRICS) + _COUNTS), np.nan) for _ in range(2))
    known = np.zeros(values.shape[1], dtype=np.int64)
    for key, card in cards.items():
        sample = ScoredSample(card, count_backfilled=count_backfilled)
        row = (*sample.values(), *(sample.explicit_counts() or _NO_COUNTS))
        if key in rows:
            (failed if card.status == "error" else values)[rows[key]] = row
        elif card.status != "error":
            known += [value is not None for value in row]
    known += (~np.isnan(values)).sum(axis=0)
    return _Side(values, failed, known)


def _alike(keys: tuple[SampleKey, ...], values: NDArray[np.float64]) -> dict[int, int]:
    """Return the first equal order of every order: one without a contradiction in any value."""
    import numpy as np

    orders = np.array([order for _, order, _ in keys], dtype=np.int64)
    half = values.shape[1] // 2
    if np.array_equal(values[:, :half], values[:, half:], equal_nan=True):
        # Memory changed nothing in any of these orders, and that is what they show.
        return {order: order for order in orders.tolist()}
    rows = {key: place for place, key in enumerate(dict.fromkeys((uid, seed) for uid, _, seed in keys))}
    places = np.array([rows[uid, seed] for uid, _, seed in keys], dtype=np.int64)
    first: dict[int, NDArray[np.float64]] = {}
    same: dict[int, int] = {}
    for order in np.unique(orders).tolist():
        table = np.full((len(rows), values.shape[1]), np.nan)
        table[places[orders == order]] = values[orders == order]
        same[order] = next((known for known, others in first.items() if _agree(table, others)), order)
        first.setdefault(same[order], table)
    return same


def _agree(table: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Return whether two orders have values in common, and all of these are equal."""
    import numpy as np

    known = ~np.isnan(table) & ~np.isnan(others)
    return bool(known.any()) and bool((table[known] == others[known]).all())


class _Places:
    """Where each pair belongs: its review's row and its order's column."""

    def __init__(self, uid_codes: NDArray[np.int64], orders: NDArray[np.int64]) -> None:
        import numpy as np

        self._uid_codes, rows = np.unique(uid_codes, return_inverse=True)
        self._orders, columns = np.unique(orders, return_inverse=True)
        self.orders: list[int] = self._orders.tolist()
        self.shape = len(self._uid_codes), len(self.orders)
        self._cells = rows * self.shape[1] + columns

    def sums(self, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the sum of the pairs in each cell; without values their number."""
        import numpy as np

        size = self.shape[0] * self.shape[1]
        return np.bincount(self._cells, weights=values, minlength=size).astype(np.float64).reshape(self.shape)

    def differing(self, *tables: NDArray[np.float64]) -> bytes:
        """Return the non-zero values of tables by review and order, up to the sign."""
        import numpy as np

        units = np.stack([np.rint(table * 10.0**FINEST_DIGITS) for table in tables], axis=2)
        rows, columns, sides = np.nonzero(units)
        values = units[rows, columns, sides]
        values = values if not len(values) or values[0] > 0 else -values
        parts = (self._uid_codes[rows], self._orders[columns], sides, values)
        return b"".join(part.tobytes() for part in parts)


def _mean_metric(
    places: _Places, a: NDArray[np.float64], b: NDArray[np.float64], n_pairs: int, largest: float | None
) -> PairedMetric:
    """Return a metric with a value per sample; the seeds of a review are averaged within an order."""
    import numpy as np

    number = places.sums()
    # Cells without a pair have the mean 0 and are not counted.
    mean_a, mean_b = (places.sums(side) / np.maximum(number, 1.0) for side in (a, b))
    cell_n = int((number > 0).sum())
    return PairedMetric(
        n_pairs,
        cells=PairedCells.of_differences(mean_a - mean_b, number > 0, largest),
        mean_a=fsum(mean_a.ravel().tolist()) / cell_n,
        mean_b=fsum(mean_b.ravel().tolist()) / cell_n,
        differing=places.differing(mean_a - mean_b),
    )


def _ratio_metric(
    places: _Places, shares: list[tuple[NDArray[np.float64], NDArray[np.float64]]], n_pairs: int
) -> PairedMetric:
    """Return a metric that is a ratio of sums; the seeds of a review are added up within an order."""
    import numpy as np

    (above_a, below_a), (above_b, below_b) = ((places.sums(above), places.sums(below)) for above, below in shares)
    mean_a, mean_b = (
        float(above.sum() / below.sum()) if below.any() else 0.0
        for above, below in ((above_a, below_a), (above_b, below_b))
    )
    return PairedMetric(
        n_pairs,
        cells=PairedCells(np.stack([above_a, above_b], axis=2), np.stack([below_a, below_b], axis=2)),
        mean_a=mean_a,
        mean_b=mean_b,
        differing=b"ratio" + places.differing(above_a - above_b, below_a - below_b),
    )


def _column(metric: str) -> int:
    return len(VALUE_METRICS) if metric in MICRO_METRICS else VALUE_METRICS.index(metric)


def _limits(metric: str) -> tuple[float, float]:
    """Return the least and the largest value of an outcome metric; all but a difference of two are shares."""
    return (-1.0, 1.0) if metric == "delta_f1" else (0.0, 1.0)


def _largest(metric: str) -> float | None:
    """Return the largest possible difference; None for metrics that are no outcome."""
    return sum(map(abs, _limits(metric))) if definition_of(metric).kind == "outcome" else None


def _micro_shares(metric: str, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numerators and the denominators of a metric of MICRO_METRICS, by pair."""
    hits, predicted, gold = counts.T
    if metric == MICRO_F1:
        return 2 * hits, predicted + gold
    return hits, predicted if metric == MICRO_PRECISION else gold
