"""Step 2 of the patch: Stage2's verdicts on aspects."""

from collections.abc import Iterable
from typing import Final

from episodic_absa.language import nearest_occurrence
from episodic_absa.schemas.absa import AspectItem, AspectVerdict, Span
from episodic_absa.seed.patch.patch_draft import PatchDraft

_ADDED_ASPECT_CONFIDENCE: Final = 0.8


def apply_ate_verdicts(draft: PatchDraft, verdicts: Iterable[AspectVerdict]) -> None:
    """Apply each verdict that the draft allows, and log every one that is not `keep`."""
    for verdict in verdicts:
        if verdict.action != "keep":
            reason = _apply(draft, verdict)
            draft.record("ate_review", verdict.action, verdict.aspect_term, reason, change_id=verdict.change_id)


def _apply(draft: PatchDraft, verdict: AspectVerdict) -> str:
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
