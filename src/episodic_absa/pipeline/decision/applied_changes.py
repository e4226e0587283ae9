"""Applies changes to Stage1's pairs, and gives the pairs of a result their probabilities."""

from collections.abc import Iterable, Sequence

from episodic_absa.language import norm
from episodic_absa.pipeline.decision.changes import PairChange
from episodic_absa.pipeline.stage1.first_analysis import is_pair
from episodic_absa.schemas.absa import AspectItem, SentimentItem, Stage1Result
from episodic_absa.schemas.run_files.candidate_record import CandidateRecord
from episodic_absa.vocabulary import ChangeKind


def apply_changes(
    stage1: Stage1Result, changes: Sequence[PairChange]
) -> tuple[tuple[AspectItem, ...], tuple[SentimentItem, ...]]:
    """Return the aspects and sentiments of Stage1 with all these changes, made or not.

    An aspect is removed with its last pair. An added pair takes the place of a backfill of its term.
    """
    if not changes:
        return stage1.ate.aspects, stage1.atsa.sentiments
    sentiments = [changed for item in stage1.atsa.sentiments if (changed := _changed(item, changes)) is not None]
    added = [change.candidate for change in changes if change.kind == "add"]
    added_terms = {norm(pair.aspect_term) for pair in added}
    # An aspect that lost every pair is gone, with what stood in for a missing judgement.
    gone = {norm(change.aspect_term) for change in changes if change.kind == "drop"}
    gone -= {norm(item.aspect_term) for item in sentiments if is_pair(item)} | added_terms
    sentiments = [item for item in sentiments if is_pair(item) or norm(item.aspect_term) not in gone | added_terms]
    aspects = [item for item in stage1.ate.aspects if norm(item.aspect_term) not in gone]
    known = {norm(item.aspect_term) for item in aspects}
    for pair in added:
        sentiments.append(
            SentimentItem(
                aspect_term=pair.aspect_term,
                span=pair.span,
                polarity=pair.polarity,
                evidence=_quote(pair),
                confidence=pair.p,
            )
        )
        if norm(pair.aspect_term) not in known:
            known.add(norm(pair.aspect_term))
            aspects.append(AspectItem(aspect_term=pair.aspect_term, span=pair.span, confidence=pair.p))
    return tuple(aspects), tuple(sentiments)


def weighed(sentiments: Iterable[SentimentItem], candidates: Iterable[CandidateRecord]) -> tuple[SentimentItem, ...]:
    """Return the pairs with the probabilities of their candidates as confidences."""
    known = {(norm(pair.aspect_term), pair.polarity): pair.p for pair in candidates}
    return tuple(
        item.model_copy(update={"confidence": known[pair]})
        if is_pair(item) and (pair := (norm(item.aspect_term), item.polarity)) in known
        else item
        for item in sentiments
    )


def _changed(item: SentimentItem, changes: Sequence[PairChange]) -> SentimentItem | None:
    if not is_pair(item):
        return item
    if _of_item(item, changes, "drop") is not None:
        return None
    flip = _of_item(item, changes, "flip")
    if flip is None:
        return item
    return item.model_copy(
        update={"polarity": flip.to_polarity, "evidence": _quote(flip.candidate), "polarity_distribution": {}}
    )


def _of_item(item: SentimentItem, changes: Sequence[PairChange], kind: ChangeKind) -> PairChange | None:
    return next(
        (
            change
            for change in changes
            if change.kind == kind
            and norm(change.aspect_term) == norm(item.aspect_term)
            and change.from_polarity == item.polarity
        ),
        None,
    )


def _quote(pair: CandidateRecord) -> str:
    """Return the first quote for a pair; "" if there is none."""
    return next((witness.quote for witness in pair.witnesses if witness.stance == "for" and witness.quote), "")
