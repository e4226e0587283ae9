"""The check of a grid's question: it was fixed before the first sample, and every cell belongs to it."""

from collections.abc import Iterator, Sequence

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.fixed_question import uids_sha256
from episodic_absa.runs.question import NO_QUESTION, QUESTION, load_question
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.serialization.sealed_json import seal_state
from episodic_absa.verification.checks.findings import Findings, NotApplicableError


def check_question_kept(cells: Sequence[CellFiles]) -> Findings:
    """The question stands as it was before the first sample; every condition, order and seed is asked or added."""
    # A cell in which nothing succeeded may be older than the question: it is run again.
    used = [cell for cell in cells if cell.cards]
    if not used:
        raise NotApplicableError("no sample succeeded")
    try:
        question = load_question(used[0].path.parent)
    except RunDirectoryError as error:
        yield str(error)
        return
    if question is None:
        if all(cell.known_manifest.question_sha256 is None for cell in used):
            raise NotApplicableError(f"{NO_QUESTION}: the grid has no {QUESTION}")
        yield f"{QUESTION} is missing, though the cells name a question; restore it"
        return
    is_whole = seal_state((used[0].path.parent / QUESTION).read_bytes()) == "whole"
    yield None if is_whole else f"{QUESTION} was changed after it was written; restore it"
    evaluated = [cell for cell in used if not cell.known_manifest.is_build]
    yield from _samples(evaluated, question)
    for cell in used:
        is_same = cell.known_manifest.question_sha256 == question.asked.sha256
        yield None if is_same else f"{cell.path.name} was run under another question than {QUESTION} holds"
    for cell in evaluated:
        unknown = ", ".join(_unknown_parts(cell, question))
        yield f"{cell.path.name}: {unknown} is neither asked nor added in {QUESTION}" if unknown else None


def _unknown_parts(cell: CellFiles, question: Question) -> Iterator[str]:
    asked, added, manifest = question.asked, question.added_together, cell.known_manifest
    if manifest.condition.name not in (*asked.conditions, *added.conditions):
        yield f"the condition {manifest.condition.name}"
    if manifest.seed not in (*asked.seeds, *added.seeds):
        yield f"seed {manifest.seed}"
    order = manifest.order
    if order not in (*asked.orders, *added.orders):
        yield f"order {order}"


def _samples(cells: Sequence[CellFiles], question: Question) -> Findings:
    """Yield whether the asked cells hold the asked reviews, once all of them are finished."""
    asked = question.asked
    due = [
        cell
        for cell in cells
        if cell.known_manifest.condition.name in asked.conditions
        and cell.known_manifest.seed in asked.seeds
        and cell.known_manifest.order in asked.orders
    ]
    known = {(cell.known_manifest.seed, cell.known_manifest.order) for cell in due}
    if {seed for seed, _ in known} < set(asked.seeds) or not all(cell.known_manifest.completed for cell in due):
        return
    uids = sorted({card.uid for cell in due for card in cell.scorecards})
    is_same = (len(uids), uids_sha256(uids)) == (asked.sample_n, asked.uids_sha256)
    yield None if is_same else f"the asked cells hold {len(uids)} reviews; {QUESTION} asks for other {asked.sample_n}"
