"""Checks of the decisions of rules v3: witnesses decide each change, and only adopted changes reach the result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Final, NamedTuple

from episodic_absa.final_tuples import extract_tuples, pairs
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_decision import decide_again, settle
from episodic_absa.pipeline.decision.change_rules import (
    LAWS,
    AdoptionRules,
    adoption_sha256,
    broken_law,
    load_adoption_rules,
)
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.absa import FinalResult, FinalTuple, ModeratorOutput, SentimentItem, Stage1Result
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.verification.checks.findings import Check, Findings, require_changes


class _Decided(NamedTuple):
    uid: str
    stage1: Stage1Result
    changes: tuple[ChangeRecord, ...]
    final: FinalResult
    moderator: ModeratorOutput


def check_changes_decided(cell: CellFiles) -> Findings:
    """Every change under rules v3 stands once, and its decision follows from its witnesses.

    A run with the table of this installation is decided again. Any other run is held to the laws alone.
    """
    require_changes(cell)
    rules = _rules_of_run(cell.known_manifest)
    for output in cell.outputs:
        if output.status == "ok" and output.changes is None:
            yield f"{output.uid}: it has no record of its changes"
    for sample in _decided(cell):
        if problem := _repetition(sample.changes):
            yield f"{sample.uid}: {problem}"
            continue
        if rules is None:
            meant = _within_laws(sample.stage1, sample.changes)
        else:
            meant = decide_again(sample.stage1, sample.changes, rules)
        for recorded, decided in zip(sample.changes, meant, strict=True):
            is_same = recorded == decided
            yield (
                None
                if is_same
                else f"{sample.uid}: {recorded.change_id} is {_shown(recorded)}, its witnesses say {_shown(decided)}"
            )


def check_changes_applied(cell: CellFiles) -> Findings:
    """The final pairs are those of Stage1 with exactly the adopted changes; stage2 is selected if there are any."""
    require_changes(cell)
    for sample in _decided(cell):
        meant = "stage2" if any(change.adopted for change in sample.changes) else "stage1"
        if sample.moderator.selected_stage != meant:
            yield f"{sample.uid}: selected_stage is {sample.moderator.selected_stage}, the changes say {meant}"
        elif not _are_applied(sample):
            yield f"{sample.uid}: the final tuples are not those of Stage1 with the adopted changes"
        else:
            yield None


DECISION_CHECKS: Final[Mapping[str, Check]] = {
    "changes_decided": check_changes_decided,
    "changes_applied": check_changes_applied,
}


def _decided(cell: CellFiles) -> Iterator[_Decided]:
    for output in cell.outputs:
        stage1, changes, final, moderator = output.stage1, output.changes, output.final_result, output.moderator
        if stage1 is not None and changes is not None and final is not None and moderator is not None:
            yield _Decided(output.uid, stage1, changes, final, moderator)


def _rules_of_run(manifest: Manifest) -> AdoptionRules | None:
    """Return the table that the run was decided by, None if it is not the installed one."""
    is_ours = manifest.package_version == version("episodic-absa") and manifest.adoption_sha256 == adoption_sha256()
    return load_adoption_rules() if is_ours else None


def _repetition(changes: Sequence[ChangeRecord]) -> str:
    """Return which change or witness stands twice, an empty text if none does."""
    ids = [change.change_id for change in changes]
    if len(set(ids)) < len(ids):
        return "a change id stands twice"
    for change in changes:
        names = [witness.who for witness in change.witnesses]
        if len(set(names)) < len(names):
            return f"a witness of {change.change_id} stands twice"
    return ""


def _within_laws(stage1: Stage1Result, changes: Sequence[ChangeRecord]) -> tuple[ChangeRecord, ...]:
    """Return the changes as the laws allow them; where these allow either, the recorded decision stays."""
    lawful = []
    for change in changes:
        reason = broken_law(change, change.witnesses)
        if reason is None:
            reason = "score_too_low" if change.reason in LAWS else change.reason
        lawful.append(change.model_copy(update={"adopted": reason == "adopted", "reason": reason}))
    return settle(stage1, lawful)


def _are_applied(sample: _Decided) -> bool:
    """Return whether the tuples follow from the changes. Only a changed pair may have another confidence."""
    _, sentiments = apply_changes(sample.stage1, sample.changes)
    of_stage1 = {id(item) for item in sample.stage1.atsa.sentiments}
    kept = _each_as_tuple(item for item in sentiments if id(item) in of_stage1)
    changed = {_unweighed(final) for final in _each_as_tuple(item for item in sentiments if id(item) not in of_stage1)}
    meant, recorded = extract_tuples(sentiments), sample.final.final_tuples
    return (
        pairs(meant) == pairs(recorded)
        and len(meant) == len(recorded)
        and all(final in kept or _unweighed(final) in changed for final in recorded)
    )


def _each_as_tuple(sentiments: Iterable[SentimentItem]) -> set[FinalTuple]:
    return {final_tuple for item in sentiments for final_tuple in extract_tuples([item])}


def _unweighed(final_tuple: FinalTuple) -> FinalTuple:
    return final_tuple.model_copy(update={"confidence": 0.0})


def _shown(change: ChangeRecord) -> str:
    return f"{'adopted' if change.adopted else 'refused'} ({change.reason}, score {change.score:g})"
