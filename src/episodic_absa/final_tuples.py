"""Extracts tuples from sentiments, for Stage1, Stage2 and the final result alike, and compares them."""

from collections.abc import Callable, Iterable

from episodic_absa.language import norm
from episodic_absa.schemas.absa import FinalTuple, SentimentItem
from episodic_absa.vocabulary import Polarity, SentenceLabel


def extract_tuples(sentiments: Iterable[SentimentItem]) -> tuple[FinalTuple, ...]:
    """Return one tuple per (term, polarity), the most confident, in text order. A missing polarity gives no tuple."""
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


def _text_order(final_tuple: FinalTuple) -> tuple[bool, bool, int, str, str]:
    # Implicit tuples come last, explicit ones without a span just before them.
    return (
        final_tuple.grounding == "implicit",
        final_tuple.span is None,
        final_tuple.span.start if final_tuple.span else 0,
        final_tuple.aspect_term,
        final_tuple.polarity,
    )


def asked_targets(sentiments: Iterable[SentimentItem]) -> list[str]:
    """Return the targets of an analysis in the order in which prompts v3 number them.

    Backfills and opinions without a named target are left out; a target with two polarities is one question.
    """
    polarities: dict[str, set[Polarity]] = {}
    targets: list[str] = []
    for item in sentiments:
        if not item.aspect_term or item.polarity is None or item.is_backfilled:
            continue
        named = polarities.setdefault(item.aspect_term, set())
        if not named or named == {item.polarity}:
            targets.append(item.aspect_term)
        named.add(item.polarity)
    return targets


def predicted(tuples: Iterable[FinalTuple]) -> tuple[FinalTuple, ...]:
    """Return the tuples without backfills, which are no predictions."""
    return tuple(final_tuple for final_tuple in tuples if not final_tuple.is_backfilled)


def pairs(tuples: Iterable[FinalTuple]) -> frozenset[tuple[str, Polarity]]:
    """Return the (normalised term, polarity) pairs, by which two results are compared."""
    return frozenset((norm(final_tuple.aspect_term), final_tuple.polarity) for final_tuple in tuples)


def label_of_pairs(tuples: Iterable[FinalTuple]) -> SentenceLabel | None:
    """Return the label that agrees with the pairs, None without pairs. Backfills do not count.

    Both signs give mixed, one sign gives that sign whatever neutral pairs stand beside it, and only neutral pairs give
    neutral.
    """
    polarities = {final_tuple.polarity for final_tuple in predicted(tuples)}
    signs = polarities - {"neutral"}
    if len(signs) == 2:
        return "mixed"
    return next(iter(signs or polarities), None)


def conflicting_aspects(tuples: Iterable[FinalTuple]) -> frozenset[str]:
    """Return the normalised aspects with two or more polarities. Backfills do not count."""
    by_aspect: dict[str, set[Polarity]] = {}
    for final_tuple in predicted(tuples):
        by_aspect.setdefault(norm(final_tuple.aspect_term), set()).add(final_tuple.polarity)
    return frozenset(aspect for aspect, polarities in by_aspect.items() if len(polarities) > 1)


def representatives(tuples: Iterable[FinalTuple], key: Callable[[str], str] = norm) -> dict[str, FinalTuple]:
    """Return one tuple per aspect: explicit before implicit, then the highest confidence, then the first.

    Tuples with the same `key` of their terms belong to one aspect.
    """
    chosen: dict[str, FinalTuple] = {}
    for final_tuple in tuples:
        aspect = key(final_tuple.aspect_term)
        held = chosen.get(aspect)
        if held is None or _rank(final_tuple) > _rank(held):
            chosen[aspect] = final_tuple
    return chosen


def _rank(final_tuple: FinalTuple) -> tuple[bool, float]:
    return (final_tuple.grounding == "explicit", final_tuple.confidence)
