"""Stage1 of rules v2: pairs with quotes, in one ask or in two, then the validator."""

from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.pipeline.joint_votes import ask_for_pairs
from episodic_absa.pipeline.pair_confidence import with_confidence
from episodic_absa.pipeline.shown_values import Context, shown_pairs, shown_terms
from episodic_absa.pipeline.translation import (
    ate_of_pairs,
    ate_of_terms,
    atsa_of_judgements,
    atsa_of_pairs,
    validator_of_risks,
)
from episodic_absa.schemas.absa import Sample, Stage1Ate, Stage1Atsa, Stage1Result, ValidatorOutput
from episodic_absa.schemas.answers import JudgementsAnswer, RisksAnswer, TermsAnswer
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import AteInputs, AtsaInputs, ValidatorInputs
from episodic_absa.schemas.seed_answers import AteAnswer
from episodic_absa.seed.ate_processing import process_ate
from episodic_absa.seed.atsa_processing import ProcessedAtsa, process_atsa
from episodic_absa.seed.stage1 import Stage1Run
from episodic_absa.seed.validator_processing import process_validator
from episodic_absa.vocabulary import Language


class SlimStage1:
    """Asks for all pairs at once, quote before term: a small model finds the target of words it has just copied.

    With `stage1.joint: false` one ask names the targets and another one judges them.
    """

    def __init__(
        self, settings: PipelineSettings, allowlist: frozenset[str] = frozenset(), reader: Reader | None = None
    ) -> None:
        self._settings = settings
        self._allowlist = allowlist
        self._reader = reader

    async def run(self, sample: Sample, language: Language, asking: Asking) -> Stage1Run:
        """Return the first analysis of a sample, post-processed.

        Raises:
            BackendError: an agent gave no valid answer.
        """
        text = sample.text
        read = self._read_apart if self._settings.stage1.joint is False else self._read_jointly
        ate, atsa = await read(text, language, asking)
        judged = tuple(with_confidence(item, text, language, self._reader) for item in atsa.atsa.sentiments)
        atsa = atsa._replace(atsa=Stage1Atsa(sentiments=judged))
        validator = ValidatorOutput()
        if self._settings.enable_validator:
            sentiments = atsa.atsa.sentiments
            inputs = ValidatorInputs(text=text, language=language, aspects=ate.aspects, sentiments=sentiments)
            context: Context = [("text", text), ("pairs", shown_pairs(sentiments))]
            risks = await asking.ask_witness("validator", inputs, context, RisksAnswer)
            answer = validator_of_risks(risks or RisksAnswer(risks=()), text)
            validator = process_validator(answer, text, language, aspect_n=len(ate.aspects))
        result = Stage1Result(ate=ate, atsa=atsa.atsa, validator=validator)
        return Stage1Run(result, atsa.unmatched_terms, atsa.polarity_counts)

    async def _read_jointly(self, text: str, language: Language, asking: Asking) -> tuple[Stage1Ate, ProcessedAtsa]:
        pairs = await ask_for_pairs(text, language, asking, self._settings)
        ate = self._processed(ate_of_pairs(pairs), text, language)
        return ate, process_atsa(atsa_of_pairs(pairs, text), ate.aspects, text, fills_gaps=False)

    async def _read_apart(self, text: str, language: Language, asking: Asking) -> tuple[Stage1Ate, ProcessedAtsa]:
        named = await asking.ask("ate", AteInputs(text=text, language=language), [("text", text)], TermsAnswer)
        ate = self._processed(ate_of_terms(named.terms), text, language)
        inputs = AtsaInputs(text=text, language=language, aspects=ate.aspects)
        context: Context = [("text", text), ("targets", shown_terms(ate.aspects))]
        judged = await asking.ask("atsa", inputs, context, JudgementsAnswer)
        return ate, process_atsa(atsa_of_judgements(judged, text), ate.aspects, text, fills_gaps=False)

    def _processed(self, answer: AteAnswer, text: str, language: Language) -> Stage1Ate:
        return process_ate(
            answer, text, language, span_repair=self._settings.stage1.span_repair, allowlist=self._allowlist
        )
