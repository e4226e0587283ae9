"""The paired comparison of two conditions by review and order. Every difference is A minus B."""

from collections.abc import Mapping, Sequence
from math import ceil, log, log1p
from typing import Final, NamedTuple

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.sample_values import MICRO_RECALL, PAIRED_METRICS
from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED
from episodic_absa.metrics.statistics.holm import holm
from episodic_absa.metrics.statistics.mcnemar import McNemar, mcnemar
from episodic_absa.metrics.statistics.paired.assessment import assess
from episodic_absa.metrics.statistics.paired.cells import PairedCells
from episodic_absa.metrics.statistics.paired.difference import PairedDifference
from episodic_absa.metrics.statistics.paired.equivalence import SMALLEST_EFFECT, equivalence_of
from episodic_absa.metrics.statistics.paired.evidence import Evidence
from episodic_absa.metrics.statistics.pairing import PairedMetric, PairedSamples, by_uid_and_seed, pair_samples
from episodic_absa.metrics.statistics.power import ALPHA, FEWEST_ORDERS, Design, detectable_effect, orders_for
from episodic_absa.metrics.statistics.verdict import Verdict, verdict_of
from episodic_absa.metrics.statistics.whole_units import FINEST_DIGITS
from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.schemas.run_files.scorecard import Scorecard

PRIMARY: Final = "tuple_f1_explicit"
_MATCHES: Final = "exact_match"
_MCNEMAR: Final = "mcnemar"


class Comparison(FrozenModel):
    """The differences of all paired metrics between condition A and condition B."""

    a: str
    b: str
    metrics: tuple[PairedDifference, ...]
    """The primary metric first."""
    mcnemar: McNemar | None
    orders_run: Count = 1
    """Orders of samples on both sides; `orders_n` of a metric counts those that are different."""

    def of(self, metric: str) -> PairedDifference:
        """Return the difference of one metric of PAIRED_METRICS."""
        return next(paired for paired in self.metrics if paired.metric == metric)

    @property
    def primary(self) -> PairedDifference:
        """The difference of the primary metric."""
        return self.metrics[0]

    def verdict(self) -> Verdict:
        """Return what the comparison says about its primary metric."""
        return verdict_of(self.primary)

    def __repr__(self) -> str:
        primary = self.primary
        difference = "has no pairs" if primary.difference is None else f"{primary.difference:+.4f}"
        return f"Comparison({self.a} minus {self.b}: {primary.metric} {difference})"


def compare(
    name_a: str,
    cards_a: Sequence[Scorecard],
    name_b: str,
    cards_b: Sequence[Scorecard],
    *,
    count_backfilled: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    primary: str = PRIMARY,
    smallest_effect: float = SMALLEST_EFFECT,
    same_by_construction: bool = False,
    alike: Mapping[int, int] | None = None,
) -> Comparison:
    """Compare two conditions on the samples that they share, by uid, order and seed.

    Args:
        name_a: the name of condition A, for messages and sentences.
        cards_a: the scorecards of condition A, all orders and seeds together.
        name_b: the name of condition B.
        cards_b: the scorecards of condition B.
        count_backfilled: whether a backfilled tuple counts as a prediction.
        resamples: bootstrap resamples, and drawn sign flips where the exact test is not feasible.
        seed: seed of the random draws; equal seeds give equal numbers on every machine.
        primary: the metric that answers the question, an outcome metric of PAIRED_METRICS.
        smallest_effect: the smallest absolute difference in an outcome metric that would matter.
        same_by_construction: whether the conditions cannot differ, because neither shows memory to anything.
        alike: the orders that are equal, from `pair_samples` of all samples, where the cards are a part of them.

    Returns:
        One `PairedDifference` per metric of PAIRED_METRICS, and McNemar's test on exact matches.

    Raises:
        ContractError: one side has the same uid, order and seed twice.
        ValueError: `primary` is no paired outcome metric, or `smallest_effect` is not above 0 and at most 1.
    """
    _require_question(primary, smallest_effect)
    samples = pair_samples(
        by_uid_and_seed(cards_a, name_a),
        by_uid_and_seed(cards_b, name_b),
        count_backfilled=count_backfilled,
        alike=alike,
    )
    paired = {metric: samples.of(metric) for metric in sorted(PAIRED_METRICS, key=lambda metric: metric != primary)}
    measure = _Measure(
        is_random=any(row.varies_by_order for row in paired.values()),
        grows=_grows(cards_a) or _grows(cards_b),
        smallest_effect=smallest_effect,
        same_by_construction=same_by_construction and _answered_alike(cards_a, cards_b),
        resamples=resamples,
        seed=seed,
    )
    assessed = measure.assess({metric: row.cells for metric, row in paired.items() if row.cells is not None})
    described = [
        measure.describe(metric, paired[metric], assessed.get(metric), is_primary=metric == primary)
        for metric in paired
    ]
    described = [measure.with_failed(row, *samples.with_failed(row.metric)) for row in described]
    metrics, matched = _corrected(described, paired, _mcnemar(samples))
    fell = next(row for row in metrics if row.metric == MICRO_RECALL)
    if not fell.doubt and not fell.favours_a:
        metrics = tuple(row.model_copy(update={"recall_worse": True}) for row in metrics)
    orders_run = max(len({order for _, order, _ in samples.keys}), 1)
    return Comparison(a=name_a, b=name_b, metrics=metrics, mcnemar=matched, orders_run=orders_run)


