"""Stage1 of rules v2: pairs with quotes in one ask, then the validator."""

from episodic_absa.agents.asking import Asking
from episodic_absa.agents.settings import PipelineSettings
from episodic_absa.agents.shown_values import Context, shown_pairs
from episodic_absa.agents.slim_translation import ate_of_pairs, atsa_of_pairs, validator_of_risks
from episodic_absa.agents.stage1.ate_processing import process_ate
from episodic_absa.agents.stage1.atsa_processing import process_atsa
from episodic_absa.agents.stage1.stage1 import Stage1Run
from episodic_absa.agents.stage1.validator_processing import process_validator
from episodic_absa.schemas.absa import Sample, Stage1Result, ValidatorOutput
from episodic_absa.schemas.role_inputs import AteInputs, ValidatorInputs
from episodic_absa.schemas.slim_answers import JointAnswer, RisksAnswer
from episodic_absa.vocabulary import Language


class SlimStage1:
    """Asks for all pairs at once, quote before term: a small model finds the target of words it has just copied."""

    def __init__(self, settings: PipelineSettings, allowlist: frozenset[str] = frozenset()) -> None:
        self._settings = settings
        self._allowlist = allowlist

    async def run(self, sample: Sample, language: Language, asking: Asking) -> Stage1Run:
        """Return the first analysis of a sample, post-processed.

        Raises:
            BackendError: an agent gave no valid answer.
        """
        text = sample.text
        answer = await asking.ask("joint", AteInputs(text=text, language=language), [("text", text)], JointAnswer)
        ate = process_ate(
            ate_of_pairs(answer.pairs),
            text,
            language,
            span_repair=self._settings.stage1.span_repair,
            allowlist=self._allowlist,
        )
        atsa = process_atsa(atsa_of_pairs(answer.pairs, text), ate.aspects, text)
        validator = ValidatorOutput()
        if self._settings.enable_validator:
            sentiments = atsa.atsa.sentiments
            inputs = ValidatorInputs(text=text, language=language, aspects=ate.aspects, sentiments=sentiments)
            context: Context = [("text", text), ("pairs", shown_pairs(sentiments))]
            risks = await asking.ask("validator", inputs, context, RisksAnswer)
            validator = process_validator(validator_of_risks(risks, text), text, language, aspect_n=len(ate.aspects))
        result = Stage1Result(ate=ate, atsa=atsa.atsa, validator=validator)
        return Stage1Run(result, atsa.unmatched_terms, atsa.polarity_counts)
