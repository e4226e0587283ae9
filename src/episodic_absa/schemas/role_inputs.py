"""What each role sees: the typed side of a prompt. Embedded engines answer from it, models from its rendering."""

from typing import Any

from episodic_absa.schemas.absa import (
    AspectHint,
    AspectItem,
    AspectVerdict,
    DebateTurn,
    Persona,
    ReviewContext,
    SentimentItem,
    SentimentVerdict,
    Stage1Result,
)
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Language, Polarity, Speaker

MemorySlot = dict[str, Any]
"""A dumped advisory bundle. A seed prompt holds the same values, a prompt v3 the sentences of them."""


class AteInputs(FrozenModel):
    """For the aspect extractor."""

    text: str
    language: Language


class AtsaInputs(AteInputs):
    """For the sentiment classifier."""

    aspects: tuple[AspectItem, ...] | None
    """None: Stage1 agents work independently."""


class ValidatorInputs(AtsaInputs):
    """For the validator."""

    sentiments: tuple[SentimentItem, ...] | None


class JudgeInputs(AteInputs):
    """For the judge of the debate."""

    stage1: Stage1Result
    turns: tuple[DebateTurn, ...] = ()
    memory: MemorySlot | None = None


class SpeakerInputs(JudgeInputs):
    """For one speaker: the turns so far."""

    speaker: Speaker
    persona: Persona
    round_index: int = 1


class ReviewInputs(AteInputs):
    """For the two agents of Stage2 that give verdicts."""

    stage1: Stage1Result
    review_context: ReviewContext | None = None
    """What the debate says; None under rules whose Stage2 does not hear it."""
    memory: MemorySlot | None = None

    def hints(self, term: str) -> tuple[AspectHint, ...]:
        """Return how the debate speaks for and against polarities of a term."""
        return () if self.review_context is None else self.review_context.aspect_hints.get(term, ())


class ListedPair(FrozenModel):
    """One pair of a list that the referee compares."""

    aspect_term: str
    polarity: Polarity


class RefereeInputs(AteInputs):
    """For the referee: two lists of pairs. Nothing says who made which."""

    list_a: tuple[ListedPair, ...]
    list_b: tuple[ListedPair, ...]


class Validator2Inputs(ReviewInputs):
    """For Validator2, which reads the patched result."""

    ate_reviews: tuple[AspectVerdict, ...] = ()
    atsa_reviews: tuple[SentimentVerdict, ...] = ()
    patched_aspects: tuple[AspectItem, ...]
    patched_sentiments: tuple[SentimentItem, ...]
