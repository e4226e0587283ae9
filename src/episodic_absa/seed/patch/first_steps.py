"""Steps 1 to 3 of the patch: the validator's proposals, then Stage2's verdicts on aspects and on sentiments."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from episodic_absa.language import nearest_occurrence, norm
from episodic_absa.schemas.absa import AspectItem, AspectVerdict, Proposal, SentimentItem, SentimentVerdict, Span
from episodic_absa.seed.answer_processing import match_aspect
from episodic_absa.seed.patch.patch_draft import INVERSE_POLARITY, REVISED_CONFIDENCE, PatchDraft
from episodic_absa.vocabulary import Polarity


def apply_proposals(draft: PatchDraft, proposals: Iterable[Proposal]) -> None:
    """Apply each proposal that the draft allows, and log every one."""
    for proposal in proposals:
        reason = _apply_proposal(draft, proposal)
        draft.record("proposal", proposal.proposal_type, proposal.aspect_term, reason)


def _apply_proposal(draft: PatchDraft, proposal: Proposal) -> str:
    match proposal.proposal_type:
        case "FLIP_POLARITY":
            return _flip_proposed(draft, proposal.aspect_term)
        case "DROP_ASPECT":
            return draft.drop_aspect(proposal.aspect_term)
        case "REVISE_SPAN":
            return draft.revise_span(proposal.aspect_term, proposal.revised_span)
        case "CHECK_SPAN":
            return draft.repair_span(proposal.aspect_term)


def _flip_proposed(draft: PatchDraft, term: str) -> str:
    position = draft.find_sentiment(term)
    if position is None:
        return "no_matching_sentiment"
    flipped = INVERSE_POLARITY.get(draft.sentiments[position].polarity or "neutral")
    if flipped is None:
        return "neutral_or_missing_polarity"
    draft.set_polarity(position, flipped)
    return ""


_ADDED_ASPECT_CONFIDENCE: Final = 0.8


def apply_ate_verdicts(draft: PatchDraft, verdicts: Iterable[AspectVerdict]) -> None:
    """Apply each verdict that the draft allows, and log every one that is not `keep`."""
    for verdict in verdicts:
        if verdict.action != "keep":
            reason = _apply_ate_verdict(draft, verdict)
            draft.record("ate_review", verdict.action, verdict.aspect_term, reason, change_id=verdict.change_id)


def _apply_ate_verdict(draft: PatchDraft, verdict: AspectVerdict) -> str:
    if verdict.action == "revise_span":
        return draft.revise_span(verdict.aspect_term, verdict.revised_span)
    if verdict.action == "drop":
        return draft.drop_aspect(verdict.aspect_term)
    return _add_aspect(draft, verdict)


def _add_aspect(draft: PatchDraft, verdict: AspectVerdict) -> str:
    start = verdict.revised_span.start if verdict.revised_span else 0
    place = nearest_occurrence(verdict.aspect_term, draft.text, start)
    if place is None:
        return "term_not_in_text"
    if draft.find_aspect(verdict.aspect_term) is not None:
        return "already_there"
    draft.aspects.append(
        AspectItem(
            aspect_term=draft.text[place[0] : place[1]],
            span=Span(start=place[0], end=place[1]),
            confidence=_ADDED_ASPECT_CONFIDENCE,
            rationale=verdict.reason,
        )
    )
    return ""


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
            effect = _apply_atsa_verdict(draft, verdict)
            draft.record(
                "atsa_review",
                verdict.action,
                effect.aspect_term,
                effect.reason,
                change_id=verdict.change_id,
                polarity=effect.polarity,
            )


def _apply_atsa_verdict(draft: PatchDraft, verdict: SentimentVerdict) -> _Effect:
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
