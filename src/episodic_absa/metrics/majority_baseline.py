"""The majority baseline: every Stage1 term gets the majority polarity."""

from collections.abc import Iterator, Sequence

from episodic_absa.metrics.definitions import BASELINE
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import Tuples, valid_gold
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES
from episodic_absa.metrics.per_sample.sample_values import MICRO_F1
from episodic_absa.metrics.quality import TuplesWithGold, compute_pair_metrics
from episodic_absa.metrics.ratios import unknown
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.run_files.manifest import Majority
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity


def compute_baseline(cards: Sequence[Scorecard], majority: Majority | None) -> Iterator[MetricValue]:
    """Yield the quality metrics of the baseline, `baseline_majority` (its explicit F1) first.

    Args:
        cards: the scorecards of successful samples.
        majority: the polarity that every term gets; without it every value is None.
    """
    prefix = f"{BASELINE}_"
    if majority is None:
        for metric in (BASELINE, *(f"{prefix}{name}" for name in (*PAIR_SCORES, MICRO_F1))):
            yield unknown(metric, note="no gold to take a majority from")
        return
    samples = [
        TuplesWithGold(baseline_tuples(card, majority.polarity), gold)
        for card in cards
        if (gold := valid_gold(card)) is not None
    ]
    for value in compute_pair_metrics(samples, prefix=prefix, note=majority.note):
        if value.metric == f"{prefix}tuple_f1_explicit":
            yield value.model_copy(update={"metric": BASELINE})
        yield value


def baseline_tuples(card: Scorecard, polarity: Polarity) -> Tuples:
    """Return one explicit tuple per term that Stage1 kept, all with this polarity.

    A term without a judgement counts: Stage1 backfills a tuple for it.
    """
    terms = dict.fromkeys(stage1.aspect_term for stage1 in card.stage1_tuples if stage1.aspect_term)
    return tuple(
        FinalTuple(aspect_term=term, polarity=polarity, confidence=0.5, grounding="explicit") for term in terms
    )
