"""Checks of a cell's results: adoption chooses the tuples, labels agree with pairs, terms stand in the text."""

from collections.abc import Mapping
from typing import Final

from episodic_absa.final_tuples import is_sure_of_label, label_of_pairs
from episodic_absa.language import occurs
from episodic_absa.pipeline.decision.pair_label import whole_text_label
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.absa import DebateSummary
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.verification.checks.findings import Check, Findings
from episodic_absa.vocabulary import SentenceLabel


def check_selected_stage(cell: CellFiles) -> Findings:
    """The final tuples are those of Stage2 if they were adopted, else those of Stage1, and the moderator says so."""
    for uid, card in cell.cards.items():
        recorded = card.moderator.selected_stage if card.moderator else None
        meant = "stage2" if card.adoption and card.adoption.adopt else "stage1"
        tuples = card.stage2_tuples if meant == "stage2" else card.stage1_tuples
        if recorded != meant:
            yield f"{uid}: selected_stage is {recorded}, adoption says {meant}"
        else:
            yield None if card.final_tuples == tuples else f"{uid}: the final tuples are not those of {meant}"


def check_label_agrees(cell: CellFiles) -> Findings:
    """Under rules v3 a label agrees with the pairs beside it; only where all are unsure may quoted words decide it.

    Without pairs it is the label of the whole text, else neutral. Seed rules promise neither.
    """
    for output in cell.outputs:
        final = output.final_result
        if output.changes is None or final is None:
            continue
        meant = label_of_pairs(final.final_tuples)
        summary = output.debate.summary if output.debate else DebateSummary()
        if meant is None:
            meant = _label_without_pairs(output, summary)
            yield None if meant == final.label else f"{output.uid}: its label is {final.label}, without pairs {meant}"
            continue
        is_quoted = bool(summary.sentence_evidence_spans) and summary.sentence_polarity == final.label
        holds = meant == final.label or (is_quoted and not is_sure_of_label(final.final_tuples))
        yield None if holds else f"{output.uid}: its label is {final.label}, its pairs say {meant}"


def check_terms_in_text(cell: CellFiles) -> Findings:
    """Every explicit final term occurs in the text."""
    for uid, card in cell.cards.items():
        for place, final_tuple in enumerate(card.final_tuples, start=1):
            if final_tuple.aspect_term:
                is_there = occurs(final_tuple.aspect_term, cell.texts[uid])
                yield None if is_there else f"{uid}: final term {place} is not in the text"


RESULT_CHECKS: Final[Mapping[str, Check]] = {
    "selected_stage": check_selected_stage,
    "label_agrees": check_label_agrees,
    "terms_in_text": check_terms_in_text,
}


def _label_without_pairs(output: OutputLine, summary: DebateSummary) -> SentenceLabel:
    stages = [stage.validator for stage in (output.stage2, output.stage1) if stage is not None]
    whole_text = whole_text_label(summary, *stages)
    return "neutral" if whole_text is None else whole_text.label
