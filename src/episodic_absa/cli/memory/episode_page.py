"""The page of `memory show`: one episode in full."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group, RenderableType
from rich.constrain import Constrain
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.memory.episode_words import (
    POLARITY_STYLE,
    arrow_text,
    outcome_text,
    risk_change_text,
    risk_text,
    yes_no,
)
from episodic_absa.cli.output import PAGE_WIDTH, printable
from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.schemas.memory_v1_1 import CorrectionV1_1, SnapshotV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, VerdictV1_3

_BY: Final[Mapping[str, str]] = {
    "agent": "the agent that remembered it",
    "person": "a person",
    "reader": "the reader",
    "referee": "the referee",
    "risk": "the risks before and after",
}
_CONFLICTS: Final = {True: "resolved", False: "left unresolved", None: "none in stage1"}


def episode_page(episode: EpisodicMemoryEntryV1_3, verdicts: Sequence[VerdictV1_3] = ()) -> ConsoleRenderable:
    """Lay out one episode in panels.

    Args:
        episode: as people judged it.
        verdicts: what they said about its review.
    """
    head = Text.assemble(
        (episode.episode_id, "bold"),
        "  ",
        outcome_text(episode.outcome.value),
        "  ",
        episode.action_taken,
        "  ",
        risk_change_text(episode.evaluation),
    )
    page = Group(
        head,
        _panel("Case", _case(episode)),
        _panel("Before and after", _before_and_after(episode)),
        _panel("Outcome", _outcome(episode, verdicts)),
        _panel("Evaluation", _evaluation(episode)),
        _panel(f"Principle {printable(episode.correction.principle_id)}", _principle(episode.correction)),
        _panel("Provenance", _provenance(episode)),
    )
    return Constrain(page, PAGE_WIDTH)


def _case(episode: EpisodicMemoryEntryV1_3) -> RenderableType:
    signature, summary = episode.input_signature, episode.case_summary
    shape = f"{signature.length_bucket}, {signature.num_aspects} aspect{'' if signature.num_aspects == 1 else 's'}"
    structure = ", ".join(signature.detected_structure)
    if signature.contrast_marker is not None:
        structure += f" (marker {printable(signature.contrast_marker)})"
    return _fields(
        ("language", signature.language),
        ("structure", structure),
        ("shape", shape),
        ("target", printable(summary.target_aspect_type)),
        ("symptom", printable(summary.symptom)),
        ("rationale", printable(summary.rationale_summary)),
        ("category", ", ".join(episode.error_category)),
        ("risk type", episode.risk_type or Text("none", style="dim")),
    )


def _before_and_after(episode: EpisodicMemoryEntryV1_3) -> RenderableType:
    if episode.stage_snapshot is None:
        return Text("nothing was judged: the case is a situation of an agent", style="dim")
    before, after = episode.stage_snapshot.stage1, episode.stage_snapshot.final
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("aspect", overflow="fold")
    table.add_column("stage1", overflow="fold")
    table.add_column("final", overflow="fold")
    terms = (*before.aspects_norm, *before.polarities, *after.aspects_norm, *after.polarities)
    for term in dict.fromkeys(terms):
        name = Text(printable(term)) if term else Text("(implicit)", style="dim")
        table.add_row(name, _polarity(before, term), _polarity(after, term))
    if terms:
        table.add_section()
    table.add_row(Text("confidence", style="cyan"), f"{before.confidence:.2f}", f"{after.confidence:.2f}")
    evaluation = episode.evaluation
    table.add_row(Text("risk", style="cyan"), risk_text(evaluation.risk_before), risk_text(evaluation.risk_after))
    return table


def _polarity(snapshot: SnapshotV1_1, term: str) -> Text:
    polarity = snapshot.polarities.get(term)
    if polarity is not None:
        return Text(polarity, style=POLARITY_STYLE[polarity])
    return Text("no sentiment" if term in snapshot.aspects_norm else "absent", style="dim")


def _outcome(episode: EpisodicMemoryEntryV1_3, verdicts: Sequence[VerdictV1_3]) -> RenderableType:
    by = Text(f" by {_BY[episode.outcome.by]}", style="dim")
    rows: list[tuple[str, RenderableType]] = [("outcome", outcome_text(episode.outcome.value).append(by))]
    rows += [("change", f"{change.kind}, {'adopted' if change.adopted else 'refused'}") for change in episode.changes]
    for verdict in verdicts:
        about = "the whole result" if verdict.aspect is None else f"target {printable(verdict.aspect)}"
        rows.append(("person", f"{verdict.verdict} ({about})"))
    return _fields(*rows)


def _evaluation(episode: EpisodicMemoryEntryV1_3) -> RenderableType:
    evaluation, delta = episode.evaluation, episode.outcome_delta
    override = Text("none applied", style="dim")
    if evaluation.override_applied:
        success, harm = yes_no(evaluation.override_success), yes_no(evaluation.override_harm, alarm=True)
        override = Text.assemble("applied; success ", success, ", harm ", harm)
    has_failed = failed(episode)
    advice = "  (OPFB withholds advice that led to this failure)" if has_failed else ""
    return _fields(
        ("risk change", Text.assemble(f"{delta.delta_risk:+d} " if delta.delta_risk else "0 ", arrow_text(evaluation))),
        ("override", override),
        ("conflict", _CONFLICTS[delta.conflict_resolved]),
        ("failed", Text.assemble(yes_no(has_failed, alarm=True), (advice, "dim"))),
    )


def _principle(correction: CorrectionV1_1) -> RenderableType:
    principle = load_catalogue().get(correction.principle_id)
    applies = ("applies to", printable("; ".join(correction.applicable_conditions)))
    if principle is None:
        return _fields(
            ("stored text", printable(correction.corrective_principle)),
            ("avoid", printable(correction.anti_pattern or "")),
            applies,
            ("remark", Text("the present catalogue has no such principle", style="yellow")),
        )
    return _fields(
        ("English", principle.text_en),
        ("avoid", principle.anti_pattern_en or ""),
        ("한국어", principle.text_ko),
        ("피할 것", principle.anti_pattern_ko or ""),
        ("expects", "a change of the result" if principle.expects == "change" else "the result to hold"),
        applies,
    )


def _provenance(episode: EpisodicMemoryEntryV1_3) -> RenderableType:
    provenance = episode.provenance
    return _fields(
        ("source", printable(provenance.source_id)),
        ("split", f"{provenance.created_from_split}{', used in evaluation' if provenance.used_in_eval else ''}"),
        ("sample", f"{provenance.sample_index} (seed {provenance.seed})"),
        ("schema", f"{episode.schema_version}, without gold"),
    )


def _panel(title: str, content: RenderableType) -> Panel:
    return Panel(content, title=Text(title, style="bold"), title_align="left", border_style="dim", box=box.ROUNDED)


def _fields(*rows: tuple[str, RenderableType]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True, min_width=11)
    table.add_column(overflow="fold", ratio=1)
    for name, value in rows:
        if value != "":
            table.add_row(name, value)
    return table
