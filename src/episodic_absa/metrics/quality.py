"""Quality metrics: final tuples and Stage1 tuples against gold, over samples with valid gold."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES, explicit, score_exact
from episodic_absa.metrics.per_sample.sample_values import MICRO_F1, ScoredSample
from episodic_absa.metrics.per_sample.term_similarity import SIMILARITY_NAME
from episodic_absa.metrics.ratios import mean, rate

_NOTES = {"generalized_f1@0.95": f"similarity: {SIMILARITY_NAME}"}


class TuplesWithGold(NamedTuple):
    """The tuples of one sample beside its gold."""

    tuples: Tuples
    gold: Pairs


def compute_quality(samples: Sequence[ScoredSample]) -> Iterator[MetricValue]:
    """Yield the quality metrics of successful samples: final tuples, corrections, then Stage1 tuples."""
    final = [TuplesWithGold(sample.final, sample.gold) for sample in samples if sample.gold is not None]
    stage1 = [TuplesWithGold(sample.before, sample.gold) for sample in samples if sample.gold is not None]
    yield from compute_pair_metrics(final)
    yield mean("delta_f1", (sample.delta_f1 for sample in samples))
    yield from _corrections(final, stage1)
    yield from compute_pair_metrics(stage1, suffix="_s1")


def compute_pair_metrics(
    samples: Sequence[TuplesWithGold], *, prefix: str = "", suffix: str = "", note: str = ""
) -> Iterator[MetricValue]:
    """Yield every metric that needs only tuples and gold.

    Args:
        samples: the tuples to score; samples without valid gold are left out.
        prefix: precedes each metric name ("baseline_majority_").
        suffix: follows each metric name ("_s1").
        note: is part of each value's note.
    """
    for metric, score in PAIR_SCORES.items():
        notes = "; ".join(filter(None, (note, _NOTES.get(metric))))
        yield mean(f"{prefix}{metric}{suffix}", (score(sample.tuples, sample.gold) for sample in samples), note=notes)
    yield _micro_f1(f"{prefix}{MICRO_F1}{suffix}", samples, note)


def _micro_f1(metric: str, samples: Sequence[TuplesWithGold], note: str) -> MetricValue:
    counts = [known for tuples, gold in samples if (known := micro_counts(tuples, gold)) is not None]
    return rate(metric, sum(hits for hits, _ in counts), sum(pair_n for _, pair_n in counts), note=note)


def micro_counts(tuples: Tuples, gold: Pairs) -> tuple[int, int] | None:
    """Return what one sample adds to numerator and denominator of the micro F1; None without explicit gold."""
    predicted, expected = explicit(pairs(tuples)), explicit(gold)
    return (2 * len(predicted & expected), len(predicted) + len(expected)) if expected else None


def _corrections(final: Sequence[TuplesWithGold], stage1: Sequence[TuplesWithGold]) -> Iterator[MetricValue]:
    exact = [
        (bool(score_exact(*before)), bool(score_exact(*after))) for before, after in zip(stage1, final, strict=True)
    ]
    fixed, broken = exact.count((False, True)), exact.count((True, False))
    yield rate("fix_rate", fixed, fixed + exact.count((False, False)))
    yield rate("break_rate", broken, broken + exact.count((True, True)))
    yield rate("net_gain", fixed - broken, len(exact))
    yield rate("correction_precision", fixed, fixed + broken)
