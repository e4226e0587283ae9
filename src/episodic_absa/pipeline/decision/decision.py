"""One decision for every effort: candidates, their witnesses, one probability, one threshold."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.language import norm
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.debate.debate import Debated
from episodic_absa.pipeline.decided import Decided
from episodic_absa.pipeline.decision.applied_changes import apply_changes, weighed
from episodic_absa.pipeline.decision.candidates import ReaderVoice, gather
from episodic_absa.pipeline.decision.changes import PairChange, changes_of, explained, patch_log_of
from episodic_absa.pipeline.decision.claims import Claim, claims_of_verdicts
from episodic_absa.pipeline.decision.evidence_value import reported_adoption
from episodic_absa.pipeline.decision.pair_label import (
    WholeTextLabel,
    likelier,
    model_label,
    moderated_label,
    reader_label,
)
from episodic_absa.pipeline.decision.weighing import is_in_doubt, weigh
from episodic_absa.pipeline.decision.weights import SHIPPED_WEIGHTS, WeightSet, load_decision_weights
from episodic_absa.pipeline.outcomes.change_outcomes import outcomes_by_reader, with_outcomes
from episodic_absa.pipeline.outcomes.referee import ask_referee, referee_question, with_referee
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage1.risks import unchecked_risks
from episodic_absa.pipeline.stage2 import Stage2, Verdicts
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import (
    DebateSummary,
    FinalResult,
    FinalTuple,
    ReviewOutcome,
    SentimentItem,
    Stage2Result,
)
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.schemas.run_files.candidate_record import DecisionRecord
from episodic_absa.schemas.run_files.sample_record import StageLabels
from episodic_absa.vocabulary import Reach, ResultLabel


class Decision:
    """Decides which candidates are in.

    Args:
        settings: the pipeline's.
        stage2: asked for the risks of the final pairs, only if a change that the model proposed is in.
        reader: a witness, and the source of a result without a model; None leaves it out.
        shares_the_reader: whether the backend's answers are the reader's own.
        referee: whether the referee is asked about made and narrowly refused changes.
        weights: the file of weights.

    Raises:
        ConfigError: the file of weights cannot be read.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        stage2: Stage2,
        reader: TextReader | None,
        *,
        shares_the_reader: bool = False,
        referee: bool = False,
        weights: Path = SHIPPED_WEIGHTS,
    ) -> None:
        self._settings = settings
        self._stage2 = stage2
        self._reader = reader
        self._shares_the_reader = shares_the_reader
        self._referee = referee
        self._weights = load_decision_weights(weights)

    def is_model_needed(self, first: FirstAnalysis) -> bool:
        """Return whether the reader's own analysis leaves a pair, or one that it does not name, in doubt."""
        weights = self._weights.of_models(())
        voice = ReaderVoice(self._reader, first.text, first.language)
        named = [*voice.reading.pairs, *voice.reading.candidates]
        return voice.reading.label is None or any(weights.unsure_from <= pair.p <= weights.unsure_to for pair in named)

    def is_debate_needed(self, first: FirstAnalysis, asking: Asking) -> bool:
        """Return whether a candidate is in doubt before debate and Stage2."""
        decision = self._weigh(first, (), self._weights_of(first, asking))
        return is_in_doubt(decision.candidates, self._weights.named(decision.weights))

    async def decide(
        self,
        uid: str,
        first: FirstAnalysis,
        debated: Debated,
        verdicts: Verdicts,
        reach: Reach | None,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Decided:
        """Return the final result, and the record of every candidate."""
        stage1, weights = first.result, self._weights_of(first, asking)
        claims = (*debated.claims, *claims_of_verdicts(verdicts.ate, verdicts.atsa, first))
        decision = self._weigh(first, claims, weights, reach)
        changes = changes_of(decision.candidates)
        made = [change for change in changes if change.is_made]
        aspects, changed = apply_changes(stage1, made)
        sentiments = weighed(changed, decision.candidates)
        validator2 = unchecked_risks(stage1)
        # Its risks decide nothing: an effort that asks only what it needs does not ask for them.
        is_whole = self._settings.enable_stage2 and self._settings.effort == "full"
        if is_whole and any(change.is_proposed for change in made):
            shown = tuple(_without_readers_own(sentiments, made))
            validator2 = await self._stage2.validate(first, aspects, shown, slot, asking)
        adoption = reported_adoption(
            weighed(stage1.atsa.sentiments, decision.candidates),
            sentiments,
            stage1.validator.structural_risks,
            validator2.structural_risks,
            adopted=bool(made),
            is_proposal_made=any(change.is_proposed for change in made),
            weights=self._settings.ev_weights,
        )
        tuples = extract_tuples(sentiments)
        voice = ReaderVoice(self._reader, first.text, first.language)
        summary = debated.record.summary if debated.record else DebateSummary()
        whole_text = likelier(
            reader_label(voice.reading),
            None
            if self._is_readers_own(first)
            else model_label(summary, validator2, stage1.validator, p=weights.label_p),
        )
        is_read = voice.reading.label is not None or not self._is_readers_own(first)
        moderator = moderated_label(tuples, whole_text, changed=bool(made), is_read=is_read)
        outcomes = await self._outcomes(uid, first, changes, weights, asking)
        return Decided(
            stage2=Stage2Result(
                ate_reviews=verdicts.ate,
                atsa_reviews=verdicts.atsa,
                validator=validator2,
                accepted_changes=explained(changes, decision, made=True),
                rejected_changes=explained(changes, decision, made=False),
            ),
            adoption=adoption,
            moderator=moderator,
            final_result=FinalResult(
                label=moderator.final_label,
                confidence=moderator.confidence,
                rationale=moderator.rationale,
                stage1_tuples=first.tuples,
                stage2_tuples=tuples,
                final_tuples=tuples,
            ),
            final_sentiments=sentiments,
            patched_sentiments=sentiments,
            stage_labels=StageLabels(
                stage1=_label(first.tuples, whole_text, is_read=is_read),
                stage2=_label(tuples, whole_text, is_read=is_read),
            ),
            outcome=ReviewOutcome(
                # What was kept has Stage1's confidence: the memory compares both results.
                aspects=aspects,
                sentiments=changed,
                structural_risks=validator2.structural_risks,
                changes=outcomes,
            ),
            patch_log=patch_log_of(changes),
            decision=with_outcomes(decision, changes, outcomes),
        )

    def _is_readers_own(self, first: FirstAnalysis) -> bool:
        return first.is_readers_own or self._shares_the_reader

    def _weights_of(self, first: FirstAnalysis, asking: Asking) -> WeightSet:
        models = () if self._is_readers_own(first) else tuple(call.model for call in asking.calls)
        return self._weights.of_models(models)

    def _weigh(
        self, first: FirstAnalysis, claims: Sequence[Claim], weights: WeightSet, reach: Reach | None = None
    ) -> DecisionRecord:
        voice = ReaderVoice(self._reader, first.text, first.language)
        candidates = gather(first, claims, voice, is_readers_own=self._is_readers_own(first))
        return DecisionRecord(weights=weights.name, tau=weights.tau, candidates=weigh(candidates, weights), reach=reach)

    async def _outcomes(
        self, uid: str, first: FirstAnalysis, changes: Sequence[PairChange], weights: WeightSet, asking: Asking
    ) -> tuple[ChangeOutcomeV1_2, ...]:
        """Return whether each change was right. No risk is looked at: a dropped pair cannot be risky."""
        outcomes = outcomes_by_reader(changes)
        question = referee_question(first.result, changes, weights) if self._referee else None
        if question is None:
            return outcomes
        said = await ask_referee(question, uid, first.text, first.language, asking)
        return with_referee(outcomes, changes, question, said)


def _label(tuples: Sequence[FinalTuple], whole_text: WholeTextLabel | None, *, is_read: bool) -> ResultLabel:
    return moderated_label(tuples, whole_text, changed=False, is_read=is_read).final_label


def _without_readers_own(sentiments: Sequence[SentimentItem], made: Sequence[PairChange]) -> Iterator[SentimentItem]:
    """Yield the pairs that a prompt may show: what the reader alone says stands in no prompt."""
    own = {
        (norm(change.aspect_term), change.to_polarity)
        for change in made
        if change.to_polarity is not None and change.candidate.is_polarity_of_reader
    }
    return (item for item in sentiments if (norm(item.aspect_term), item.polarity) not in own)
