"""Checks of outcomes under rules v3: who decided them may decide them, and episodes hold what the outputs record."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from episodic_absa.memory.episodes.episode_builder import outcome_of
from episodic_absa.pipeline.decision.change_rules import adoption_sha256, load_adoption_rules
from episodic_absa.pipeline.outcomes.referee import referee_question
from episodic_absa.runs.cell_store import episodes_of
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.absa import Stage1Result
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.store.uids import stored_uid
from episodic_absa.verification.checks.findings import Check, Findings, require_changes


def check_outcomes_decided(cell: CellFiles) -> Findings:
    """The reader decides changes as its stance says; the referee only where it was to be asked."""
    require_changes(cell)
    manifest = cell.known_manifest
    may_ask = manifest.condition.store_write and bool(manifest.cfg_canonical["episodic_memory"].get("referee"))
    rules = load_adoption_rules() if manifest.adoption_sha256 == adoption_sha256() else None
    calls = {uid: sum(call.agent == "referee" for call in trace.calls) for uid, trace in cell.traces_by_uid.items()}
    for output, changes in _judged(cell):
        asked_n = calls.get(output.uid, 0)
        says = {change.outcome_by for change in changes}
        has_question = rules is None or referee_question(_stage1(output), changes, rules) is not None
        if not all(map(_follows_reader, changes)):
            yield f"{output.uid}: an outcome by the reader is not what the reader says"
        elif asked_n > int(may_ask and has_question) or ("referee" in says and not asked_n):
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


def _judged(cell: CellFiles) -> Iterator[tuple[OutputLine, Sequence[ChangeRecord]]]:
    """Yield the outputs whose changes all have an outcome; runs of earlier versions recorded none."""
    for output in cell.outputs:
        if output.changes is not None and all(change.outcome is not None for change in output.changes):
            yield output, output.changes


def _stage1(output: OutputLine) -> Stage1Result:
    stage1 = output.stage1
    return Stage1Result() if stage1 is None else Stage1Result(ate=stage1.ate, atsa=stage1.atsa)


def _follows_reader(change: ChangeRecord) -> bool:
    if change.outcome_by != "reader":
        return change.outcome_by == "referee" or change.outcome == "open"
    stances = {witness.stance for witness in change.witnesses if witness.who == "reader"}
    return stances == {"for" if change.outcome == "confirmed" else "against"}


def _outcome(change: ChangeRecord) -> ChangeOutcomeV1_2:
    return ChangeOutcomeV1_2(
        adopted=change.adopted,
        kind=change.kind,
        outcome=change.outcome or "open",
        outcome_by=change.outcome_by,
    )
