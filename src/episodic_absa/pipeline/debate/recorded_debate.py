"""The debate as records hold it: claims written as edits of Stage1's pairs."""

from collections.abc import Sequence

from episodic_absa.language import read_label
from episodic_absa.pipeline.decision.claims import Claim, Ruling
from episodic_absa.schemas.absa import DebateSummary, DebateTurn, EditTarget, PatchEdit, ProposedEdit
from episodic_absa.schemas.answers import DecisionsAnswer
from episodic_absa.vocabulary import EditOp, Speaker


def recorded_turn(speaker: Speaker, claims: Sequence[Claim], stage1_terms: Sequence[str]) -> DebateTurn:
    """Return a turn as records hold it."""
    return DebateTurn(
        agent=speaker,
        proposed_edits=tuple(
            ProposedEdit(
                op=_op(claim), target=_target(claim, stage1_terms), value=_value(claim), evidence=claim.quote or None
            )
            for claim in claims
        ),
    )


def recorded_summary(answer: DecisionsAnswer, ruling: Ruling, text: str) -> DebateSummary:
    """Return the judge's settlement as records hold it; quotes that the text does not hold are left out."""
    spans = (quote for quote in dict.fromkeys(answer.label_quotes) if quote and quote in text)
    return DebateSummary(
        final_patch=tuple(
            PatchEdit(op=_op(claim), target=_target(claim, (claim.term,)), value=_value(claim))
            for claim in ruling.claims
        ),
        sentence_polarity=read_label(answer.label),
        sentence_evidence_spans=tuple(spans),
        aspect_evidence=dict(ruling.quotes),
    )


def _op(claim: Claim) -> EditOp:
    if claim.is_target is False:
        return "drop_tuple"
    return "set_polarity" if claim.asks_for_change else "confirm_tuple"


def _target(claim: Claim, stage1_terms: Sequence[str]) -> EditTarget:
    is_new = claim.term not in stage1_terms
    return EditTarget(aspect_ref=claim.term, aspect_term=claim.term if is_new else None, polarity=claim.of_polarity)


def _value(claim: Claim) -> str | None:
    return claim.polarity if claim.asks_for_change and claim.is_target is not False else None
