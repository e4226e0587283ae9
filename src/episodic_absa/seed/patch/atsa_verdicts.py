"""Step 3 of the patch: Stage2's verdicts on sentiments."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from episodic_absa.language import nearest_occurrence, norm
from episodic_absa.schemas.absa import SentimentItem, SentimentVerdict, Span
from episodic_absa.seed.atsa_processing import match_aspect
from episodic_absa.seed.patch.patch_draft import INVERSE_POLARITY, REVISED_CONFIDENCE, PatchDraft
from episodic_absa.vocabulary import Polarity

_CONFIDENCE_REDUCTION: Final = 0.2


class _Effect(NamedTuple):
    """What the log says about a verdict."""

    aspect_term: str
    """The term of the sentiment that was changed, or the verdict's own."""
    reason: str = ""
    polarity: Polarity | None = None


def apply_atsa_verdicts(draft: PatchDraft, verdicts: Iterable[SentimentVerdict]) -> None:
    """Apply each verdict that the draft allows, and log every one that is not `keep`."""
    for verdict in verdicts:
        if verdict.action != "keep":
            effect = _apply(draft, verdict)
            draft.record(
                "atsa_review",
                verdict.action,
                effect.aspect_term,
                effect.reason,
                change_id=verdict.change_id,
                polarity=effect.polarity,
            )


def _apply(draft: PatchDraft, verdict: SentimentVerdict) -> _Effect:
    if verdict.action == "add":
        return _add_sentiment(draft, verdict)
    position = draft.find_judgement(verdict.aspect_term)
    if position is None:
        return _Effect(verdict.aspect_term, "no_matching_sentiment")
    if verdict.action == "drop":
        draft.drop_sentiments(verdict.aspect_term)
        return _Effect(verdict.aspect_term)
    if verdict.action == "reduce_confidence":
        sentiment = draft.sentiments[position]
        reduced = round(max(0.0, sentiment.confidence - _CONFIDENCE_REDUCTION), 6)
        draft.sentiments[position] = sentiment.model_copy(update={"confidence": reduced})
        return _Effect(verdict.aspect_term)
    return _flip_polarity(draft, verdict, position)


def _flip_polarity(draft: PatchDraft, verdict: SentimentVerdict, position: int) -> _Effect:
    sentiment = draft.sentiments[position]
    polarity = verdict.revised_polarity or INVERSE_POLARITY.get(sentiment.polarity or "neutral")
    if polarity is None:
        return _Effect(verdict.aspect_term, "neutral_without_revised_polarity")
    draft.set_polarity(position, polarity)
    draft.verdict_polarities.add((norm(sentiment.aspect_term), polarity))
    return _Effect(sentiment.aspect_term, polarity=polarity)


def _add_sentiment(draft: PatchDraft, verdict: SentimentVerdict) -> _Effect:
    polarity = verdict.revised_polarity
    if polarity is None:
        return _Effect(verdict.aspect_term, "missing_revised_polarity")
    term, span = _placed(verdict.aspect_term, draft)
    # The new sentiment takes the place of the backfill: the aspect is judged now.
    draft.sentiments = [
        item for item in draft.sentiments if not (item.is_backfilled and norm(item.aspect_term) == norm(term))
    ]
    draft.sentiments.append(
        SentimentItem(aspect_term=term, span=span, polarity=polarity, confidence=REVISED_CONFIDENCE)
    )
    draft.verdict_polarities.add((norm(term), polarity))
    return _Effect(term, polarity=polarity)


def _placed(term: str, draft: PatchDraft) -> tuple[str, Span | None]:
    """Return the aspect that a term means, else its first occurrence in the text, else the term without a span."""
    aspect = match_aspect(term, draft.aspects, draft.text)
    if aspect is not None:
        return aspect.aspect_term, aspect.span
    place = nearest_occurrence(term, draft.text, 0) if term else None
    if place is None:
        return term, None
    return draft.text[place[0] : place[1]], Span(start=place[0], end=place[1])
