"""EPM: checks the words behind each polarity. Sets another one where the target's own words say so, else confirms."""

from typing import Final

from episodic_absa.backends.embedded.judgement.two_readers import weights_back
from episodic_absa.backends.embedded.reading import MAX_ITEMS
from episodic_absa.backends.embedded.roles.second_looks import Look, SecondLooks, second_looks
from episodic_absa.backends.embedded.roles.tuple_review import (
    edit,
    has_quotation,
    judged_sentiments,
    narrowed,
    proposed_change,
    set_polarity,
)
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.schemas.absa import ProposedEdit, SentimentItem
from episodic_absa.schemas.role_inputs import SpeakerInputs
from episodic_absa.schemas.seed_answers import TurnAnswer

_LOOKS: Final[tuple[Look, ...]] = ("negation", "polarity", "evidence", "implicit")
_UNQUOTED: Final = 0.4


def answer_epm(reading: WeighedReading, inputs: SpeakerInputs) -> TurnAnswer:
    """Map evidence to polarity, tuple by tuple."""
    looks = narrowed(second_looks(inputs.memory), _LOOKS)
    edits: list[ProposedEdit] = []
    for sentiment in judged_sentiments(inputs.stage1):
        change = proposed_change(reading, sentiment, looks)
        if change is not None:
            edits.append(set_polarity(reading, sentiment, change))
        elif has_quotation(reading, sentiment):
            edits.append(edit("confirm_tuple", sentiment, evidence=sentiment.evidence, confidence=sentiment.confidence))
        elif _lacks_support(reading, sentiment, looks):
            edits.append(edit("drop_tuple", sentiment, confidence=1.0 - sentiment.confidence))
        elif not sentiment.is_backfilled:
            edits.append(edit("confirm_tuple", sentiment, confidence=min(sentiment.confidence, _UNQUOTED)))
    return TurnAnswer(proposed_edits=tuple(edits[:MAX_ITEMS]))


def _lacks_support(reading: WeighedReading, sentiment: SentimentItem, looks: SecondLooks) -> bool:
    """Under advice about evidence: no words of its own, and no weights behind it either."""
    if not looks.has("evidence") or looks.caution or sentiment.polarity == "neutral" or sentiment.is_backfilled:
        return False
    return not weights_back(reading, sentiment)