def _answered_alike(cards_a: Sequence[Scorecard], cards_b: Sequence[Scorecard]) -> bool:
    """Return whether all samples of both sides were answered, and those that both have with the same pairs."""
    answers = {card.pair_key: card.final_tuples for card in cards_b}
    all_answered = all(card.status == "ok" for card in (*cards_a, *cards_b))
    return all_answered and all(answers.get(card.pair_key, card.final_tuples) == card.final_tuples for card in cards_a)


def _grows(cards: Sequence[Scorecard]) -> bool:
    """Return whether prompts showed a memory to which these samples added."""
    return any(card.store_decision == "stored" for card in cards) and any(map(was_injected, cards))


def _require_question(primary: str, smallest_effect: float) -> None:
    outcomes = [metric for metric in PAIRED_METRICS if definition_of(metric).kind == "outcome"]
    if primary not in outcomes:
        raise ValueError(f"{primary!r} is no outcome metric with pairs; choose one of {', '.join(outcomes)}")
    if not 0 < smallest_effect <= 1:
        raise ValueError(f"the smallest effect is above 0 and at most 1, got {smallest_effect}")


class _Measure(NamedTuple):
    """What all metrics of a comparison share."""

    is_random: bool
    """Whether any value changes with the order: then memory saw something else, and order is random for all metrics."""
    grows: bool
    smallest_effect: float
    same_by_construction: bool
    resamples: int
    seed: int

    def assess(self, tables: Mapping[str, PairedCells]) -> dict[str, Evidence]:
        """Return what the statistics say about every metric with a pair."""
        assessed = assess(
            list(tables.values()),
            orders_are_random=self.is_random,
            memory_grows=self.grows,
            resamples=self.resamples,
            seed=self.seed,
        )
        return dict(zip(tables, assessed, strict=True))

    def describe(
        self, metric: str, paired: PairedMetric, evidence: Evidence | None, *, is_primary: bool
    ) -> PairedDifference:
        found = evidence or Evidence(n_uids=0, orders_n=0, difference=None, grows=self.grows)
        row = PairedDifference(
            **found.model_dump(),
            metric=metric,
            kind=definition_of(metric).kind,
            n_pairs=paired.n_pairs,
            unpaired_a=paired.unpaired_a,
            unpaired_b=paired.unpaired_b,
            mean_a=paired.mean_a,
            mean_b=paired.mean_b,
            dz=found.difference / found.sd if found.sd and found.difference is not None else None,
            variation=found.sd is not None,
            smallest_effect=self.smallest_effect,
            is_primary=is_primary,
            same_by_construction=self.same_by_construction,
        )
        if paired.cells is None:
            return row
        differing = sum(abs(value) > 10.0**-FINEST_DIGITS for value in paired.cells.net_of_reviews.tolist())
        row = row.model_copy(update={"differing_n": differing})
        if row.sd is not None:
            design = Design(row.n_uids, row.orders_n, row.grows)
            row = row.model_copy(update={"detectable": detectable_effect(row.variances, design, room=row.room)})
        return row if row.kind != "outcome" else self._against_smallest(row)

    def with_failed(self, row: PairedDifference, failed_n: int, tables: tuple[PairedCells, ...]) -> PairedDifference:
        """Return the difference with the bounds that failed samples leave, if any failed."""
        if not tables:
            return row.model_copy(update={"failed_n": failed_n})
        against, favouring = self.assess(dict(zip(("against", "for"), tables, strict=True))).values()
        update: dict[str, object] = {
            "failed_n": failed_n,
            "failed_low": against.difference if against.ci_low is None else against.ci_low,
            "failed_high": favouring.difference if favouring.ci_high is None else favouring.ci_high,
        }
        inner = (
            against.difference if against.ci90_low is None else against.ci90_low,
            favouring.difference if favouring.ci90_high is None else favouring.ci90_high,
        )
        if row.equivalence == "no_larger_effect" and max(abs(bound or 0.0) for bound in inner) >= self.smallest_effect:
            update["equivalence"] = "undecided"
        return row.model_copy(update=update)

    def _against_smallest(self, row: PairedDifference) -> PairedDifference:
        """Return the difference of an outcome with what the smallest effect of interest asks of it."""
        effect, n = self.smallest_effect, row.n_uids
        equivalence = equivalence_of(row.ci90_low, row.ci90_high, effect, n=n, differing=row.differing_n)
        if row.has_few_orders and equivalence is not None:
            # So few orders bound no effect: another order may have another one.
            equivalence = "undecided"
        row = row.model_copy(update={"equivalence": equivalence})
        if not row.is_primary:
            return row
        orders = FEWEST_ORDERS if row.has_few_orders else 1
        if row.grows and row.excludes_zero:
            orders = orders_for(row.difference or 0.0)
        # Without a difference enough equal reviews bound the share of those that differ.
        needed: int | None = (
            ceil(log(ALPHA) / log1p(-min(effect, 1 - 1e-9))) if row.sd is None else row.reviews_of_these_orders(effect)
        )
        return row.model_copy(
            update={
                "needed_orders": orders if orders > row.orders_n else None,
                "needed_n": needed if needed and needed > n else None,
            }
        )


