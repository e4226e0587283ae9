"""The designs of a comparison that show an effect, and the variances that a pilot run gives for it."""

from collections.abc import Iterable
from statistics import fmean
from typing import Final, NamedTuple

from episodic_absa.analysis import Side
from episodic_absa.errors import RunDirectoryError
from episodic_absa.metrics import sample_value
from episodic_absa.metrics.statistics import Design, Variances, needed_reviews, orders_for
from episodic_absa.schemas.run_files.scorecard import Scorecard

_MOST_TIMES: Final = 6
"""Up to so many times the fewest orders that a claim needs are looked at."""
_STEPS: Final = 8
"""Of each doubling of the fewest orders so many are looked at."""
_FEWEST: Final = 2
_NO_VARIANCE: Final = 1e-18


class PilotVariance(NamedTuple):
    """What a pilot says about the variance of paired differences."""

    variances: Variances
    reviews: int
    """Reviews with a value in every order."""
    orders: int
    """With one order the variance between orders is unknown, and 0 here."""
    mean: float
    """The mean difference of the pilot."""


def pilot_variance(a: Side, b: Side, metric: str) -> PilotVariance:
    """Return the variances of A minus B in a pilot.

    Raises:
        RunDirectoryError: fewer than two reviews have a value of the metric on both sides, or all differ alike.
    """
    count_backfilled = a.count_backfilled and b.count_backfilled
    values_a, values_b = (_values(side.cards, metric, count_backfilled=count_backfilled) for side in (a, b))
    by_place: dict[tuple[str, int], list[float]] = {}
    for uid, order, seed in sorted(values_a.keys() & values_b.keys()):
        by_place.setdefault((uid, order), []).append(values_a[uid, order, seed] - values_b[uid, order, seed])
    differences = {place: fmean(values) for place, values in by_place.items()}
    orders = sorted({order for _, order in differences})
    all_uids = sorted({uid for uid, _ in differences})
    uids = [uid for uid in all_uids if all((uid, order) in differences for order in orders)]
    if len(uids) < _FEWEST:
        raise RunDirectoryError(
            f"{a.grid}: reviews with {metric} under both {a.name} and {b.name} in every order: {len(uids)}; "
            f"a pilot needs at least {_FEWEST}",
            path=a.grid,
        )
    pilot = split_variance([[differences[uid, order] for order in orders] for uid in uids])
    if sum(pilot.variances) < _NO_VARIANCE:
        raise RunDirectoryError(
            f"{a.grid}: the {len(uids)} reviews all have the same difference in {metric} between {a.name} and "
            f"{b.name}, so that the pilot says nothing about their SD; give an SD with --sd S, or a larger pilot",
            path=a.grid,
        )
    return pilot


def split_variance(rows: list[list[float]]) -> PilotVariance:
    """Return the variances of differences, given a row per review with a value per order.

    The estimates are those of a two-way analysis of variance; a negative estimate becomes 0.

    Example:
        >>> pilot = split_variance([[0.0, 0.2], [0.1, 0.3], [0.2, 0.4]])
        >>> [round(variance, 4) for variance in pilot.variances]
        [0.01, 0.02, 0.0]
    """
    n, k = len(rows), len(rows[0])
    mean = fmean(value for row in rows for value in row)
    review_means = [fmean(row) for row in rows]
    between_reviews = k * sum((value - mean) ** 2 for value in review_means) / (n - 1)
    if k == 1:
        return PilotVariance(Variances(reviews=between_reviews), n, k, mean)
    order_means = [fmean(row[place] for row in rows) for place in range(k)]
    between_orders = n * sum((value - mean) ** 2 for value in order_means) / (k - 1)
    rest = sum(
        (value - review_mean - order_mean + mean) ** 2
        for row, review_mean in zip(rows, review_means, strict=True)
        for value, order_mean in zip(row, order_means, strict=True)
    ) / ((n - 1) * (k - 1))
    return PilotVariance(
        Variances(
            reviews=max(0.0, (between_reviews - rest) / k), orders=max(0.0, (between_orders - rest) / n), rest=rest
        ),
        n,
        k,
        mean,
    )


def _values(cards: Iterable[Scorecard], metric: str, *, count_backfilled: bool) -> dict[tuple[str, int, int], float]:
    known = {}
    for card in cards:
        value = sample_value(metric, card, count_backfilled=count_backfilled)
        if value is not None:
            known[card.uid, card.order, card.seed] = value
    return known


def orders_of_designs(effect: float, *, grows: bool) -> range:
    """Return the numbers of orders among which a plan chooses.

    Args:
        effect: the difference to show.
        grows: whether a memory grows along the samples: rare bad orders must then be ruled out. A frozen memory gives
            the same results in every order.
    """
    fewest = orders_for(effect)
    return range(fewest, _MOST_TIMES * fewest, max(1, fewest // _STEPS)) if grows else range(1, 2)


def designs_for(
    effect: float, variances: Variances, orders: Iterable[int], *, grows: bool = False
) -> tuple[Design, ...]:
    """Return the fewest reviews for each number of orders, where some number of reviews is enough."""
    needed = ((number, needed_reviews(effect, variances, number, grows=grows)) for number in orders)
    return tuple(Design(reviews, number, grows) for number, reviews in needed if reviews is not None)


def cheapest(designs: Iterable[Design], *, available: int) -> Design | None:
    """Return the design with the fewest analysed samples; if there are enough reviews for some designs, one of these.

    Example:
        >>> cheapest([Design(820, 5), Design(675, 6), Design(557, 10)], available=600)
        Design(reviews=557, orders=10, grows=False)
    """
    known = list(designs)
    possible = [design for design in known if design.reviews <= available] or known
    return min(possible, key=lambda design: (design.reviews * design.orders, design.orders), default=None)
