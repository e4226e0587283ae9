"""Stage1: pairs with quotes, in one ask or in two, then the validator."""

from collections.abc import Sequence

from episodic_absa.backends.embedded import answer_of
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.shown_values import Context, shown_pairs
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage1.joint_votes import ask_for_pairs
from episodic_absa.pipeline.stage1.named_pairs import pairs_of, targets_of
from episodic_absa.pipeline.stage1.risks import risks_of
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import SentimentItem, Stage1Ate, Stage1Atsa, Stage1Result, ValidatorOutput
from episodic_absa.schemas.answers import JointAnswer, JudgementsAnswer, Pair, RisksAnswer, TermsAnswer
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import AteInputs, AtsaInputs, ValidatorInputs
from episodic_absa.vocabulary import Language


class Stage1:
    """Asks for all pairs at once, quote before term: a small model finds the target of words it has just copied.

    With `stage1.joint: false` one ask names the targets and another one judges them.
    """

    def __init__(
        self, settings: PipelineSettings, allowlist: frozenset[str] = frozenset(), reader: TextReader | None = None
    ) -> None:
        self._settings = settings
        self._allowlist = allowlist
        self._reader = reader

    async def run(self, text: str, language: Language, asking: Asking) -> FirstAnalysis:
        """Return the first analysis of a text.

        Raises:
            BackendError: an agent gave no valid answer.
        """
        if self._settings.stage1.joint is False:
            targets, named = await self._read_apart(text, language, asking)
        else:
            named = await ask_for_pairs(text, language, asking, self._settings)
            targets = self._targets([pair.term for pair in named], text, language)
        read = pairs_of(named, targets.aspects, text)
        sentiments = tuple(self._with_confidence(item, text, language) for item in read.sentiments)
        validator = await self._validated(text, language, targets, sentiments, asking)
        result = Stage1Result(ate=targets, atsa=Stage1Atsa(sentiments=sentiments), validator=validator)
        return FirstAnalysis(text, language, result, read.unmatched_terms, read.polarity_counts)

    def read(self, text: str, language: Language) -> FirstAnalysis:
        """Return the reader's own analysis: no model is asked, and nobody names risks."""
        named: Sequence[Pair] = ()
        if self._reader is not None:
            answer = answer_of(AteInputs(text=text, language=language), JointAnswer, self._reader)
            named = JointAnswer.model_validate(answer.model_dump()).pairs
        targets = self._targets([pair.term for pair in named], text, language)
        read = pairs_of(named, targets.aspects, text)
        sentiments = tuple(self._with_confidence(item, text, language) for item in read.sentiments)
        result = Stage1Result(ate=targets, atsa=Stage1Atsa(sentiments=sentiments), validator=ValidatorOutput())
        return FirstAnalysis(text, language, result, is_readers_own=True)

    async def _read_apart(self, text: str, language: Language, asking: Asking) -> tuple[Stage1Ate, Sequence[Pair]]:
        answer = await asking.ask("ate", AteInputs(text=text, language=language), [("text", text)], TermsAnswer)
        targets = self._targets(answer.terms, text, language)
        inputs = AtsaInputs(text=text, language=language, aspects=targets.aspects)
        context: Context = [("text", text), ("targets", [target.aspect_term for target in targets.aspects])]
        judged = await asking.ask("atsa", inputs, context, JudgementsAnswer)
        return targets, [Pair(quote=item.quote, term=item.target, polarity=item.polarity) for item in judged.judgements]

    def _targets(self, terms: Sequence[str], text: str, language: Language) -> Stage1Ate:
        return targets_of(
            terms, text, language, with_spans=self._settings.stage1.span_repair, allowlist=self._allowlist
        )

    async def _validated(
        self, text: str, language: Language, targets: Stage1Ate, sentiments: tuple[SentimentItem, ...], asking: Asking
    ) -> ValidatorOutput:
        if not self._settings.enable_validator:
            return ValidatorOutput()
        inputs = ValidatorInputs(text=text, language=language, aspects=targets.aspects, sentiments=sentiments)
        context: Context = [("text", text), ("pairs", shown_pairs(sentiments))]
        answer = await asking.ask_witness("validator", inputs, context, RisksAnswer)
        return risks_of(answer or RisksAnswer(risks=()), text, language, target_n=len(targets.aspects))

    def _with_confidence(self, item: SentimentItem, text: str, language: Language) -> SentimentItem:
        known = readers_p(item, text, language, self._reader)
        return item if known is None else item.model_copy(update={"confidence": known})


def readers_p(item: SentimentItem, text: str, language: Language, reader: TextReader | None) -> float | None:
    """Return how likely the reader holds a pair to be right; None if it cannot say anything."""
    view = reader.view(text, language, item.aspect_term) if reader and item.aspect_term else None
    return None if view is None or item.polarity is None else view.p_of(item.polarity)
