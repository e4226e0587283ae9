"""TAN: checks the targets. Drops terms that name nothing, merges doubles, trims terms, confirms the rest."""

from typing import Final

from episodic_absa.backends.embedded.judgement.aspect_judgement import find_term
from episodic_absa.backends.embedded.judgement.target_union import NAMED
from episodic_absa.backends.embedded.judgement.two_readers import is_doubtful
from episodic_absa.backends.embedded.model.weighing import likelihood, weigh
from episodic_absa.backends.embedded.reading import MAX_ITEMS, Reading
from episodic_absa.backends.embedded.roles.risk_checks import trimmed_place
from episodic_absa.backends.embedded.roles.second_looks import SecondLooks, second_looks
from episodic_absa.backends.embedded.roles.tuple_review import edit, judged_sentiments
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import AspectItem, ProposedEdit, SentimentItem
from episodic_absa.schemas.role_inputs import SpeakerInputs
from episodic_absa.schemas.seed_answers import TurnAnswer

_SURE: Final = 0.8
_DOUBTING: Final = 0.7
_CONFIRMING: Final = 0.6


def answer_tan(reading: WeighedReading, inputs: SpeakerInputs) -> TurnAnswer:
    """Check the target of every tuple."""
    looks = second_looks(inputs.memory)
    sentiments = judged_sentiments(inputs.stage1)
    edits = [_edit(reading, sentiment, sentiments, looks) for sentiment in sentiments]
    return TurnAnswer(proposed_edits=tuple(edit for edit in edits if edit is not None)[:MAX_ITEMS])


def names_something(reading: WeighedReading, term: str) -> bool:
    """Whether a term is, or is part of, a noun phrase that can be a target. Without rules nothing is denied."""
    if reading.language == "other" or not term:
        return True
    place = find_term(reading, term)
    if place is None:
        return False
    if likelihood(reading, weigh(reading), *place) >= NAMED:
        return True
    return any(
        target.is_nameable and target.start < place[1] and place[0] < target.end for target in reading.targets
    ) or any(
        target.is_nameable for index in reading.by_term.get(norm(term), ()) for target in (reading.targets[index],)
    )


def _edit(
    reading: WeighedReading,
    sentiment: SentimentItem,
    sentiments: tuple[SentimentItem, ...],
    looks: SecondLooks,
) -> ProposedEdit | None:
    if sentiment.aspect_term and not names_something(reading, sentiment.aspect_term):
        return edit("drop_tuple", sentiment, evidence=_quoted(reading, sentiment.aspect_term), confidence=_SURE)
    if _is_doubted(reading, sentiment, looks):
        return edit("drop_tuple", sentiment, evidence=_quoted(reading, sentiment.aspect_term), confidence=_DOUBTING)
    longer = _containing(sentiment, sentiments)
    if longer is not None:
        return edit("merge_tuples", sentiment, value=longer, evidence=_quoted(reading, longer), confidence=_SURE)
    bare = _bare_term(reading, sentiment) if looks.has("span") else None
    if bare is not None:
        return edit("set_aspect_ref", sentiment, value=bare, evidence=bare, confidence=_SURE)
    if sentiment.is_backfilled:
        return None
    return edit(
        "confirm_tuple",
        sentiment,
        evidence=_quoted(reading, sentiment.aspect_term) or sentiment.evidence,
        confidence=_CONFIRMING,
    )


def _is_doubted(reading: WeighedReading, sentiment: SentimentItem, looks: SecondLooks) -> bool:
    """Whether to drop a target by the engine's own doubt: caution holds it."""
    return bool(sentiment.aspect_term) and not looks.caution and is_doubtful(reading, sentiment)


def _containing(sentiment: SentimentItem, sentiments: tuple[SentimentItem, ...]) -> str | None:
    """Return a longer term of the same polarity that covers the same characters."""
    if sentiment.span is None:
        return None
    for other in sentiments:
        if (
            other.span is None
            or other.polarity != sentiment.polarity
            or len(other.aspect_term) <= len(sentiment.aspect_term)
        ):
            continue
        if other.span.start <= sentiment.span.start and sentiment.span.end <= other.span.end:
            return other.aspect_term
    return None


def _bare_term(reading: Reading, sentiment: SentimentItem) -> str | None:
    if not sentiment.aspect_term:
        return None
    place = trimmed_place(reading, AspectItem(aspect_term=sentiment.aspect_term, span=sentiment.span))
    if place is None:
        return None
    bare = reading.quote(*place)
    return bare if norm(bare) != norm(sentiment.aspect_term) else None


def _quoted(reading: Reading, term: str) -> str | None:
    place = find_term(reading, term)
    return reading.quote(*place) if place else None
