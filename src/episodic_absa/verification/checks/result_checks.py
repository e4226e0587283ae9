"""Checks of a cell's results: they are what was decided, and decisions and outcomes follow from their witnesses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Final

from episodic_absa.final_tuples import extract_tuples, label_of_pairs
from episodic_absa.language import occurs
from episodic_absa.memory.episodes.episode_builder import outcome_of
from episodic_absa.pipeline.decision.applied_changes import apply_changes, weighed
from episodic_absa.pipeline.decision.changes import PairChange, changes_of
from episodic_absa.pipeline.decision.weighing import choose, probability
from episodic_absa.pipeline.decision.weights import DecisionWeights, decision_sha256, load_decision_weights
from episodic_absa.pipeline.outcomes.change_outcomes import outcomes_by_reader
from episodic_absa.pipeline.outcomes.referee import referee_question
from episodic_absa.runs.cell_store import episodes_of
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.run_files.candidate_record import CandidateRecord, DecisionRecord
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.sample_record import Analysis
from episodic_absa.store.uids import stored_uid
from episodic_absa.verification.checks.findings import Check, Findings, require_changes


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
    for uid, analysis in _analysed(cell):
        if analysis.decision is not None:
            label, meant = analysis.moderator.final_label, label_of_pairs(analysis.final_tuples)
            yield None if meant in (None, label) else f"{uid}: its label is {label}, its pairs say {meant}"


def check_terms_in_text(cell: CellFiles) -> Findings:
    """Every explicit final term occurs in the text."""
    for uid, card in cell.cards.items():
        for place, final_tuple in enumerate(card.final_tuples, start=1):
            if final_tuple.aspect_term:
                is_there = occurs(final_tuple.aspect_term, cell.texts[uid])
                yield None if is_there else f"{uid}: final term {place} is not in the text"


def check_candidates_decided(cell: CellFiles) -> Findings:
    """Every candidate under rules v3 stands once, and its decision follows from its witnesses.

    The candidates of a run with the weights of this installation are weighed again. Those of any other run are held to
    the laws and to their recorded probabilities.
    """
    require_changes(cell)
    weights = _weights_of_run(cell.known_manifest)
    for uid, analysis in _analysed(cell):
        decision = analysis.decision
        if decision is None:
            yield f"{uid}: it has no record of its candidates"
        elif problem := _repetition(decision):
            yield f"{uid}: {problem}"
        else:
            yield from _differences(uid, decision, weights)


def check_candidates_applied(cell: CellFiles) -> Findings:
    """The final pairs are the candidates that are in, with their probabilities; stage2 is selected if they changed."""
    require_changes(cell)
    for uid, analysis in _analysed(cell):
        candidates = () if analysis.decision is None else analysis.decision.candidates
        made = [change for change in _changes(analysis) if change.is_made]
        _, sentiments = apply_changes(analysis.stage1, made)
        meant = "stage2" if made else "stage1"
        if analysis.moderator.selected_stage != meant:
            yield f"{uid}: selected_stage is {analysis.moderator.selected_stage}, the candidates say {meant}"
        elif extract_tuples(weighed(sentiments, candidates)) != analysis.final_tuples:
            yield f"{uid}: the final tuples are not the candidates that are in"
        else:
            yield None


def check_outcomes_decided(cell: CellFiles) -> Findings:
    """The reader decides changes as its stance says; the referee only where it was to be asked."""
    require_changes(cell)
    manifest = cell.known_manifest
    may_ask = manifest.condition.store_write and bool(manifest.cfg_canonical["episodic_memory"].get("referee"))
    asked = {record.uid: sum(call.role == "referee" for call in record.calls) for record in cell.records}
    for uid, analysis in _analysed(cell):
        changes, decision = _changes(analysis), analysis.decision
        has_question = decision is not None and (
            referee_question(analysis.stage1, changes, load_decision_weights().named(decision.weights)) is not None
        )
        by_referee = any(change.candidate.outcome_by == "referee" for change in changes)
        if not _follows_reader(changes):
            yield f"{uid}: an outcome by the reader is not what the reader says"
        elif asked[uid] > int(may_ask and has_question) or (by_referee and not asked[uid]):
            yield f"{uid}: the referee was asked where it was not to be, or decided without being asked"
        else:
            yield None


def check_outcomes_stored(cell: CellFiles) -> Findings:
    """Each episode of the cell holds the changes of its record, and its outcome follows from theirs alone."""
    require_changes(cell)
    recorded = {stored_uid(uid): _changes(analysis) for uid, analysis in _analysed(cell)}
    for episode in episodes_of(cell.records):
        if episode.provenance.source_id not in recorded:
            continue
        changes = [_outcome(change) for change in recorded[episode.provenance.source_id]]
        held = sorted((change.kind, change.adopted) for change in episode.changes)
        is_same = held == sorted((change.kind, change.adopted) for change in changes)
        holds = is_same and episode.outcome == outcome_of(changes)
        yield None if holds else f"{episode.episode_id}: its outcome is not the one that its record gives"


RESULT_CHECKS: Final[Mapping[str, Check]] = {
    "selected_stage": check_selected_stage,
    "label_agrees": check_label_agrees,
    "terms_in_text": check_terms_in_text,
    "candidates_decided": check_candidates_decided,
    "candidates_applied": check_candidates_applied,
    "outcomes_decided": check_outcomes_decided,
    "outcomes_stored": check_outcomes_stored,
}


def _analysed(cell: CellFiles) -> Iterator[tuple[str, Analysis]]:
    for record in cell.records:
        if record.analysis is not None:
            yield record.uid, record.analysis


def _changes(analysis: Analysis) -> Sequence[PairChange]:
    return () if analysis.decision is None else changes_of(analysis.decision.candidates)


def _weights_of_run(manifest: Manifest) -> DecisionWeights | None:
    """Return the weights that the run was decided by, None if they are not the installed ones."""
    is_ours = manifest.package_version == version("episodic-absa") and manifest.decision_sha256 == decision_sha256()
    return load_decision_weights() if is_ours else None


def _repetition(decision: DecisionRecord) -> str:
    """Return which candidate or witness stands twice, an empty text if none does."""
    pairs = [(candidate.aspect_term, candidate.polarity) for candidate in decision.candidates]
    if len(set(pairs)) < len(pairs):
        return "a candidate stands twice"
    for place, candidate in enumerate(decision.candidates, start=1):
        names = [witness.who for witness in candidate.witnesses]
        if len(set(names)) < len(names):
            return f"a witness of candidate {place} stands twice"
    return ""


def _differences(uid: str, decision: DecisionRecord, weights: DecisionWeights | None) -> Findings:
    tau, candidates = decision.tau, decision.candidates
    if weights is not None:
        chosen = weights.named(decision.weights)
        tau = chosen.tau
        candidates = tuple(
            candidate.model_copy(update={"p": probability(candidate.witnesses, chosen)}) for candidate in candidates
        )
    for place, (recorded, meant) in enumerate(zip(decision.candidates, choose(candidates, tau), strict=True), start=1):
        is_same = recorded == meant and decision.tau == tau
        yield (
            None if is_same else f"{uid}: candidate {place} is {_shown(recorded)}, its witnesses say {_shown(meant)}"
        )


def _shown(candidate: CandidateRecord) -> str:
    return f"{'in' if candidate.is_in else 'out'} ({candidate.reason}, p {candidate.p:g})"


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


def _unweighed(tuples: Iterable[FinalTuple]) -> list[FinalTuple]:
    return [final_tuple.model_copy(update={"confidence": 0.0}) for final_tuple in tuples]
