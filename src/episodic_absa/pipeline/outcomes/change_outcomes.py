"""What the reader says about every change after it was decided: confirmed, contradicted or open."""

from collections.abc import Sequence

from episodic_absa.pipeline.decision.change_rules import SURE_READER
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.run_files.change_record import ChangeRecord, Witness
from episodic_absa.vocabulary import Language, Outcome


def outcomes_by_reader(
    changes: Sequence[ChangeRecord], reader: Reader | None, text: str, language: Language
) -> tuple[ChangeOutcomeV1_2, ...]:
    """Return the outcome of every change, in their order.

    A refused change has an outcome, too: whether it would have been right. Nearly all changes against which the reader
    is sure are refused; without them memory would never hear that such a change is wrong.

    Args:
        changes: the decided changes with their witnesses.
        reader: None leaves every change open.
        text: the NFC text of the sample.
        language: the language of the text.
    """
    outcomes = []
    for change in changes:
        outcome = _outcome(change, reader, text, language)
        outcomes.append(
            ChangeOutcomeV1_2(
                adopted=change.adopted,
                kind=change.kind,
                outcome=outcome,
                outcome_by=None if outcome == "open" else "reader",
            )
        )
    return tuple(outcomes)


def _outcome(change: ChangeRecord, reader: Reader | None, text: str, language: Language) -> Outcome:
    witness = next((witness for witness in change.witnesses if witness.who == "reader"), None)
    if witness is None or witness.stance == "silent" or not _is_sure(change, witness, reader, text, language):
        return "open"
    return "confirmed" if witness.stance == "for" else "contradicted"


def _is_sure(change: ChangeRecord, witness: Witness, reader: Reader | None, text: str, language: Language) -> bool:
    """Return whether the reader's stance is sure.

    About a target the stance itself is: between its thresholds the reader is silent. About a polarity the reader must
    be as sure as one that blocks a change.
    """
    if change.kind == "flip":
        return (witness.p or 0.0) >= SURE_READER
    if change.kind == "add" and witness.stance == "for":
        # The witness records the product of both probabilities; that of the polarity alone is asked for again.
        if reader is None:
            return False
        view = reader.view(text, language, change.aspect_term)
        return view is not None and view.p_polarity >= SURE_READER
    return True
