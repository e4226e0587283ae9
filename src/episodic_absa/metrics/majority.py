"""The baseline that every table shows: Stage1's terms, all with the majority polarity."""

from collections.abc import Iterator, Sequence

from episodic_absa.metrics.definitions import BASELINE
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.one_sample.pair_scores import PAIR_SCORES
from episodic_absa.metrics.one_sample.samples import Tuples, valid_gold
from episodic_absa.metrics.quality import MICRO, Answered, score_all
from episodic_absa.metrics.ratios import unknown
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.majority import Majority
from episodic_absa.schemas.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity


def compute_baseline(cards: Sequence[Scorecard], majority: Majority | None) -> Iterator[MetricValue]:
    """Yield the quality metrics of the baseline on samples that ended well; the first one is its headline."""
    prefix = f"{BASELINE}_"
    if majority is None:
        for metric in (BASELINE, *(f"{prefix}{one}" for one in (*PAIR_SCORES, MICRO))):
            yield unknown(metric, note="no gold to take a majority from")
        return
    answered = [
        Answered(baseline_tuples(card, majority.polarity), gold)
        for card in cards
        if (gold := valid_gold(card)) is not None
    ]
    for one in score_all(answered, prefix=prefix, note=majority.note):
        if one.metric == f"{prefix}tuple_f1_explicit":
            yield one.model_copy(update={"metric": BASELINE})
        yield one


def baseline_tuples(card: Scorecard, polarity: Polarity) -> Tuples:
    """Give every term that Stage1 kept the one polarity.

    Terms nobody judged are kept terms, too: their backfills stand among the tuples of Stage1 and name them.
    """
    terms = dict.fromkeys(one.aspect_term for one in card.stage1_tuples if one.aspect_term)
    return tuple(
        FinalTuple(aspect_term=term, polarity=polarity, confidence=0.5, grounding="explicit") for term in terms
    )
