"""Step 1 of the patch: the proposals of Stage1's validator."""

from collections.abc import Iterable

from episodic_absa.schemas.absa import Proposal
from episodic_absa.seed.patch.patch_draft import INVERSE_POLARITY, PatchDraft


def apply_proposals(draft: PatchDraft, proposals: Iterable[Proposal]) -> None:
    """Apply each proposal that the draft allows, and log every one."""
    for proposal in proposals:
        reason = _apply(draft, proposal)
        draft.record("proposal", proposal.proposal_type, proposal.aspect_term, reason)


def _apply(draft: PatchDraft, proposal: Proposal) -> str:
    match proposal.proposal_type:
        case "FLIP_POLARITY":
            return _flip_polarity(draft, proposal.aspect_term)
        case "DROP_ASPECT":
            return draft.drop_aspect(proposal.aspect_term)
        case "REVISE_SPAN":
            return draft.revise_span(proposal.aspect_term, proposal.revised_span)
        case "CHECK_SPAN":
            return draft.repair_span(proposal.aspect_term)


def _flip_polarity(draft: PatchDraft, term: str) -> str:
    position = draft.find_sentiment(term)
    if position is None:
        return "no_matching_sentiment"
    flipped = INVERSE_POLARITY.get(draft.sentiments[position].polarity or "neutral")
    if flipped is None:
        return "neutral_or_missing_polarity"
    draft.set_polarity(position, flipped)
    return ""
