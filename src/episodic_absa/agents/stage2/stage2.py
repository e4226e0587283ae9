"""Stage2: two reviewers side by side, then a critic who sees the patched result."""

import asyncio
from typing import NamedTuple

from episodic_absa.agents.asking import Asking
from episodic_absa.agents.settings import PipelineSettings
from episodic_absa.agents.shown_values import (
    review_context,
    shown_reviews,
    shown_sentiments,
    shown_terms,
)
from episodic_absa.agents.stage1.ate_processing import valid_span
from episodic_absa.agents.stage1.atsa_processing import PolarityCounts
from episodic_absa.agents.stage1.validator_processing import process_validator2
from episodic_absa.agents.stage2.patch import PatchResult
from episodic_absa.errors import BackendError
from episodic_absa.language import read_polarity
from episodic_absa.schemas.absa import (
    AspectReview,
    ReviewContext,
    Sample,
    SentimentReview,
    Stage1Result,
    Validator2Output,
)
from episodic_absa.schemas.answers import AteReviewAnswer, AtsaReviewAnswer, Validator2Answer
from episodic_absa.schemas.role_inputs import MemorySlot, ReviewInputs, Validator2Inputs
from episodic_absa.vocabulary import Language


class Reviews(NamedTuple):
    """Both review lists, with the ids this system gave them."""

    ate: tuple[AspectReview, ...] = ()
    atsa: tuple[SentimentReview, ...] = ()
    polarity_counts: PolarityCounts = PolarityCounts()


class Stage2:
    """Runs the three Stage2 agents."""

    def __init__(self, settings: PipelineSettings, slot_name: str) -> None:
        self._reviews = settings.enable_stage2
        self._validates = settings.enable_stage2 and settings.enable_validator
        self._slot_name = slot_name

    async def review(
        self,
        sample: Sample,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Reviews:
        """Review aspects and sentiments; neither reviewer sees the other's answer."""
        if not self._reviews:
            return Reviews()
        inputs = ReviewInputs(text=sample.text, language=language, stage1=stage1, review_context=context, memory=slot)
        shown = review_context(sample.text, stage1, context, [], slot, self._slot_name)
        # Both run to their end even if one fails: what a failed sample cost must not depend on timing.
        ate, atsa = await asyncio.gather(
            asking.ask("stage2_ate", inputs, shown, AteReviewAnswer),
            asking.ask("stage2_atsa", inputs, shown, AtsaReviewAnswer),
            return_exceptions=True,
        )
        # What fails more than this sample goes first, then the first in order.
        failed = [one for one in (ate, atsa) if isinstance(one, BaseException)]
        if failed:
            raise min(failed, key=lambda error: isinstance(error, BackendError))
        assert not isinstance(ate, BaseException)  # noqa: S101 - for the type checker
        assert not isinstance(atsa, BaseException)  # noqa: S101
        return _numbered(ate, atsa, sample.text)

    async def validate(
        self,
        sample: Sample,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        reviews: Reviews,
        patched: PatchResult,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Validator2Output:
        """Criticise exactly the tuples that adoption would make final."""
        if not self._validates:
            return Validator2Output()
        inputs = Validator2Inputs(
            text=sample.text,
            language=language,
            stage1=stage1,
            review_context=context,
            memory=slot,
            ate_reviews=reviews.ate,
            atsa_reviews=reviews.atsa,
            patched_aspects=patched.aspects,
            patched_sentiments=patched.sentiments,
        )
        more = [
            ("ate_reviews", shown_reviews(reviews.ate)),
            ("atsa_reviews", shown_reviews(reviews.atsa)),
            ("patched_aspects", shown_terms(patched.aspects)),
            ("patched_sentiments", shown_sentiments(patched.sentiments)),
        ]
        shown = review_context(sample.text, stage1, context, more, slot, self._slot_name)
        answer = await asking.ask("stage2_validator", inputs, shown, Validator2Answer)
        return process_validator2(
            answer,
            sample.text,
            language,
            stage1_risks=stage1.validator.structural_risks,
            patched_aspect_n=len(patched.aspects),
        )


def _numbered(ate: AteReviewAnswer, atsa: AtsaReviewAnswer, text: str) -> Reviews:
    aspect_reviews = tuple(
        AspectReview(
            change_id=f"chg_{number:03d}",
            aspect_term=one.aspect_term,
            action=one.action,
            revised_span=valid_span(one.revised_span, text),
            reason=one.reason,
            provenance=one.provenance,
        )
        for number, one in enumerate(ate.reviews, start=1)
    )
    sentiment_reviews: list[SentimentReview] = []
    counts = PolarityCounts()
    for number, one in enumerate(atsa.reviews, start=len(aspect_reviews) + 1):
        polarity = None
        if one.revised_polarity is not None:
            polarity, how = read_polarity(one.revised_polarity)
            counts = counts.plus(PolarityCounts(1, how == "repaired", how == "invalid"))
        sentiment_reviews.append(
            SentimentReview(
                change_id=f"chg_{number:03d}",
                aspect_term=one.aspect_term,
                action=one.action,
                revised_polarity=polarity,
                reason=one.reason,
                provenance=one.provenance,
            )
        )
    return Reviews(aspect_reviews, tuple(sentiment_reviews), counts)
