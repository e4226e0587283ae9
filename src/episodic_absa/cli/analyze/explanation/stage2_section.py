"""The section "Stage2": the verdict on each aspect and sentiment, and the risk that remains."""

from collections.abc import Iterable

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import aspect_text, polarity_text, shown_text
from episodic_absa.cli.analyze.explanation.row_layout import (
    Row,
    joined,
    plain_text,
    risk_list,
    row_list,
    span_text,
    validator_text,
)
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import AspectVerdict, SentimentVerdict, Stage2Result


def stage2_rows(result: SampleResult) -> Iterable[Row]:
    """Yield Stage2's verdicts, the risks it resolved, and those that remain."""
    stage2, text = result.stage2, result.sample.text
    if stage2 is None or not any(call.stage == "stage2" for call in result.calls):
        yield "stage2", Text("not asked", style="dim")
        return
    # Under rules v3 nothing refers to the id of a verdict: the section "Candidates" tells what became of a pair.
    show_id = result.decision is None
    yield "aspects", row_list(_verdict(verdict, stage2, text, show_id=show_id) for verdict in stage2.ate_reviews)
    yield "sentiments", row_list(_verdict(verdict, stage2, text, show_id=show_id) for verdict in stage2.atsa_reviews)
    if stage2.validator.resolved_risk_ids:
        yield "resolved", Text(", ".join(stage2.validator.resolved_risk_ids), style="green")
    yield "risks left", risk_list(stage2.validator.structural_risks, text)
    if any(call.agent == "stage2_validator" for call in result.calls):
        yield "validator", validator_text(stage2.validator)
    else:
        yield "validator", Text("not asked", style="dim")


def _verdict(
    verdict: AspectVerdict | SentimentVerdict, stage2: Stage2Result, text: str, *, show_id: bool
) -> tuple[Text, ...]:
    action = Text(verdict.action)
    if isinstance(verdict, SentimentVerdict) and verdict.revised_polarity:
        action = Text.assemble(action, " → ", polarity_text(verdict.revised_polarity))
    if isinstance(verdict, AspectVerdict) and verdict.revised_span:
        action = Text.assemble(action, " → ", span_text(verdict.revised_span, text))
    accepted = _acceptance(verdict.change_id, stage2) if show_id else Text("")
    outcome = joined(accepted, action, plain_text(verdict.reason))
    row = (aspect_text(verdict.aspect_term), outcome)
    return (Text(verdict.change_id, style="dim"), *row) if show_id else row


def _acceptance(change_id: str, stage2: Stage2Result) -> Text:
    """Return ✓ for an applied change, ✗ with its reason for a rejected one, "" for a verdict that changes nothing."""
    if any(change.change_id == change_id for change in stage2.accepted_changes):
        return Text("✓", style="bold green")
    rejected = next((change for change in stage2.rejected_changes if change.change_id == change_id), None)
    if rejected is None:
        return Text("")
    _, _, code = rejected.reasoning.rpartition(" | not applied: ")
    return Text(f"✗ {shown_text(code)}", style="red")
