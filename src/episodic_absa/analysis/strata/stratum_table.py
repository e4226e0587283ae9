"""Compares two conditions within strata of the reviews, and tests whether the difference is the same in all of them."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final, Literal

from episodic_absa.analysis.strata.interaction import GroupedDifference, interaction_p_value, order_interaction_p
from episodic_absa.analysis.strata.membership import PairKey, Structures, in_table_order, key_of, strata_by_key
from episodic_absa.metrics.per_sample.sample_values import MICRO_METRICS, sample_value
from episodic_absa.metrics.statistics import SEED, PairedDifference, compare, holm
from episodic_absa.metrics.statistics.comparison import PRIMARY
from episodic_absa.metrics.statistics.pairing import by_uid_and_seed, pair_samples
from episodic_absa.metrics.statistics.power import ALPHA
from episodic_absa.metrics.statistics.whole_units import has_spread
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import StratumName

SMALLEST_STRATUM: Final = 10
"""A stratum of fewer reviews is shown without interval and test."""
FEWEST_CLAIMED: Final = 50
"""With a smaller tested stratum the interaction carries no claim: its error exceeds 6 % if differences are skewed."""


class StratumRow(FrozenModel):
    """The difference A minus B within one stratum, and the test over all strata of the same table."""

    a: str
    b: str
    by: StratumName
    metric: str
    stratum: str
    n_uids: Count
    """Reviews with a value on both sides."""
    n_pairs: Count
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    ci_low: float | None
    """None for fewer than SMALLEST_STRATUM reviews or for differences without variation; so are the tests."""
    ci_high: float | None
    p_value: float | None
    """The larger of the p over reviews and the p over orders."""
    p_holm: float | None = None
    """p after Holm's correction over the strata of this table."""
    is_small: Flag
    interaction_p: float | None = None
    """p of the hypothesis that the difference is the same in every stratum that is not small: the larger of the p over
    reviews and, from three orders on where the order changes results, the p over orders."""
    few_orders: Flag = False
    """Whether the order may decide the differences and there are fewer than five orders: no claim then."""
    overlapping: Flag
    """Whether a review may be in several strata of the table: then the rows are not independent."""
    exploratory: Flag = False
    """Whether the table was not asked for before the first sample."""


InteractionWord = Literal["too_few", "no_variation", "small_stratum", "few_orders", "differs", "consistent"]


def interaction_word(rows: Sequence[StratumRow]) -> InteractionWord:
    """Return what the interaction of a table supports; "differs" is the only claim.

    "small_stratum" and "few_orders": the test rejects, and its error is not under control.
    """
    sizes = [row.n_uids for row in rows if not row.is_small]
    if len(sizes) < 2:
        return "too_few"
    if (p_value := rows[0].interaction_p) is None:
        return "no_variation"
    if p_value >= ALPHA:
        return "consistent"
    if min(sizes) < FEWEST_CLAIMED:
        return "small_stratum"
    return "few_orders" if any(row.few_orders for row in rows) else "differs"


def stratum_rows(
    name_a: str,
    cards_a: Sequence[Scorecard],
    name_b: str,
    cards_b: Sequence[Scorecard],
    *,
    by: StratumName,
    structures: Structures | None = None,
    metric: str = PRIMARY,
    count_backfilled: bool = False,
    seed: int = SEED,
) -> tuple[StratumRow, ...]:
    """Return the table of the strata: one row per stratum with a pair.

    Args:
        name_a: the name of condition A.
        cards_a: the scorecards of condition A, all orders and seeds together.
        name_b: the name of condition B, the baseline.
        cards_b: the scorecards of condition B.
        by: what divides the reviews.
        structures: the structures of each review by uid, from `read_structures`; needed for `by="structure"`.
        metric: an outcome metric with a value per sample (`value_metric`).
        count_backfilled: whether a backfilled tuple counts as a prediction.
        seed: seed of the random draws.
    """
    membership = strata_by_key(by, cards_a, cards_b, structures or {})
    # Orders that differ in no sample of a stratum may differ in others.
    indexed = by_uid_and_seed(cards_a, name_a), by_uid_and_seed(cards_b, name_b)
    alike = pair_samples(*indexed, count_backfilled=count_backfilled).alike
    rows = []
    for stratum in in_table_order({stratum for strata in membership.values() for stratum in strata}):
        inside = [
            [card for card in cards if stratum in membership.get(key_of(card), ())] for cards in (cards_a, cards_b)
        ]
        paired = compare(
            name_a,
            inside[0],
            name_b,
            inside[1],
            count_backfilled=count_backfilled,
            seed=seed,
            primary=metric,
            alike=alike,
        ).primary
        if paired.n_uids:
            rows.append(_row(name_a, name_b, by, stratum, paired))
    tested = {row.stratum for row in rows if not row.is_small}
    grouped = list(_grouped(cards_a, cards_b, membership, metric, count_backfilled=count_backfilled))
    of_table = {
        "interaction_p": _interaction_p(list(_within(grouped, tested)), seed=seed),
        "few_orders": any(row.few_orders for row in rows),
        "overlapping": _is_overlapping(grouped),
    }
    return tuple(row.model_copy(update=of_table) for row in _corrected(rows))


