"""The section "Stage1": aspects, sentiments, drops, risks, proposals, and the validator's view of the whole."""

from collections.abc import Iterable

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import BACKFILLED, aspect_text, polarity_text
from episodic_absa.cli.analyze.explanation.row_layout import (
    Row,
    joined,
    number_text,
    place_text,
    plain_text,
    quotation,
    risk_list,
    row_list,
    span_text,
    validator_text,
)
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import AspectItem, Proposal, SentimentItem


def stage1_rows(result: SampleResult) -> Iterable[Row]:
    """Yield what the first analysis extracted, refused and suspected."""
    ate, validator, text = result.stage1.ate, result.stage1.validator, result.sample.text
    yield "aspects", row_list(map(_aspect, ate.aspects))
    if ate.span_repaired:
        yield "spans", Text(f"{ate.span_repaired} repaired")
    yield "sentiments", row_list(_sentiment(item, text) for item in result.stage1.atsa.sentiments)
    if result.unmatched_sentiments:
        yield "unmatched", plain_text(", ".join(result.unmatched_sentiments))
    yield "drops", row_list((aspect_text(drop.aspect_term), Text(drop.drop_reason)) for drop in ate.drops)
    if not any(call.agent == "validator" for call in result.calls):
        yield "validator", Text("switched off", style="dim")
        return
    yield "risks", risk_list(validator.structural_risks, text)
    yield "proposals", row_list(_proposal(proposal, text) for proposal in validator.correction_proposals)
    yield "validator", validator_text(validator)


def _aspect(item: AspectItem) -> tuple[Text, ...]:
    origin = Text("(guessed)" if item.origin == "second_aspect_guess" else "", style="dim")
    rationale = joined(origin, plain_text(item.rationale))
    return aspect_text(item.aspect_term), place_text(item.span), number_text(item.confidence), rationale


def _sentiment(item: SentimentItem, text: str) -> tuple[Text, ...]:
    evidence = Text(BACKFILLED, style="dim") if item.is_backfilled else quotation(item.evidence, text)
    return aspect_text(item.aspect_term), polarity_text(item.polarity), number_text(item.confidence), evidence


def _proposal(proposal: Proposal, text: str) -> tuple[Text, ...]:
    rationale = joined(span_text(proposal.revised_span, text), plain_text(proposal.rationale))
    return Text(proposal.proposal_type), aspect_text(proposal.aspect_term), rationale
