"""Stage1: ATE, ATSA and the validator in a chain, or each from the text alone (`stage1.independent`)."""

from typing import NamedTuple

from episodic_absa.language import PolarityCounts
from episodic_absa.schemas.absa import Stage1Result, ValidatorOutput
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import AteInputs, AtsaInputs, ValidatorInputs
from episodic_absa.schemas.seed_answers import AteAnswer, AtsaAnswer, ValidatorAnswer
from episodic_absa.seed.answer_processing import process_ate, process_atsa
from episodic_absa.seed.shown_values import Asks, Context, shown_sentiments, shown_terms
from episodic_absa.seed.validator_processing import process_validator
from episodic_absa.vocabulary import Language


class Stage1Run(NamedTuple):
    """The first analysis, and what post-processing removed."""

    result: Stage1Result
    unmatched_sentiments: tuple[str, ...]
    """Terms of sentiments that neither match an aspect nor occur in the text."""
    polarity_counts: PolarityCounts


class Stage1:
    """Runs the three Stage1 agents."""

    def __init__(self, settings: PipelineSettings, allowlist: frozenset[str] = frozenset()) -> None:
        self._settings = settings
        self._allowlist = allowlist

    async def run(self, text: str, language: Language, asking: Asks) -> Stage1Run:
        """Return the first analysis of a sample, post-processed.

        Raises:
            BackendError: an agent gave no valid answer.
        """
        independent = self._settings.stage1.independent
        context: Context = [("text", text), ("language", language)]
        ate_answer = await asking.ask("ate", AteInputs(text=text, language=language), context, AteAnswer)
        ate = process_ate(
            ate_answer, text, language, span_repair=self._settings.stage1.span_repair, allowlist=self._allowlist
        )
        if not independent:
            context = [*context, ("aspects", shown_terms(ate.aspects))]
        aspects = None if independent else ate.aspects
        atsa_answer = await asking.ask(
            "atsa", AtsaInputs(text=text, language=language, aspects=aspects), context, AtsaAnswer
        )
        atsa = process_atsa(atsa_answer, ate.aspects, text)
        validator = ValidatorOutput()
        if self._settings.enable_validator:
            sentiments = None if independent else atsa.atsa.sentiments
            if sentiments is not None:
                context = [*context, ("sentiments", shown_sentiments(sentiments))]
            inputs = ValidatorInputs(text=text, language=language, aspects=aspects, sentiments=sentiments)
            answer = await asking.ask("validator", inputs, context, ValidatorAnswer)
            validator = process_validator(answer, text, language, aspect_n=len(ate.aspects))
        result = Stage1Result(ate=ate, atsa=atsa.atsa, validator=validator)
        return Stage1Run(result, atsa.unmatched_terms, atsa.polarity_counts)
