"""Turns ATSA's answer into sentiments: reads polarities, matches terms to kept aspects, adds backfills."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from episodic_absa.language import PolarityCounts, nearest_occurrence, norm_key, read_polarity
from episodic_absa.schemas.absa import AspectItem, SentimentItem, Span, Stage1Atsa
from episodic_absa.schemas.seed_answers import AnsweredSentiment, AtsaAnswer
from episodic_absa.vocabulary import Polarity

_BACKFILL_CONFIDENCE: Final = 0.5


class ProcessedAtsa(NamedTuple):
    """The sentiments, and the terms that were removed."""

    atsa: Stage1Atsa
    unmatched_terms: tuple[str, ...]
    """Terms that neither match an aspect nor occur in the text."""
    polarity_counts: PolarityCounts


def process_atsa(answer: AtsaAnswer, aspects: Sequence[AspectItem], text: str) -> ProcessedAtsa:
    """Return the sentiments with the terms of kept aspects.

    A term that matches no aspect is kept if it occurs in the text. An empty term is an implicit opinion and stays.
    An aspect without
    a sentiment gets a neutral backfill.
    """
    sentiments: list[SentimentItem] = []
    unmatched: list[str] = []
    counts = PolarityCounts()
    for answered in answer.sentiments:
        term, span = _place(answered.aspect_term.strip(), aspects, text)
        if term is None:
            unmatched.append(answered.aspect_term)
            continue
        polarity, how = read_polarity(answered.polarity)
        counts = counts.plus(PolarityCounts(1, how == "repaired", how == "invalid"))
        sentiments.append(
            SentimentItem(
                aspect_term=term,
                span=span,
                polarity=polarity,
                evidence=answered.evidence,
                confidence=answered.confidence,
                polarity_distribution=_distribution(answered),
            )
        )
    judged = {norm_key(item.aspect_term, text) for item in sentiments}
    sentiments += [backfill(aspect) for aspect in aspects if norm_key(aspect.aspect_term, text) not in judged]
    return ProcessedAtsa(Stage1Atsa(sentiments=tuple(sentiments)), tuple(unmatched), counts)


def backfill(aspect: AspectItem) -> SentimentItem:
    """Return the neutral sentiment of an aspect without one; it is flagged and counts as no prediction."""
    return SentimentItem(
        aspect_term=aspect.aspect_term,
        span=aspect.span,
        polarity="neutral",
        confidence=_BACKFILL_CONFIDENCE,
        is_backfilled=True,
        neutral_reason="missing_atsa_for_aspect",
    )


def match_aspect(term: str, aspects: Iterable[AspectItem], text: str) -> AspectItem | None:
    """Return the aspect a term means: the same key, else one inside the other (longest aspect, then earliest)."""
    key = norm_key(term, text)
    if not key:
        return None
    keyed = [(norm_key(aspect.aspect_term, text), aspect) for aspect in aspects]
    for aspect_key, aspect in keyed:
        if aspect_key == key:
            return aspect
    related = [(other, aspect) for other, aspect in keyed if other and (other in key or key in other)]
    return max(related, key=lambda pair: len(pair[0]))[1] if related else None


def _place(term: str, aspects: Sequence[AspectItem], text: str) -> tuple[str | None, Span | None]:
    if not term:
        return "", None
    aspect = match_aspect(term, aspects, text)
    if aspect is not None:
        return aspect.aspect_term, aspect.span
    place = nearest_occurrence(term, text, 0)
    if place is None:
        return None, None
    return text[place[0] : place[1]], Span(start=place[0], end=place[1])


def _distribution(answered: AnsweredSentiment) -> dict[Polarity, float]:
    read: dict[Polarity, float] = {}
    for word, share in answered.polarity_distribution.items():
        polarity = read_polarity(word).polarity
        if polarity is not None:
            read[polarity] = share
    return read
