"""Checks of outcomes under rules v3: who decided them may decide them, and episodes hold what the outputs record."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from episodic_absa.memory.episodes.episode_builder import outcome_of
from episodic_absa.pipeline.decision.changes import PairChange, changes_of
from episodic_absa.pipeline.decision.weights import load_decision_weights
from episodic_absa.pipeline.outcomes.change_outcomes import outcomes_by_reader
from episodic_absa.pipeline.outcomes.referee import referee_question
from episodic_absa.runs.cell_store import episodes_of
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.absa import Stage1Result
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.store.uids import stored_uid
from episodic_absa.verification.checks.findings import Check, Findings, require_changes


def check_outcomes_decided(cell: CellFiles) -> Findings:
    """The reader decides changes as its stance says; the referee only where it was to be asked."""
    require_changes(cell)
    manifest = cell.known_manifest
    may_ask = manifest.condition.store_write and bool(manifest.cfg_canonical["episodic_memory"].get("referee"))
    calls = {uid: sum(call.agent == "referee" for call in trace.calls) for uid, trace in cell.traces_by_uid.items()}
    for output, changes in _judged(cell):
        asked_n = calls.get(output.uid, 0)
        says = {change.candidate.outcome_by for change in changes}
        if not _follows_reader(changes):
            yield f"{output.uid}: an outcome by the reader is not what the reader says"
        elif asked_n > int(may_ask and _has_question(output, changes)) or ("referee" in says and not asked_n):
            yield f"{output.uid}: the referee was asked where it was not to be, or decided without being asked"
        else:
            yield None


def check_outcomes_stored(cell: CellFiles) -> Findings:
    """Each episode of the cell holds the changes that its output records, and its outcome follows from theirs alone."""
    require_changes(cell)
    recorded = {stored_uid(output.uid): changes for output, changes in _judged(cell)}
    for episode in episodes_of(cell.records):
        if episode.provenance.source_id not in recorded:
            continue
        changes = [_outcome(change) for change in recorded[episode.provenance.source_id]]
        held = sorted((change.kind, change.adopted) for change in episode.changes)
        is_same = held == sorted((change.kind, change.adopted) for change in changes)
        holds = is_same and episode.outcome == outcome_of(changes)
        yield None if holds else f"{episode.episode_id}: its outcome is not the one that its output records"


OUTCOME_CHECKS: Final[Mapping[str, Check]] = {
    "outcomes_decided": check_outcomes_decided,
    "outcomes_stored": check_outcomes_stored,
}


def _judged(cell: CellFiles) -> Iterator[tuple[OutputLine, Sequence[PairChange]]]:
    for output in cell.outputs:
        if output.decision is not None:
            yield output, changes_of(output.decision.candidates)


def _has_question(output: OutputLine, changes: Sequence[PairChange]) -> bool:
    if output.stage1 is None or output.decision is None:
        return False
    stage1 = Stage1Result(ate=output.stage1.ate, atsa=output.stage1.atsa)
    return referee_question(stage1, changes, load_decision_weights().named(output.decision.weights)) is not None


def _follows_reader(changes: Sequence[PairChange]) -> bool:
    return all(
        change.candidate.outcome_by == "referee" or (meant.outcome, meant.outcome_by) == _recorded(change)
        for change, meant in zip(changes, outcomes_by_reader(changes), strict=True)
    )


def _recorded(change: PairChange) -> tuple[str | None, str | None]:
    return change.candidate.outcome, change.candidate.outcome_by


def _outcome(change: PairChange) -> ChangeOutcomeV1_2:
    candidate = change.candidate
    return ChangeOutcomeV1_2(
        adopted=change.is_made,
        kind=change.kind,
        outcome=candidate.outcome or "open",
        outcome_by=candidate.outcome_by,
    )
