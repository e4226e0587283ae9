"""The section "Patch and override": the changes that took effect, and the override gate with its numbers."""

from collections.abc import Iterable

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import aspect_text, polarity_text
from episodic_absa.cli.analyze.explanation.reason_words import override_words
from episodic_absa.cli.analyze.explanation.row_layout import Row, joined, row_list
from episodic_absa.cli.output import yes_no
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.run_files.adoption import OverrideDecision, PatchLogEntry


def patch_rows(result: SampleResult) -> Iterable[Row]:
    """Yield the patch log and the decisions of the override gate; nothing under rules v3, which weigh candidates."""
    if result.decision is not None:
        return
    yield "patch", row_list(map(_log_entry, result.patch_log), nothing="nothing to apply")
    decisions = result.override_decisions
    yield "override", row_list(map(_decision, decisions))
    if decisions:
        limits = decisions[0].thresholds
        l3 = "bars it" if limits.l3_conservative else "does not matter"
        needs = f"weight {limits.min_total:g} and margin {limits.min_margin:g}; an L3 risk {l3}"
        yield "  needs", Text(needs, style="dim")
    if result.override.applied:
        success, harm = yes_no(result.override.success), yes_no(result.override.harm, alarm=True)
        yield "  outcome", Text.assemble("success ", success, ", harm ", harm)


def _log_entry(entry: PatchLogEntry) -> tuple[Text, ...]:
    mark = Text("✓", style="bold green") if entry.applied else Text("✗", style="red")
    reason = joined(Text(entry.change_id or "", style="dim"), Text(entry.reason))
    return mark, Text(entry.step), Text(entry.what), aspect_text(entry.aspect_term), reason


def _decision(decision: OverrideDecision) -> tuple[Text, ...]:
    outcome = Text("APPLY", style="bold green")
    if decision.decision == "SKIP":
        outcome = Text.assemble(f"SKIP {decision.reason}", (f" ({override_words(decision)})", "dim"))
    numbers = f"+{decision.pos:g} -{decision.neg:g}, total {decision.total:g}, margin {decision.margin:g}"
    return aspect_text(decision.aspect), polarity_text(decision.target), Text("\n").join([Text(numbers), outcome])
