"""The referee: one ask that compares Stage1's pairs with the changed ones, without saying who made which."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.changes import PairChange
from episodic_absa.pipeline.decision.weights import WeightSet
from episodic_absa.pipeline.shown_values import shown_pairs
from episodic_absa.schemas.absa import SentimentItem, Stage1Result
from episodic_absa.schemas.answers import Choice, RefereeAnswer
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.role_inputs import ListedPair, RefereeInputs
from episodic_absa.schemas.run_files.candidate_record import CandidateReason
from episodic_absa.vocabulary import Language, Outcome

_FOR_WANT_OF_WITNESSES: Final[tuple[CandidateReason, ...]] = ("unlikely", "likely", "undoubted", "one_agent")


class RefereeQuestion(NamedTuple):
    """Two results of one sample, and the changes that lie between them."""

    before: tuple[SentimentItem, ...]
    """Stage1's pairs."""
    after: tuple[SentimentItem, ...]
    """The pairs with the changes in question."""
    change_ids: frozenset[str]


def referee_question(stage1: Stage1Result, changes: Sequence[PairChange], weights: WeightSet) -> RefereeQuestion | None:
    """Return what the referee is asked about a sample; None if there is nothing to ask.

    The question is about the made changes, or, if there are none, about the narrowly refused ones. A pair whose
    polarity only the reader gives stands in no prompt, so the referee does not judge it.
    """
    shown = [change for change in changes if change.aspect_term and change.is_proposed]
    shown = [change for change in shown if not change.candidate.is_polarity_of_reader]
    asked = [change for change in shown if change.is_made] or [
        change for change in shown if is_narrowly_refused(change, weights)
    ]
    if not asked:
        return None
    before, (_, after) = stage1.atsa.sentiments, apply_changes(stage1, asked)
    if set(shown_pairs(before)) == set(shown_pairs(after)):
        return None
    return RefereeQuestion(before, after, frozenset(change.change_id for change in asked))


def is_narrowly_refused(change: PairChange, weights: WeightSet) -> bool:
    """Return whether a change that the model proposed is out although the probability of its pair is in doubt."""
    if change.is_made or change.candidate.reason not in _FOR_WANT_OF_WITNESSES:
        return False
    return weights.unsure_from <= change.candidate.p <= weights.unsure_to


def stage1_stands_first(uid: str) -> bool:
    """Return whether list A is Stage1's: the hash of the uid decides, so that no place favours a side."""
    return hashlib.sha256(uid.encode()).digest()[0] % 2 == 0


async def ask_referee(question: RefereeQuestion, uid: str, text: str, language: Language, asking: Asking) -> Outcome:
    """Return what the referee says about the changes; open if it prefers no list or its answer cannot be read."""
    stage1_first = stage1_stands_first(uid)
    a, b = (question.before, question.after) if stage1_first else (question.after, question.before)
    inputs = RefereeInputs(text=text, language=language, list_a=_listed(a), list_b=_listed(b))
    shown = [("text", text), ("A", shown_pairs(a)), ("B", shown_pairs(b))]
    answer = await asking.ask_witness("referee", inputs, shown, RefereeAnswer)
    if answer is None or answer.better == "equal":
        return "open"
    stage1s: Choice = "A" if stage1_first else "B"
    return "contradicted" if answer.better == stage1s else "confirmed"


def with_referee(
    outcomes: Sequence[ChangeOutcomeV1_2],
    changes: Sequence[PairChange],
    question: RefereeQuestion,
    said: Outcome,
) -> tuple[ChangeOutcomeV1_2, ...]:
    """Return the outcomes with the referee's word on the changes in question. It goes before the reader's."""
    if said == "open":
        return tuple(outcomes)
    return tuple(
        outcome.model_copy(update={"outcome": said, "outcome_by": "referee"})
        if change.change_id in question.change_ids
        else outcome
        for outcome, change in zip(outcomes, changes, strict=True)
    )


def _listed(sentiments: Iterable[SentimentItem]) -> tuple[ListedPair, ...]:
    return tuple(
        ListedPair(aspect_term=item.aspect_term, polarity=item.polarity)
        for item in sentiments
        if item.aspect_term and item.polarity is not None and not item.is_backfilled
    )
