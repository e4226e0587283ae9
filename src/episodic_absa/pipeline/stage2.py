"""Stage2 of rules v2: verdicts on Stage1 that do not depend on the debate, then the risks of the final pairs."""

import asyncio

from episodic_absa.pipeline.asking import Asking, first_error
from episodic_absa.pipeline.shown_values import Context, shown_pairs, shown_targets, slot_entry
from episodic_absa.pipeline.translation import ate_verdicts_of, atsa_verdicts_of, validator2_of_risks
from episodic_absa.schemas.absa import (
    AspectItem,
    ReviewContext,
    Sample,
    SentimentItem,
    Stage1Result,
    Validator2Output,
)
from episodic_absa.schemas.answers import PairVerdictsAnswer, RisksAnswer, TargetVerdictsAnswer
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot, ReviewInputs, Validator2Inputs
from episodic_absa.seed.review_context import TermMap
from episodic_absa.seed.stage2 import Verdicts, numbered_verdicts
from episodic_absa.seed.validator_processing import process_validator2
from episodic_absa.vocabulary import Language


class SlimStage2:
    """Runs the Stage2 agents with prompts v2; with `targets_only` nobody is asked about polarities."""

    def __init__(self, settings: PipelineSettings, slot_name: str, *, targets_only: bool = False) -> None:
        self._targets_only = targets_only
        self._validates = settings.enable_validator
        self._slot_name = slot_name

    async def give_verdicts(
        self,
        sample: Sample,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Verdicts:
        """Return the verdicts on targets and pairs; neither agent sees the debate or the other's answer.

        Raises:
            BackendError: an agent gave no valid answer. Both calls end first, so that the recorded cost is the same.
        """
        inputs = ReviewInputs(text=sample.text, language=language, stage1=stage1, review_context=context, memory=slot)
        sentiments = stage1.atsa.sentiments
        pairs = shown_pairs(sentiments)
        last = slot_entry(self._slot_name, slot, language)
        shown: Context = [("text", sample.text), ("targets", shown_targets(sentiments)), *last]
        ate, atsa = await asyncio.gather(
            asking.ask_witness("stage2_ate", inputs, shown, TargetVerdictsAnswer),
            self._on_pairs(inputs, [("text", sample.text), ("pairs", pairs), *last], asking),
            return_exceptions=True,
        )
        if isinstance(ate, BaseException) or isinstance(atsa, BaseException):
            raise first_error(ate, atsa)
        # An answer that cannot be read is no verdict.
        ate = ate or TargetVerdictsAnswer(verdicts=())
        atsa = atsa or PairVerdictsAnswer(verdicts=())
        terms = TermMap(context.aspect_terms, sample.text)
        return numbered_verdicts(
            ate_verdicts_of(ate, terms), atsa_verdicts_of(atsa, ate.add, sentiments, terms), sample.text
        )

    async def _on_pairs(self, inputs: ReviewInputs, shown: Context, asking: Asking) -> PairVerdictsAnswer | None:
        if self._targets_only:
            return None
        return await asking.ask_witness("stage2_atsa", inputs, shown, PairVerdictsAnswer)

    async def validate(
        self,
        sample: Sample,
        language: Language,
        stage1: Stage1Result,
        context: ReviewContext,
        verdicts: Verdicts,
        final: tuple[tuple[AspectItem, ...], tuple[SentimentItem, ...]],
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Validator2Output:
        """Return the risks of the final pairs. They are recorded and decide nothing."""
        if not self._validates:
            return Validator2Output()
        aspects, sentiments = final
        inputs = Validator2Inputs(
            text=sample.text,
            language=language,
            stage1=stage1,
            review_context=context,
            memory=slot,
            ate_reviews=verdicts.ate,
            atsa_reviews=verdicts.atsa,
            patched_aspects=aspects,
            patched_sentiments=sentiments,
        )
        shown: Context = [
            ("text", sample.text),
            ("pairs", shown_pairs(sentiments)),
            *slot_entry(self._slot_name, slot, language),
        ]
        answer = await asking.ask_witness("stage2_validator", inputs, shown, RisksAnswer)
        if answer is None:
            return unchecked_risks(stage1)
        stage1_risks = stage1.validator.structural_risks
        read = validator2_of_risks(answer, sample.text)
        # A risk of Stage1 that the validator does not name again is resolved.
        named = {risk.type for risk in read.structural_risks}
        gone = tuple(risk.id for risk in stage1_risks if risk.type not in named)
        return process_validator2(
            read.model_copy(update={"resolved_risk_ids": gone}),
            sample.text,
            language,
            stage1_risks=stage1_risks,
            patched_aspect_n=len(aspects),
        )


def unchecked_risks(stage1: Stage1Result) -> Validator2Output:
    """Return the findings about a result that Validator2 did not judge: every risk of Stage1 stands."""
    risks = stage1.validator.structural_risks
    return Validator2Output(structural_risks=risks, remaining_risk_ids=tuple(risk.id for risk in risks))
