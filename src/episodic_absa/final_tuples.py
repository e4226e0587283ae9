"""From sentiments to tuples: the one extractor for Stage1, Stage2 and final, and what is read off tuples."""

from collections.abc import Callable, Iterable

from episodic_absa.language import norm
from episodic_absa.schemas.absa import FinalTuple, SentimentItem
from episodic_absa.vocabulary import Polarity


def extract_tuples(sentiments: Iterable[SentimentItem]) -> tuple[FinalTuple, ...]:
    """Keep one tuple per (term, polarity), the most confident, in text order; a missing polarity gives none."""
    best: dict[tuple[str, Polarity], SentimentItem] = {}
    for item in sentiments:
        if item.polarity is None:
            continue
        pair = (norm(item.aspect_term), item.polarity)
        if pair not in best or item.confidence > best[pair].confidence:
            best[pair] = item
    tuples = [
        FinalTuple(
            aspect_term=item.aspect_term,
            polarity=polarity,
            confidence=item.confidence,
            grounding="implicit" if item.is_implicit else "explicit",
            span=item.span,
            is_backfilled=item.is_backfilled,
        )
        for (_, polarity), item in best.items()
    ]
    return tuple(sorted(tuples, key=_text_order))


def _text_order(one: FinalTuple) -> tuple[bool, bool, int, str, str]:
    # Implicit tuples come last; an explicit one without a span comes after those whose place is known.
    return (
        one.grounding == "implicit",
        one.span is None,
        one.span.start if one.span else 0,
        one.aspect_term,
        one.polarity,
    )


def predicted(tuples: Iterable[FinalTuple]) -> tuple[FinalTuple, ...]:
    """Leave out backfills: they fill a gap, they predict nothing."""
    return tuple(one for one in tuples if not one.is_backfilled)


def pairs(tuples: Iterable[FinalTuple]) -> frozenset[tuple[str, Polarity]]:
    """Return what two results are compared by."""
    return frozenset((norm(one.aspect_term), one.polarity) for one in tuples)


def conflicting_aspects(tuples: Iterable[FinalTuple]) -> frozenset[str]:
    """Return the normalised aspects that hold two or more polarities, backfills aside."""
    polarities: dict[str, set[Polarity]] = {}
    for one in predicted(tuples):
        polarities.setdefault(norm(one.aspect_term), set()).add(one.polarity)
    return frozenset(aspect for aspect, found in polarities.items() if len(found) > 1)


def representatives(tuples: Iterable[FinalTuple], key: Callable[[str], str] = norm) -> dict[str, FinalTuple]:
    """Choose one tuple per aspect, told apart by `key`: explicit first, then confidence, then order."""
    chosen: dict[str, FinalTuple] = {}
    for one in tuples:
        aspect = key(one.aspect_term)
        held = chosen.get(aspect)
        if held is None or _standing(one) > _standing(held):
            chosen[aspect] = one
    return chosen


def _standing(one: FinalTuple) -> tuple[bool, float]:
    return (one.grounding == "explicit", one.confidence)
