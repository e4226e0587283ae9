"""Quality metrics: final tuples and Stage1 tuples against gold, over samples with valid gold."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples, predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES, explicit, score_exact
from episodic_absa.metrics.per_sample.sample_values import MICRO_F1
from episodic_absa.metrics.per_sample.term_similarity import SIMILARITY_NAME
from episodic_absa.metrics.ratios import mean, rate
from episodic_absa.schemas.run_files.scorecard import Scorecard

_NOTES = {"generalized_f1@0.95": f"similarity: {SIMILARITY_NAME}"}


class TuplesWithGold(NamedTuple):
    """The tuples of one sample beside its gold."""

    tuples: Tuples
    gold: Pairs


def compute_quality(cards: Sequence[Scorecard], *, count_backfilled: bool) -> Iterator[MetricValue]:
    """Yield the quality metrics of successful samples: final tuples, corrections, then Stage1 tuples."""
    scored = [(card, gold) for card in cards if (gold := valid_gold(card)) is not None]
    final = [TuplesWithGold(predictions(card, count_backfilled=count_backfilled), gold) for card, gold in scored]
    stage1 = [
        TuplesWithGold(predictions(card, "stage1", count_backfilled=count_backfilled), gold) for card, gold in scored
    ]
    yield from compute_pair_metrics(final)
    yield _delta_f1(final, stage1)
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


def _delta_f1(final: Sequence[TuplesWithGold], stage1: Sequence[TuplesWithGold]) -> MetricValue:
    score = PAIR_SCORES["tuple_f1_explicit"]
    scores = [(score(*after), score(*before)) for after, before in zip(final, stage1, strict=True)]
    return mean("delta_f1", (None if after is None or before is None else after - before for after, before in scores))


def _corrections(final: Sequence[TuplesWithGold], stage1: Sequence[TuplesWithGold]) -> Iterator[MetricValue]:
    exact = [
        (bool(score_exact(*before)), bool(score_exact(*after))) for before, after in zip(stage1, final, strict=True)
    ]
    fixed, broken = exact.count((False, True)), exact.count((True, False))
    yield rate("fix_rate", fixed, fixed + exact.count((False, False)))
    yield rate("break_rate", broken, broken + exact.count((True, True)))
    yield rate("net_gain", fixed - broken, len(exact))
    yield rate("correction_precision", fixed, fixed + broken)
