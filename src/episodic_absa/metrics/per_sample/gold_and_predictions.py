"""What every metric reads off a scorecard first: did the sample end well, what is its gold, what was predicted."""

from collections.abc import Iterable
from typing import Literal

from episodic_absa.final_tuples import predicted
from episodic_absa.language import norm
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity

Pair = tuple[str, Polarity]
"""What predictions and gold are compared by: the normalised term, "" for an implicit opinion, and the polarity."""
Pairs = frozenset[Pair]
Tuples = tuple[FinalTuple, ...]


def successful_cards(cards: Iterable[Scorecard]) -> tuple[Scorecard, ...]:
    """Return the N samples that metrics are shares of, in sample order whatever order they come in."""
    return tuple(
        sorted((card for card in cards if card.status == "ok"), key=lambda card: (card.sample_index, card.uid))
    )


def valid_gold(card: Scorecard) -> Pairs | None:
    """Return the gold pairs; None without gold, or where a gold tuple names no polarity: missing is not neutral."""
    if card.gold_tuples is None:
        return None
    pairs: set[Pair] = set()
    for one in card.gold_tuples:
        if one.polarity is None:
            return None
        pairs.add((norm(one.aspect_term), one.polarity))
    return frozenset(pairs)


def has_invalid_gold(card: Scorecard) -> bool:
    """Whether there is gold that cannot be scored against."""
    return card.gold_tuples is not None and valid_gold(card) is None


def predictions(card: Scorecard, stage: Literal["stage1", "final"] = "final", *, count_backfilled: bool) -> Tuples:
    """Return what counts as predicted; a backfill does not, unless the experiment says so."""
    tuples = card.stage1_tuples if stage == "stage1" else card.final_tuples
    return tuples if count_backfilled else predicted(tuples)