def value_metric(metric: str) -> str:
    """Return the metric if it has a value per sample; for a ratio of sums, which has none, explicit F1 instead."""
    return PRIMARY if metric in MICRO_METRICS else metric


def _row(name_a: str, name_b: str, by: StratumName, stratum: str, paired: PairedDifference) -> StratumRow:
    is_small = paired.n_uids < SMALLEST_STRATUM
    return StratumRow(
        a=name_a,
        b=name_b,
        by=by,
        metric=paired.metric,
        stratum=stratum,
        n_uids=paired.n_uids,
        n_pairs=paired.n_pairs,
        mean_a=paired.mean_a,
        mean_b=paired.mean_b,
        difference=paired.difference,
        ci_low=None if is_small else paired.ci_low,
        ci_high=None if is_small else paired.ci_high,
        p_value=None if is_small or paired.p_value is None else max(paired.p_value, paired.p_orders or 0.0),
        is_small=is_small,
        few_orders=paired.has_few_orders,
        overlapping=False,
    )


def _corrected(rows: Sequence[StratumRow]) -> list[StratumRow]:
    p_values = {row.stratum: row.p_value for row in rows if row.p_value is not None}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return [row.model_copy(update={"p_holm": adjusted.get(row.stratum)}) for row in rows]


def _grouped(
    cards_a: Sequence[Scorecard],
    cards_b: Sequence[Scorecard],
    membership: Mapping[PairKey, tuple[str, ...]],
    metric: str,
    *,
    count_backfilled: bool,
) -> Iterator[GroupedDifference]:
    """Yield the difference of every pair with a value on both sides, with the strata of the pair."""
    others = {key_of(card): card for card in cards_b}
    for card in cards_a:
        key = key_of(card)
        if key not in others or key not in membership:
            continue
        value, other = (sample_value(metric, side, count_backfilled=count_backfilled) for side in (card, others[key]))
        if value is not None and other is not None:
            yield GroupedDifference(card.uid, value - other, membership[key], card.order)


def _interaction_p(pairs: Sequence[GroupedDifference], *, seed: int) -> float | None:
    p_value = interaction_p_value(pairs, seed=seed)
    if p_value is None or not _varies_by_order(pairs):
        return p_value
    over_orders = order_interaction_p(pairs)
    return p_value if over_orders is None else max(p_value, over_orders)


def _varies_by_order(pairs: Sequence[GroupedDifference]) -> bool:
    """Return whether the difference of some review changes with the order."""
    by_review: dict[str, dict[int, list[float]]] = {}
    for pair in pairs:
        by_review.setdefault(pair.uid, {}).setdefault(pair.order, []).append(pair.difference)
    return any(has_spread([fmean(differences) for differences in by_order.values()]) for by_order in by_review.values())


def _within(grouped: Sequence[GroupedDifference], strata: set[str]) -> Iterator[GroupedDifference]:
    for pair in grouped:
        yield pair._replace(groups=tuple(group for group in pair.groups if group in strata))


def _is_overlapping(grouped: Sequence[GroupedDifference]) -> bool:
    strata: dict[str, set[str]] = {}
    for pair in grouped:
        strata.setdefault(pair.uid, set()).update(pair.groups)
    return any(len(names) > 1 for names in strata.values())
