"""Checks of the decisions of rules v3: witnesses decide each candidate, and the result is what was decided."""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Final

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.pipeline.decision.applied_changes import apply_changes, weighed
from episodic_absa.pipeline.decision.changes import changes_of
from episodic_absa.pipeline.decision.weighing import choose, probability
from episodic_absa.pipeline.decision.weights import DecisionWeights, decision_sha256, load_decision_weights
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.run_files.candidate_record import CandidateRecord, DecisionRecord
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.sample_record import Analysis
from episodic_absa.verification.checks.findings import Check, Findings, require_changes


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
        made = [change for change in changes_of(candidates) if change.is_made]
        _, sentiments = apply_changes(analysis.stage1, made)
        meant = "stage2" if made else "stage1"
        if analysis.moderator.selected_stage != meant:
            yield f"{uid}: selected_stage is {analysis.moderator.selected_stage}, the candidates say {meant}"
        elif extract_tuples(weighed(sentiments, candidates)) != analysis.final_tuples:
            yield f"{uid}: the final tuples are not the candidates that are in"
        else:
            yield None


DECISION_CHECKS: Final[Mapping[str, Check]] = {
    "candidates_decided": check_candidates_decided,
    "candidates_applied": check_candidates_applied,
}


def _analysed(cell: CellFiles) -> Iterator[tuple[str, Analysis]]:
    for record in cell.records:
        if record.analysis is not None:
            yield record.uid, record.analysis


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
