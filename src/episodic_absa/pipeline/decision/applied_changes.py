"""Applies adopted changes to Stage1. Whatever no adopted change names stays the identical object."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.language import norm
from episodic_absa.pipeline.stage1.first_analysis import is_pair
from episodic_absa.schemas.absa import AspectItem, SentimentItem, Stage1Result
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.vocabulary import ChangeKind

ADDED_CONFIDENCE: Final = 0.5
"""Of an added pair, until a calibration replaces it."""


def apply_changes(
    stage1: Stage1Result, records: Sequence[ChangeRecord]
) -> tuple[tuple[AspectItem, ...], tuple[SentimentItem, ...]]:
    """Return the aspects and sentiments of Stage1 with exactly the adopted changes.

    An aspect is removed with its last pair. An added pair takes the place of a backfill of its term. A record without
    the polarity or the words that its kind needs changes nothing.
    """
    adopted = [record for record in records if record.adopted]
    if not adopted:
        return stage1.ate.aspects, stage1.atsa.sentiments
    sentiments = [changed for item in stage1.atsa.sentiments if (changed := _changed(item, adopted)) is not None]
    added = [record for record in adopted if record.kind == "add" and record.to_polarity is not None]
    added_terms = {norm(record.aspect_term) for record in added}
    # An aspect that lost every pair is gone, with what stood in for a missing judgement.
    gone = {norm(record.aspect_term) for record in adopted if record.kind == "drop"}
    gone -= {norm(item.aspect_term) for item in sentiments if is_pair(item)} | added_terms
    sentiments = [item for item in sentiments if is_pair(item) or norm(item.aspect_term) not in gone | added_terms]
    aspects = [item for item in stage1.ate.aspects if norm(item.aspect_term) not in gone]
    known = {norm(item.aspect_term) for item in aspects}
    for record in added:
        sentiments.append(_added_sentiment(record))
        if norm(record.aspect_term) not in known:
            known.add(norm(record.aspect_term))
            aspects.append(AspectItem(aspect_term=record.aspect_term, span=record.to_span, confidence=ADDED_CONFIDENCE))
    return tuple(aspects), tuple(sentiments)


def _changed(item: SentimentItem, adopted: Sequence[ChangeRecord]) -> SentimentItem | None:
    if is_pair(item):
        if _of_item(item, adopted, "drop") is not None:
            return None
        flip = _of_item(item, adopted, "flip")
        if flip is not None and flip.to_polarity is not None:
            item = item.model_copy(
                update={
                    "polarity": flip.to_polarity,
                    "evidence": _best_quote(flip),
                    "polarity_distribution": {flip.to_polarity: item.confidence},
                }
            )
    return item


def _of_item(item: SentimentItem, adopted: Sequence[ChangeRecord], kind: ChangeKind) -> ChangeRecord | None:
    return next(
        (
            record
            for record in adopted
            if record.kind == kind
            and norm(record.aspect_term) == norm(item.aspect_term)
            and record.from_polarity == item.polarity
        ),
        None,
    )


def _added_sentiment(record: ChangeRecord) -> SentimentItem:
    return SentimentItem(
        aspect_term=record.aspect_term,
        span=record.to_span,
        polarity=record.to_polarity,
        evidence=_best_quote(record),
        confidence=ADDED_CONFIDENCE,
    )


def _best_quote(record: ChangeRecord) -> str:
    """Return a quote of a witness that is for the change, one at home before others; "" if there is none."""
    quotes = [witness for witness in record.witnesses if witness.stance == "for" and witness.quote]
    return min(quotes, key=lambda witness: not witness.at_home).quote if quotes else ""
