"""What the reader says about every change after it was decided: confirmed, contradicted or open."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.pipeline.decision.changes import PairChange
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.run_files.candidate_record import DecisionRecord
from episodic_absa.vocabulary import Outcome

SURE_READER: Final = 0.9
"""From this probability on the reader's word on a change counts as an outcome."""


def outcomes_by_reader(changes: Sequence[PairChange]) -> tuple[ChangeOutcomeV1_2, ...]:
    """Return the outcome of every change, in their order.

    A refused change has an outcome, too: whether it would have been right.
    """
    outcomes = []
    for change in changes:
        outcome = _outcome(change)
        outcomes.append(
            ChangeOutcomeV1_2(
                adopted=change.is_made,
                kind=change.kind,
                outcome=outcome,
                outcome_by=None if outcome == "open" else "reader",
            )
        )
    return tuple(outcomes)


def with_outcomes(
    decision: DecisionRecord, changes: Sequence[PairChange], outcomes: Sequence[ChangeOutcomeV1_2]
) -> DecisionRecord:
    """Return the decision with the outcome of each change at its candidate."""
    of_candidate = {id(change.candidate): outcome for change, outcome in zip(changes, outcomes, strict=True)}
    candidates = (
        candidate.model_copy(update={"outcome": turned_out.outcome, "outcome_by": turned_out.outcome_by})
        if (turned_out := of_candidate.get(id(candidate))) is not None
        else candidate
        for candidate in decision.candidates
    )
    return decision.model_copy(update={"candidates": tuple(candidates)})


def _outcome(change: PairChange) -> Outcome:
    stated = [witness.p for witness in change.candidate.witnesses if witness.who == "reader" and witness.p is not None]
    if not stated:
        return "open"
    p = 1.0 - stated[0] if change.kind == "drop" else stated[0]
    if p >= SURE_READER:
        return "confirmed"
    return "contradicted" if p <= 1.0 - SURE_READER else "open"
