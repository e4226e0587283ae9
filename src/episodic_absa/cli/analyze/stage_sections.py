"""The sections of `analyze --explain` about Stage1, the debate, Stage2, and the patch with its override gate."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.text import Text

from episodic_absa.agents.sample_result import SampleResult
from episodic_absa.agents.stage2.override_gate import OverrideDecision
from episodic_absa.cli.analyze.analysis_view import BACKFILLED, aspect_text, polarity_text, shown_text
from episodic_absa.cli.analyze.explanation_parts import (
    Row,
    critic_text,
    joined,
    listed,
    number_text,
    place_text,
    plain_text,
    quotation,
    risk_list,
    span_text,
)
from episodic_absa.cli.analyze.reason_words import override_words
from episodic_absa.cli.memory.episode_words import yes_no
from episodic_absa.schemas.absa import (
    AspectItem,
    AspectVerdict,
    DebateSummary,
    EditTarget,
    Proposal,
    ProposedEdit,
    SentimentItem,
    SentimentVerdict,
    Stage2Result,
)
from episodic_absa.schemas.patch_log import PatchLogEntry


def stage1_rows(result: SampleResult) -> Iterable[Row]:
    """Tell what the first analysis found, refused and suspected."""
    ate, validator, text = result.stage1.ate, result.stage1.validator, result.sample.text
    yield "aspects", listed(map(_aspect, ate.aspects))
    if ate.span_repaired:
        yield "spans", Text(f"{ate.span_repaired} repaired")
    yield "sentiments", listed(_sentiment(item, text) for item in result.stage1.atsa.sentiments)
    if result.unmatched_sentiments:
        yield "unmatched", plain_text(", ".join(result.unmatched_sentiments))
    yield "drops", listed((aspect_text(drop.aspect_term), Text(drop.drop_reason)) for drop in ate.drops)
    yield "risks", risk_list(validator.structural_risks, text)
    yield "proposals", listed(_proposal(one, text) for one in validator.correction_proposals)
    yield "critic", critic_text(validator)


def _aspect(item: AspectItem) -> tuple[Text, ...]:
    origin = Text("(guessed)" if item.origin == "second_aspect_guess" else "", style="dim")
    told = joined(origin, plain_text(item.rationale))
    return aspect_text(item.aspect_term), place_text(item.span), number_text(item.confidence), told


def _sentiment(item: SentimentItem, text: str) -> tuple[Text, ...]:
    evidence = Text(BACKFILLED, style="dim") if item.is_backfilled else quotation(item.evidence, text)
    return aspect_text(item.aspect_term), polarity_text(item.polarity), number_text(item.confidence), evidence


def _proposal(proposal: Proposal, text: str) -> tuple[Text, ...]:
    told = joined(span_text(proposal.revised_span, text), plain_text(proposal.rationale))
    return Text(proposal.proposal_type), aspect_text(proposal.aspect_term), told


def debate_rows(result: SampleResult) -> Iterable[Row]:
    """Tell who wanted which edit on what evidence, and how the judge settled it."""
    if result.debate is None:
        yield "debate", Text("switched off", style="dim")
        return
    text, several = result.sample.text, len(result.debate.rounds) > 1
    for one in result.debate.rounds:
        for turn in one.turns:
            name = f"{turn.agent.upper()}, round {one.round_index}" if several else turn.agent.upper()
            yield name, listed((_edit(edit, text) for edit in turn.proposed_edits), nothing="no edit")
    yield from _settlement(result.debate.summary, text)
    stats, reasons = result.review_context.mapping_stats, result.review_context.mapping_fail_reasons
    if reasons:
        yield "mapping", Text(f"{_counts(stats)} ({_counts(reasons)})")
    if result.hint_counts.invalid_n:
        yield "hints", Text(f"{result.hint_counts.invalid_n} unreadable of {sum(result.hint_counts)}")


def _edit(edit: ProposedEdit, text: str) -> tuple[Text, ...]:
    confidence = Text("") if edit.confidence is None else number_text(edit.confidence)
    told = joined(_target(edit.target, edit.value), quotation(edit.evidence or "", text))
    return Text(edit.op), confidence, told


def _target(target: EditTarget, value: str | None) -> Text:
    told = aspect_text(target.aspect_ref)
    if target.aspect_term not in (None, target.aspect_ref):
        told = Text.assemble(told, " as ", aspect_text(target.aspect_term or ""))
    if target.polarity:
        told = Text.assemble(told, " ", polarity_text(target.polarity))
    return Text.assemble(told, " → ", polarity_text(value)) if value else told


def _settlement(summary: DebateSummary, text: str) -> Iterable[Row]:
    edits = ((Text(one.op), _target(one.target, one.value)) for one in summary.final_patch)
    yield "judge", listed(edits, nothing="no edit")
    tuples = (
        (
            aspect_text(one.aspect_term),
            polarity_text(one.polarity),
            quotation(summary.aspect_evidence.get(one.aspect_ref or one.aspect_term, ""), text),
        )
        for one in summary.final_tuples
    )
    yield "  tuples", listed(tuples)
    label = polarity_text(summary.sentence_polarity) if summary.sentence_polarity else Text("no label", style="dim")
    yield "  sentence", joined(label, *(quotation(words, text) for words in summary.sentence_evidence_spans))
    if summary.unresolved_conflicts:
        yield "  unresolved", plain_text("; ".join(summary.unresolved_conflicts))
    if summary.rationale:
        yield "  rationale", plain_text(summary.rationale)


def stage2_rows(result: SampleResult) -> Iterable[Row]:
    """Tell what the review kept and changed, and what risk it leaves."""
    stage2, text = result.stage2, result.sample.text
    if stage2 is None or not any(call.stage == "stage2" for call in result.calls):
        yield "stage2", Text("switched off", style="dim")
        return
    yield "aspects", listed(_review(one, stage2, text) for one in stage2.ate_reviews)
    yield "sentiments", listed(_review(one, stage2, text) for one in stage2.atsa_reviews)
    if stage2.validator.resolved_risk_ids:
        yield "resolved", Text(", ".join(stage2.validator.resolved_risk_ids), style="green")
    yield "risks left", risk_list(stage2.validator.structural_risks, text)
    yield "critic", critic_text(stage2.validator)


def _review(review: AspectVerdict | SentimentVerdict, stage2: Stage2Result, text: str) -> tuple[Text, ...]:
    action = Text(review.action)
    if isinstance(review, SentimentVerdict) and review.revised_polarity:
        action = Text.assemble(action, " → ", polarity_text(review.revised_polarity))
    if isinstance(review, AspectVerdict) and review.revised_span:
        action = Text.assemble(action, " → ", span_text(review.revised_span, text))
    told = joined(_fate(review.change_id, stage2), action, plain_text(review.reason))
    return Text(review.change_id, style="dim"), aspect_text(review.aspect_term), told


def _fate(change_id: str, stage2: Stage2Result) -> Text:
    """Say whether a change stands in the final result; a review that keeps has no fate."""
    if any(change.change_id == change_id for change in stage2.accepted_changes):
        return Text("✓", style="bold green")
    rejected = next((change for change in stage2.rejected_changes if change.change_id == change_id), None)
    if rejected is None:
        return Text("")
    _, _, code = rejected.reasoning.rpartition(" | not applied: ")
    return Text(f"✗ {shown_text(code)}", style="red")


def patch_rows(result: SampleResult) -> Iterable[Row]:
    """Tell which changes took effect, and how the override gate decided with which numbers."""
    yield "patch", listed(map(_patched, result.patch_log), nothing="nothing to apply")
    decisions = result.override_decisions
    yield "override", listed(map(_decision, decisions))
    if decisions:
        limits = decisions[0].thresholds
        l3 = "bars it" if limits.l3_conservative else "does not matter"
        needs = f"weight {limits.min_total:g} and margin {limits.min_margin:g}; an L3 risk {l3}"
        yield "  needs", Text(needs, style="dim")
    if result.override.applied:
        success, harm = yes_no(result.override.success), yes_no(result.override.harm, alarm=True)
        yield "  outcome", Text.assemble("success ", success, ", harm ", harm)


def _patched(entry: PatchLogEntry) -> tuple[Text, ...]:
    mark = Text("✓", style="bold green") if entry.applied else Text("✗", style="red")
    told = joined(Text(entry.change_id or "", style="dim"), Text(entry.reason))
    return mark, Text(entry.step), Text(entry.what), aspect_text(entry.aspect_term), told


def _decision(decision: OverrideDecision) -> tuple[Text, ...]:
    outcome = Text("APPLY", style="bold green")
    if decision.decision == "SKIP":
        outcome = Text.assemble(f"SKIP {decision.reason}", (f" ({override_words(decision)})", "dim"))
    numbers = f"+{decision.pos:g} -{decision.neg:g}, total {decision.total:g}, margin {decision.margin:g}"
    return aspect_text(decision.aspect), polarity_text(decision.target), Text("\n").join([Text(numbers), outcome])


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
