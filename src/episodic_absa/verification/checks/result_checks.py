"""Checks of a cell's results: adoption chooses the tuples, labels agree with pairs, terms stand in the text."""

from collections.abc import Iterable, Mapping
from typing import Final

from episodic_absa.final_tuples import label_of_pairs
from episodic_absa.language import occurs
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.verification.checks.findings import Check, Findings


def check_selected_stage(cell: CellFiles) -> Findings:
    """The final tuples are those of Stage2 if they were adopted, else those of Stage1, and the moderator says so."""
    for uid, card in cell.cards.items():
        recorded = card.moderator.selected_stage if card.moderator else None
        meant = "stage2" if card.adoption and card.adoption.adopt else "stage1"
        tuples = card.stage2_tuples if meant == "stage2" else card.stage1_tuples
        if recorded != meant:
            yield f"{uid}: selected_stage is {recorded}, adoption says {meant}"
        else:
            # Under rules v3 a pair that stays has the probability of the decision.
            is_same = _unweighed(card.final_tuples) == _unweighed(tuples)
            yield None if is_same else f"{uid}: the final tuples are not those of {meant}"


def check_label_agrees(cell: CellFiles) -> Findings:
    """Under rules v3 a label agrees with the pairs beside it; seed rules do not promise that."""
    for output in cell.outputs:
        final = output.final_result
        if output.decision is None or final is None:
            continue
        meant = label_of_pairs(final.final_tuples)
        holds = meant in (None, final.label)
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


def _unweighed(tuples: Iterable[FinalTuple]) -> list[FinalTuple]:
    return [final_tuple.model_copy(update={"confidence": 0.0}) for final_tuple in tuples]
