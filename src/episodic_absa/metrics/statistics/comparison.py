"""The paired comparison of two conditions, review by review. Every difference is A minus B."""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean
from typing import Final

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.metric_value import MetricKind
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS
from episodic_absa.metrics.statistics.bootstrap import RESAMPLES, SEED, bootstrap_intervals
from episodic_absa.metrics.statistics.holm import holm
from episodic_absa.metrics.statistics.mcnemar import McNemar, mcnemar
from episodic_absa.metrics.statistics.pairing import PairedValues, by_uid_and_seed, pair_values, values_of
from episodic_absa.metrics.statistics.permutation import sign_flip_p_values
from episodic_absa.metrics.statistics.power import detectable_difference, required_n
from episodic_absa.metrics.statistics.whole_units import has_spread
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel
from episodic_absa.schemas.run_files.scorecard import Scorecard

_MATCHES: Final = "exact_match"
_MCNEMAR: Final = "mcnemar"
_NOISE: Final = 1e-12
"""A smaller mean difference is a rounding error and counts as 0."""


class PairedDifference(FrozenModel):
    """The mean difference A minus B of one metric, with its interval and tests.

    Means, interval and tests are over the reviews with a value on both sides.
    """

    metric: str
    kind: MetricKind
    n_uids: Count
    """Reviews with a value on both sides; the seeds of a review are averaged first."""
    n_pairs: Count
    """Pairs of samples; each seed of a review is a pair."""
    unpaired_a: Count
    """Samples with a value under A and none under B."""
    unpaired_b: Count
    """Samples with a value under B and none under A."""
    mean_a: float | None
    """None if no review has a value on both sides."""
    mean_b: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_holm: float | None = None
    """p after Holm's correction over the outcome tests of this pair; None for other kinds of metrics."""
    dz: float | None
    """Cohen's dz: the mean difference over the standard deviation of the differences."""
    variation: Flag
    """False if the differences are all equal or there are fewer than two; then there is no interval and no test."""
    sd: float | None = None
    """Standard deviation of the differences between reviews."""
    detectable: float | None = None
    """The smallest absolute difference that this many reviews show with 80 % power."""
    needed_n: int | None = None
    """Reviews needed to show the observed difference with 80 % power."""


class Comparison(FrozenModel):
    """The differences of all paired metrics between condition A and condition B."""

    a: str
    b: str
    metrics: tuple[PairedDifference, ...]
    mcnemar: McNemar | None

    def of(self, metric: str) -> PairedDifference:
        """Return the difference of one metric of PAIRED_METRICS."""
        return next(paired for paired in self.metrics if paired.metric == metric)

    def __repr__(self) -> str:
        primary = self.metrics[0]
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
) -> Comparison:
    """Compare two conditions on the samples that they share, by uid and seed.

    Args:
        name_a: the name of condition A, for messages and sentences.
        cards_a: the scorecards of condition A, all seeds together.
        name_b: the name of condition B.
        cards_b: the scorecards of condition B.
        count_backfilled: whether a backfilled tuple counts as a prediction.
        resamples: bootstrap resamples, and sign flips of the permutation test.
        seed: seed of the random draws; equal seeds give equal numbers on every machine.

    Returns:
        One `PairedDifference` per metric of PAIRED_METRICS, and McNemar's test on exact matches.

    Raises:
        ContractError: one side has the same uid and seed twice.
    """
    values_a, values_b = (
        values_of(by_uid_and_seed(cards, name), count_backfilled=count_backfilled)
        for cards, name in ((cards_a, name_a), (cards_b, name_b))
    )
    paired = {metric: pair_values(values_a[metric], values_b[metric]) for metric in PAIRED_METRICS}
    differences = {metric: _differences(values) for metric, values in paired.items()}
    intervals = bootstrap_intervals(list(differences.values()), resamples=resamples, seed=seed)
    p_values = sign_flip_p_values(list(differences.values()), flips=resamples, seed=seed)
    metrics = [
        _describe(metric, paired[metric], differences[metric], interval, p_value)
        for metric, interval, p_value in zip(PAIRED_METRICS, intervals, p_values, strict=True)
    ]
    tested, matched = _corrected(metrics, mcnemar(paired[_MATCHES].a, paired[_MATCHES].b))
    return Comparison(a=name_a, b=name_b, metrics=tested, mcnemar=matched)


def _differences(paired: PairedValues) -> list[float]:
    """Return A minus B per review; the seeds of a review are averaged first."""
    return [fmean(paired.a[uid]) - fmean(paired.b[uid]) for uid in paired.a]


def _describe(
    metric: str,
    paired: PairedValues,
    differences: Sequence[float],
    interval: tuple[float, float] | None,
    p_value: float | None,
) -> PairedDifference:
    n = len(differences)
    mean = fmean(differences) if n else None
    if mean is not None and abs(mean) < _NOISE:
        mean = 0.0
    sd = _sample_sd(differences) if has_spread(differences) else None
    return PairedDifference(
        metric=metric,
        kind=definition_of(metric).kind,
        n_uids=n,
        n_pairs=paired.n_pairs,
        unpaired_a=paired.unpaired_a,
        unpaired_b=paired.unpaired_b,
        mean_a=fmean([fmean(values) for values in paired.a.values()]) if n else None,
        mean_b=fmean([fmean(values) for values in paired.b.values()]) if n else None,
        difference=mean,
        ci_low=interval[0] if interval else None,
        ci_high=interval[1] if interval else None,
        p_value=p_value,
        dz=mean / sd if sd and mean is not None else None,
        variation=sd is not None,
        sd=sd,
        detectable=detectable_difference(n, sd) if sd else None,
        needed_n=required_n(mean, sd) if sd and mean else None,
    )


def _corrected(
    metrics: Sequence[PairedDifference], matched: McNemar | None
) -> tuple[tuple[PairedDifference, ...], McNemar | None]:
    """Apply Holm's correction to the tests of all outcome metrics and McNemar's test together."""
    tests = {paired.metric: paired.p_value for paired in metrics if paired.kind == "outcome"}
    tests[_MCNEMAR] = matched.p_value if matched else None
    made = {name: p_value for name, p_value in tests.items() if p_value is not None}
    adjusted = dict(zip(made, holm(list(made.values())), strict=True))
    if matched is not None:
        matched = matched.model_copy(update={"p_holm": adjusted.get(_MCNEMAR)})
    corrected = tuple(paired.model_copy(update={"p_holm": adjusted.get(paired.metric)}) for paired in metrics)
    return corrected, matched


def _sample_sd(values: Sequence[float]) -> float:
    mean = fmean(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
