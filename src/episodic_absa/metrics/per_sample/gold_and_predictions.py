"""What metrics read from a scorecard: whether the sample succeeded, its gold pairs and its predicted tuples."""

from collections.abc import Iterable
from typing import Literal

from episodic_absa.final_tuples import predicted
from episodic_absa.language import norm
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity

Pair = tuple[str, Polarity]
"""The normalised term ("" for an implicit opinion) and the polarity. Predictions and gold are compared as pairs."""
Pairs = frozenset[Pair]
Tuples = tuple[FinalTuple, ...]


def successful_cards(cards: Iterable[Scorecard]) -> tuple[Scorecard, ...]:
    """Return the scorecards of successful samples, in sample order. Their number is the N of every share."""
    return tuple(
        sorted((card for card in cards if card.status == "ok"), key=lambda card: (card.sample_index, card.uid))
    )


def valid_gold(card: Scorecard) -> Pairs | None:
    """Return the gold pairs; None without gold or if a gold tuple has no polarity: missing is not neutral."""
    if card.gold_tuples is None:
        return None
    pairs: set[Pair] = set()
    for gold in card.gold_tuples:
        if gold.polarity is None:
            return None
        pairs.add((norm(gold.aspect_term), gold.polarity))
    return frozenset(pairs)


def has_invalid_gold(card: Scorecard) -> bool:
    """Return whether the sample has gold that cannot be scored."""
    return card.gold_tuples is not None and valid_gold(card) is None


def predictions(card: Scorecard, stage: Literal["stage1", "final"] = "final", *, count_backfilled: bool) -> Tuples:
    """Return the tuples of a stage that count as predictions.

    A backfilled tuple stands for an aspect without a judgement; it counts only with `count_backfilled`.
    """
    tuples = card.stage1_tuples if stage == "stage1" else card.final_tuples
    return tuples if count_backfilled else predicted(tuples)