def _mcnemar(samples: PairedSamples) -> McNemar | None:
    return mcnemar(*samples.values_by_uid(_MATCHES))


def _corrected(
    metrics: Sequence[PairedDifference], paired: dict[str, PairedMetric], matched: McNemar | None
) -> tuple[tuple[PairedDifference, ...], McNemar | None]:
    """Apply the correction for the number of tests: the primary metric first, then Holm over the distinct others."""
    primary = metrics[0]
    tests: dict[str, tuple[bytes, float]] = {
        row.metric: (paired[row.metric].differing, max(row.p_value, row.p_orders or 0.0))
        for row in metrics
        if row.kind == "outcome" and row.p_value is not None
    }
    if matched is not None and matched.p_value is not None:
        of_matches = paired[_MATCHES].cells
        # Where every review has the difference -1, 0 or 1, McNemar's test is the sign-flip test of exact matches.
        is_same = of_matches is not None and all(
            abs(value - round(value)) < 10.0**-FINEST_DIGITS for value in of_matches.of_reviews.tolist()
        )
        tests[_MCNEMAR] = (paired[_MATCHES].differing if is_same else _MCNEMAR.encode(), matched.p_value)
    adjusted = _adjusted(tests, primary.metric, has_primary=primary.n_uids > 0)
    if matched is not None:
        matched = matched.model_copy(update={"p_holm": adjusted.get(_MCNEMAR)})
    return tuple(row.model_copy(update={"p_holm": adjusted.get(row.metric)}) for row in metrics), matched


def _adjusted(tests: dict[str, tuple[bytes, float]], primary: str, *, has_primary: bool) -> dict[str, float]:
    """Return the adjusted p of each test; without a primary metric plain Holm."""
    distinct: dict[bytes, float] = {}
    for differing, p_value in tests.values():
        distinct[differing] = max(p_value, distinct.get(differing, 0.0))
    first = tests.get(primary, (None, 1.0))
    gate = first[1] if has_primary else 0.0
    others = {differing: p_value for differing, p_value in distinct.items() if differing != first[0]}
    corrected = dict(zip(others, holm(list(others.values())), strict=True))
    return {
        name: gate if differing == first[0] else max(gate, corrected[differing])
        for name, (differing, _) in tests.items()
    }
