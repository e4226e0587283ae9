"""The baseline that every table shows: Stage1's terms, all with the majority polarity."""

from collections.abc import Iterator, Sequence
from typing import Literal

from episodic_absa.metrics.definitions import BASELINE
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import Tuples, valid_gold
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES
from episodic_absa.metrics.quality import MICRO, TuplesWithGold, compute_pair_metrics
from episodic_absa.metrics.ratios import unknown
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity


class Majority(FrozenModel):
    """The most frequent polarity of gold, and whose gold; as the manifest names it."""

    polarity: Polarity
    source: Literal["train", "evaluation"]

    @property
    def note(self) -> str:
        """What stands beside every value of the baseline."""
        return f"majority: {self.polarity}, from {self.source} gold"


def compute_baseline(cards: Sequence[Scorecard], majority: Majority | None) -> Iterator[MetricValue]:
    """Yield the quality metrics of the baseline on samples that ended well; the first one is its headline."""
    prefix = f"{BASELINE}_"
    if majority is None:
        for metric in (BASELINE, *(f"{prefix}{one}" for one in (*PAIR_SCORES, MICRO))):
            yield unknown(metric, note="no gold to take a majority from")
        return
    answered = [
        TuplesWithGold(baseline_tuples(card, majority.polarity), gold)
        for card in cards
        if (gold := valid_gold(card)) is not None
    ]
    for one in compute_pair_metrics(answered, prefix=prefix, note=majority.note):
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
