"""Final tuples and those of Stage1 against gold, over the samples with valid gold."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, Tuples, predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES, explicit, score_exact
from episodic_absa.metrics.per_sample.term_similarity import SIMILARITY_NAME
from episodic_absa.metrics.ratios import mean, rate
from episodic_absa.schemas.scorecard import Scorecard

MICRO = "tuple_f1_explicit_micro"
_NOTES = {"generalized_f1@0.95": f"similarity: {SIMILARITY_NAME}"}


class TuplesWithGold(NamedTuple):
    """The tuples of one sample beside its gold."""

    tuples: Tuples
    gold: Pairs


def compute_quality(cards: Sequence[Scorecard], *, count_backfilled: bool) -> Iterator[MetricValue]:
    """Yield the quality metrics of samples that ended well."""
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
    answered: Sequence[TuplesWithGold], *, prefix: str = "", suffix: str = "", note: str = ""
) -> Iterator[MetricValue]:
    """Yield every metric that needs no more than tuples and gold, under the name of whose tuples they are."""
    for metric, score in PAIR_SCORES.items():
        notes = "; ".join(filter(None, (note, _NOTES.get(metric))))
        yield mean(f"{prefix}{metric}{suffix}", (score(one.tuples, one.gold) for one in answered), note=notes)
    yield _micro(f"{prefix}{MICRO}{suffix}", answered, note)


def _micro(metric: str, answered: Sequence[TuplesWithGold], note: str) -> MetricValue:
    hit_n = pair_n = 0
    for tuples, gold in answered:
        found, meant = explicit(pairs(tuples)), explicit(gold)
        if meant:
            hit_n += len(found & meant)
            pair_n += len(found) + len(meant)
    return rate(metric, 2 * hit_n, pair_n, note=note)


def _delta_f1(final: Sequence[TuplesWithGold], stage1: Sequence[TuplesWithGold]) -> MetricValue:
    score = PAIR_SCORES["tuple_f1_explicit"]
    both = [(score(*after), score(*before)) for after, before in zip(final, stage1, strict=True)]
    return mean("delta_f1", (None if a is None or b is None else a - b for a, b in both))


def _corrections(final: Sequence[TuplesWithGold], stage1: Sequence[TuplesWithGold]) -> Iterator[MetricValue]:
    turns = [(bool(score_exact(*b)), bool(score_exact(*a))) for b, a in zip(stage1, final, strict=True)]
    fixed, broken = turns.count((False, True)), turns.count((True, False))
    yield rate("fix_rate", fixed, fixed + turns.count((False, False)))
    yield rate("break_rate", broken, broken + turns.count((True, True)))
    yield rate("net_gain", fixed - broken, len(turns))
    yield rate("correction_precision", fixed, fixed + broken)
