"""RQ2: whether the seeds of one condition agree, within an order. A sample with a single trial does not count."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions
from episodic_absa.metrics.ratios import mean, rate, unknown
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel
from episodic_absa.schemas.run_files.scorecard import Scorecard

STABILITY_METRICS = ("tuple_agreement_rate", "self_consistency", "risk_set_consistency", "variance", "flip_flop_rate")
_NEVER_SHOWN = "eligible=false: the backend ignores the seed and memory is never shown, so all seeds are one trial"
_SAME_ORDER = "eligible=false: the backend ignores the seed and the order is not shuffled, so all seeds are one trial"
_SAME_ORDERS = "eligible=false: the backend ignores the seed, and orders are not compared, so all seeds are one trial"
_NO_REPETITION = "eligible=false: no sample has two trials"


class Stability(FrozenModel):
    """The agreement between the trials of one condition."""

    eligible: Flag
    """Whether any sample has two trials; if not, every value is None."""
    eligible_uids: Count
    """Samples with two or more trials in some order."""
    trials: Count
    """Trials of the condition; seeds that change neither order nor answers count as one."""
    metrics: tuple[MetricValue, ...]


def compute_stability(
    cards_by_seed: Mapping[int, Sequence[Scorecard]],
    *,
    seed_supported: bool,
    order_varies: bool = True,
    orders_apart: bool = False,
    count_backfilled: bool = False,
) -> Stability:
    """Return how far the seeds of one condition agree, sample by sample.

    Args:
        cards_by_seed: the scorecards of each seed, of all its orders.
        seed_supported: whether the backend uses the seed; if not, seeds differ only through memory.
        order_varies: whether the seed sets the order of samples; if not, memory is the same under every seed.
        orders_apart: whether orders are an axis of their own: the seeds of a sample are then compared within each
            order, and each order of a sample counts.
        count_backfilled: whether a backfilled tuple counts as a prediction.
    """
    order_varies = order_varies and not orders_apart
    if not seed_supported and not (order_varies and _is_exposed(cards_by_seed)):
        note = _SAME_ORDERS if orders_apart else _NEVER_SHOWN if order_varies else _SAME_ORDER
        return _ineligible(trials=min(1, len(cards_by_seed)), note=note)
    by_sample: dict[tuple[str, int], list[Scorecard]] = {}
    for _, cards in sorted(cards_by_seed.items()):
        for card in cards:
            if card.status == "ok":
                by_sample.setdefault((card.uid, card.order if orders_apart else 0), []).append(card)
    trials = [by_sample[key] for key in sorted(by_sample) if len(by_sample[key]) > 1]
    if not trials:
        return _ineligible(trials=len(cards_by_seed), note=_NO_REPETITION)

    def final_pairs(card: Scorecard) -> Hashable:
        return pairs(predictions(card, count_backfilled=count_backfilled))

    labels = [[card.label for card in cards] for cards in trials]
    adjacent = [pair for sample_labels in labels for pair in pairwise(sample_labels)]
    return Stability(
        eligible=True,
        eligible_uids=len({cards[0].uid for cards in trials}),
        trials=len(cards_by_seed),
        metrics=(
            rate("tuple_agreement_rate", _equal_n(trials, final_pairs), len(trials)),
            rate("self_consistency", _equal_n(trials, lambda card: card.label), len(trials)),
            rate("risk_set_consistency", _equal_n(trials, _risk_kinds), len(trials)),
            mean("variance", map(_label_variance, labels)),
            rate("flip_flop_rate", sum(label != following for label, following in adjacent), len(adjacent)),
        ),
    )


def _is_exposed(cards_by_seed: Mapping[int, Sequence[Scorecard]]) -> bool:
    """Return whether the condition may show memory; every sample's memory_meta has the condition's flags."""
    metas = (card.memory for cards in cards_by_seed.values() for card in cards if card.memory)
    return any(meta.is_exposed for meta in metas)


def _ineligible(*, trials: int, note: str) -> Stability:
    metrics = tuple(unknown(metric, note=note) for metric in STABILITY_METRICS)
    return Stability(eligible=False, eligible_uids=0, trials=trials, metrics=metrics)


def _equal_n(trials: Iterable[Sequence[Scorecard]], key: Callable[[Scorecard], Hashable]) -> int:
    return sum(len({key(card) for card in cards}) == 1 for cards in trials)


def _label_variance(labels: Sequence[Hashable]) -> float:
    """Return 1 minus the share of the most frequent label."""
    return 1 - Counter(labels).most_common(1)[0][1] / len(labels)


def _risk_kinds(card: Scorecard) -> Hashable:
    return tuple(sorted(card.risk_after.tags)) if card.risk_after else ()
