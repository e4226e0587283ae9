"""Two conditions compared review by review. Whatever is tested here is A minus B."""

from collections.abc import Sequence
from math import fsum, sqrt
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
from episodic_absa.schemas.scorecard import Scorecard

_MATCHES: Final = "exact_match"
_MCNEMAR: Final = "mcnemar"
_NOISE: Final = 1e-12
"""A mean difference below this is 0 but for rounding."""


class PairedDifference(FrozenModel):
    """One metric: the mean over reviews of A minus B, and how far it can be trusted."""

    metric: str
    kind: MetricKind
    n_uids: Count
    """Reviews; the seeds of a review are averaged first."""
    n_pairs: Count
    """Pairs of samples, seeds counted."""
    unpaired_a: Count
    unpaired_b: Count
    mean_a: float | None
    """Over the reviews that both sides have, as is all that follows."""
    mean_b: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_holm: float | None = None
    """Outcome metrics only."""
    dz: float | None
    variation: Flag
    """False: the differences are all equal, or there are fewer than two. No interval and no test then."""
    sd: float | None = None
    """Of the differences between reviews."""
    detectable: float | None = None
    """The smallest absolute difference that so many reviews see with 80 % power."""
    needed_n: int | None = None
    """Reviews needed to see the observed difference with 80 % power."""


class Comparison(FrozenModel):
    """All metrics of A minus B."""

    a: str
    b: str
    metrics: tuple[PairedDifference, ...]
    mcnemar: McNemar | None

    def of(self, metric: str) -> PairedDifference:
        """Return one metric's difference."""
        return next(one for one in self.metrics if one.metric == metric)


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
    """Compare the samples that two conditions share, by uid and seed, in every metric that a sample has."""
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
    """Average the seeds of each uid, then subtract."""
    return [_mean(paired.a[uid]) - _mean(paired.b[uid]) for uid in paired.a]


def _describe(
    metric: str,
    paired: PairedValues,
    differences: Sequence[float],
    interval: tuple[float, float] | None,
    p_value: float | None,
) -> PairedDifference:
    n = len(differences)
    mean = _mean(differences) if n else None
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
        mean_a=_mean([_mean(values) for values in paired.a.values()]) if n else None,
        mean_b=_mean([_mean(values) for values in paired.b.values()]) if n else None,
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
    """Adjust the tests of outcome metrics together, McNemar's among them; what has no variation was not tested."""
    tests = {one.metric: one.p_value for one in metrics if one.kind == "outcome"}
    tests[_MCNEMAR] = matched.p_value if matched else None
    made = {name: p_value for name, p_value in tests.items() if p_value is not None}
    adjusted = dict(zip(made, holm(list(made.values())), strict=True))
    if matched is not None:
        matched = matched.model_copy(update={"p_holm": adjusted.get(_MCNEMAR)})
    return tuple(one.model_copy(update={"p_holm": adjusted.get(one.metric)}) for one in metrics), matched


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _sample_sd(values: Sequence[float]) -> float:
    mean = _mean(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
