"""The section "Debate": the edits of each speaker with their evidence, and how the judge settled them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import aspect_text, polarity_text
from episodic_absa.cli.analyze.explanation.row_layout import Row, joined, number_text, plain_text, quotation, row_list
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import DebateSummary, EditTarget, ProposedEdit
from episodic_absa.vocabulary import Reach

_REACH_WORDS: Final[dict[Reach, str]] = {
    "reader": "the reader alone: none of its pairs is in doubt",
    "stage1": "Stage1: after it no pair is in doubt",
    "full": "everybody: a pair is in doubt",
}


def debate_rows(result: SampleResult) -> Iterable[Row]:
    """Yield the turns of the debate, the judge's settlement, and what could not be mapped."""
    reach = None if result.decision is None else result.decision.reach
    if reach is not None:
        yield "asked", Text(_REACH_WORDS[reach])
    if result.debate is None:
        yield "debate", Text("switched off" if reach is None else "not asked", style="dim")
        return
    text, has_rounds = result.sample.text, len(result.debate.rounds) > 1
    for debate_round in result.debate.rounds:
        for turn in debate_round.turns:
            speaker = turn.agent.upper()
            name = f"{speaker}, round {debate_round.round_index}" if has_rounds else speaker
            yield name, row_list((_edit(edit, text) for edit in turn.proposed_edits), nothing="no edit")
    yield from _settlement(result.debate.summary, text)
    mapping = result.debate_mapping
    if mapping is not None and mapping.mapping_fail_reasons:
        yield "mapping", Text(f"{_counts(mapping.mapping_stats)} ({_counts(mapping.mapping_fail_reasons)})")
    if mapping is not None and mapping.hint_invalid_n:
        yield "hints", Text(f"{mapping.hint_invalid_n} unreadable of {mapping.hint_valid_n + mapping.hint_invalid_n}")


def _edit(edit: ProposedEdit, text: str) -> tuple[Text, ...]:
    confidence = Text("") if edit.confidence is None else number_text(edit.confidence)
    change = joined(_target(edit.target, edit.value), quotation(edit.evidence or "", text))
    return Text(edit.op), confidence, change


def _target(target: EditTarget, value: str | None) -> Text:
    words = aspect_text(target.aspect_ref)
    if target.aspect_term not in (None, target.aspect_ref):
        words = Text.assemble(words, " as ", aspect_text(target.aspect_term or ""))
    if target.polarity:
        words = Text.assemble(words, " ", polarity_text(target.polarity))
    return Text.assemble(words, " → ", polarity_text(value)) if value else words


def _settlement(summary: DebateSummary, text: str) -> Iterable[Row]:
    edits = ((Text(edit.op), _target(edit.target, edit.value)) for edit in summary.final_patch)
    yield "judge", row_list(edits, nothing="no edit")
    tuples = (
        (
            aspect_text(item.aspect_term),
            polarity_text(item.polarity),
            quotation(summary.aspect_evidence.get(item.aspect_ref or item.aspect_term, ""), text),
        )
        for item in summary.final_tuples
    )
    yield "  tuples", row_list(tuples)
    label = polarity_text(summary.sentence_polarity) if summary.sentence_polarity else Text("no label", style="dim")
    yield "  sentence", joined(label, *(quotation(words, text) for words in summary.sentence_evidence_spans))
    if summary.unresolved_conflicts:
        yield "  unresolved", plain_text("; ".join(summary.unresolved_conflicts))
    if summary.rationale:
        yield "  rationale", plain_text(summary.rationale)


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
