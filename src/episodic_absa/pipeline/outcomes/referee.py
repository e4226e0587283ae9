"""The referee: one ask that compares Stage1's pairs with the changed ones, without saying who made which."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_rules import AdoptionRules, adopt
from episodic_absa.pipeline.shown_values import shown_pairs
from episodic_absa.schemas.absa import SentimentItem, Stage1Result
from episodic_absa.schemas.answers import Choice, RefereeAnswer
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.role_inputs import ListedPair, RefereeInputs
from episodic_absa.schemas.run_files.change_record import ChangeReason, ChangeRecord, Witness
from episodic_absa.vocabulary import Language, Outcome

_FOR_WANT_OF_WITNESSES: Final[tuple[ChangeReason, ...]] = ("no_judge_nor_two_speakers", "score_too_low")


class RefereeQuestion(NamedTuple):
    """Two results of one sample, and the changes that lie between them."""

    before: tuple[SentimentItem, ...]
    """Stage1's pairs."""
    after: tuple[SentimentItem, ...]
    """The pairs with the changes in question."""
    change_ids: frozenset[str]


def referee_question(
    stage1: Stage1Result, changes: Sequence[ChangeRecord], rules: AdoptionRules
) -> RefereeQuestion | None:
    """Return what the referee is asked about a sample; None if there is nothing to ask.

    The question is about the adopted changes, or, if there are none, about the narrowly refused ones. A pair whose
    polarity only the reader gives stands in no prompt, so the referee does not judge it.
    """
    shown = [change for change in changes if change.aspect_term and not change.is_polarity_of_reader]
    asked = [change for change in shown if change.adopted] or [
        change for change in shown if is_narrowly_refused(change, rules)
    ]
    if not asked:
        return None
    adopted = [change.model_copy(update={"adopted": True}) for change in asked]
    before, (_, after) = stage1.atsa.sentiments, apply_changes(stage1, adopted)
    if set(shown_pairs(before)) == set(shown_pairs(after)):
        return None
    return RefereeQuestion(before, after, frozenset(change.change_id for change in asked))


def is_narrowly_refused(change: ChangeRecord, rules: AdoptionRules) -> bool:
    """Return whether two witnesses are for a refused change and one more would have had it adopted."""
    if change.adopted or change.reason not in _FOR_WANT_OF_WITNESSES:
        return False
    if sum(witness.stance == "for" for witness in change.witnesses) < 2:
        return False
    return any(adopt(change, witnesses, rules).adopted for witnesses in _with_one_more(change))


def _with_one_more(change: ChangeRecord) -> Iterator[list[Witness]]:
    for place, silent in enumerate(change.witnesses):
        # The reader is never asked again: what it has not said it does not know.
        if silent.stance == "silent" and silent.who != "reader":
            witnesses = list(change.witnesses)
            witnesses[place] = silent.model_copy(update={"stance": "for"})
            yield witnesses


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
    changes: Sequence[ChangeRecord],
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
