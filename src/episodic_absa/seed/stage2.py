"""Stage2: ATE and ATSA give verdicts on Stage1 side by side, then the validator sees the patched result."""

import asyncio
from typing import NamedTuple

from episodic_absa.errors import BackendError
from episodic_absa.language import PolarityCounts, read_polarity
from episodic_absa.schemas.absa import (
    AspectVerdict,
    ReviewContext,
    SentimentVerdict,
    Stage1Result,
    Validator2Output,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot, ReviewInputs, Validator2Inputs
from episodic_absa.schemas.seed_answers import AteReviewAnswer, AtsaReviewAnswer, Validator2Answer
from episodic_absa.seed.asks import Asks
from episodic_absa.seed.ate_processing import valid_span
from episodic_absa.seed.patch.patch import PatchResult
from episodic_absa.seed.shown_values import (
    review_context,
    shown_sentiments,
    shown_terms,
    shown_verdicts,
)
from episodic_absa.seed.validator_processing import process_validator2
from episodic_absa.vocabulary import Language


class Verdicts(NamedTuple):
    """The verdicts on aspects and on sentiments, numbered by change ids."""

    ate: tuple[AspectVerdict, ...] = ()
    atsa: tuple[SentimentVerdict, ...] = ()
    polarity_counts: PolarityCounts = PolarityCounts()
    """How the polarity words of the ATSA verdicts were read."""


class Stage2:
    """Runs the three Stage2 agents."""

    def __init__(self, settings: PipelineSettings, slot_name: str) -> None:
        self._is_enabled = settings.enable_stage2
        self._validates = settings.enable_stage2 and settings.enable_validator
        self._slot_name = slot_name

    async def give_verdicts(
        self,
        text: str,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        slot: MemorySlot | None,
        asking: Asks,
    ) -> Verdicts:
        """Return the verdicts on aspects and sentiments; neither agent sees the other's answer.

        `slot` is the memory to show, or None. With Stage2 disabled there are no verdicts and no calls.

        Raises:
            BackendError: an agent gave no valid answer. Both calls end first, so that the recorded cost is the same.
        """
        if not self._is_enabled:
            return Verdicts()
        inputs = ReviewInputs(text=text, language=language, stage1=stage1, review_context=context, memory=slot)
        shown = review_context(text, stage1, context, [], slot, self._slot_name)
        # Both calls end even if one fails: the cost of a failed sample must not depend on timing.
        ate, atsa = await asyncio.gather(
            asking.ask("stage2_ate", inputs, shown, AteReviewAnswer),
            asking.ask("stage2_atsa", inputs, shown, AtsaReviewAnswer),
            return_exceptions=True,
        )
        if isinstance(ate, BaseException) or isinstance(atsa, BaseException):
            raise _first_error(ate, atsa)
        return numbered_verdicts(ate, atsa, text)

    async def validate(
        self,
        text: str,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        verdicts: Verdicts,
        patched: PatchResult,
        slot: MemorySlot | None,
        asking: Asks,
    ) -> Validator2Output:
        """Return the risks of the patched result, the one that adoption makes final."""
        if not self._validates:
            return Validator2Output()
        inputs = Validator2Inputs(
            text=text,
            language=language,
            stage1=stage1,
            review_context=context,
            memory=slot,
            ate_reviews=verdicts.ate,
            atsa_reviews=verdicts.atsa,
            patched_aspects=patched.aspects,
            patched_sentiments=patched.sentiments,
        )
        more = [
            ("ate_reviews", shown_verdicts(verdicts.ate)),
            ("atsa_reviews", shown_verdicts(verdicts.atsa)),
            ("patched_aspects", shown_terms(patched.aspects)),
            ("patched_sentiments", shown_sentiments(patched.sentiments)),
        ]
        shown = review_context(text, stage1, context, more, slot, self._slot_name)
        answer = await asking.ask("stage2_validator", inputs, shown, Validator2Answer)
        return process_validator2(
            answer,
            text,
            language,
            stage1_risks=stage1.validator.structural_risks,
            patched_aspect_n=len(patched.aspects),
        )


def numbered_verdicts(ate: AteReviewAnswer, atsa: AtsaReviewAnswer, text: str) -> Verdicts:
    """Return the answers as verdicts with change ids: aspects first, then sentiments."""
    aspect_verdicts = tuple(
        AspectVerdict(
            change_id=f"chg_{number:03d}",
            aspect_term=answered.aspect_term,
            action=answered.action,
            revised_span=valid_span(answered.revised_span, text),
            reason=answered.reason,
            provenance=answered.provenance,
        )
        for number, answered in enumerate(ate.reviews, start=1)
    )
    sentiment_verdicts: list[SentimentVerdict] = []
    counts = PolarityCounts()
    for number, answered_sentiment in enumerate(atsa.reviews, start=len(aspect_verdicts) + 1):
        polarity = None
        if answered_sentiment.revised_polarity is not None:
            polarity, how = read_polarity(answered_sentiment.revised_polarity)
            counts = counts.plus(PolarityCounts(1, how == "repaired", how == "invalid"))
        sentiment_verdicts.append(
            SentimentVerdict(
                change_id=f"chg_{number:03d}",
                aspect_term=answered_sentiment.aspect_term,
                action=answered_sentiment.action,
                revised_polarity=polarity,
                reason=answered_sentiment.reason,
                provenance=answered_sentiment.provenance,
            )
        )
    return Verdicts(aspect_verdicts, tuple(sentiment_verdicts), counts)


def _first_error(*outcomes: object) -> BaseException:
    """Return the error to raise: one that concerns the run before a BackendError, which fails this sample only."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    return min(errors, key=lambda error: isinstance(error, BackendError))
