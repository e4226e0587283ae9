"""The result of one sample, and its line in outputs.jsonl."""

from dataclasses import dataclass
from typing import Any

from episodic_absa.agents.debate.review_context import HintCounts
from episodic_absa.agents.second_look import SecondLook
from episodic_absa.agents.stage1.atsa_processing import PolarityCounts
from episodic_absa.memory.injection.injection_controller import SlotPayload
from episodic_absa.schemas.absa import (
    DebateOutput,
    FinalResult,
    ModeratorOutput,
    ReviewContext,
    Sample,
    SentimentItem,
    Stage1Result,
    Stage2Result,
)
from episodic_absa.schemas.run import MemoryMeta, StoreDecision
from episodic_absa.schemas.run_files.adoption import Adoption, OverrideFlags
from episodic_absa.schemas.run_files.call_record import CallRecord
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.schemas.run_files.output_line import OutputLine, OutputMeta, OutputSecondLook, OutputStage1
from episodic_absa.schemas.run_files.override_decision import OverrideDecision
from episodic_absa.schemas.run_files.patch_log import PatchLogEntry
from episodic_absa.vocabulary import Language


@dataclass(frozen=True, slots=True, repr=False)
class SampleResult:
    """One analysed sample: the final tuples, and every step that led to them. It knows no gold.

    Example:
        >>> from episodic_absa import analyze
        >>> result = analyze("The room was clean, but the breakfast was cold.")
        >>> result
        SampleResult(mixed: room positive, breakfast negative)
        >>> [(pair.aspect_term, pair.polarity) for pair in result.final_result.final_tuples]
        [('room', 'positive'), ('breakfast', 'negative')]
        >>> result.moderator.selected_stage, len(result.calls)
        ('stage1', 10)
    """

    sample: Sample
    language: Language
    seed: int
    stage1: Stage1Result
    unmatched_sentiments: tuple[str, ...]
    debate: DebateOutput | None
    review_context: ReviewContext
    hint_counts: HintCounts
    stage2: Stage2Result | None
    patch_log: tuple[PatchLogEntry, ...]
    override_decisions: tuple[OverrideDecision, ...]
    override: OverrideFlags
    adoption: Adoption
    moderator: ModeratorOutput
    final_result: FinalResult
    final_sentiments: tuple[SentimentItem, ...]
    """The sentiments behind the final tuples, with their evidence."""
    patched_sentiments: tuple[SentimentItem, ...]
    """The sentiments behind the Stage2 tuples, adopted or not."""
    changes: tuple[ChangeRecord, ...] | None
    """Under rules v2: every proposed change with its witnesses and its decision; None under seed rules."""
    second_look: SecondLook | None
    """How closely an adaptive pipeline looked again, and why; None for any other effort."""
    memory: MemoryMeta
    memory_bundle: SlotPayload
    store: StoreDecision
    polarity_counts: PolarityCounts
    calls: tuple[CallRecord, ...]

    def __repr__(self) -> str:
        final = self.final_result
        pairs = ", ".join(f"{pair.aspect_term or '(implicit)'} {pair.polarity}" for pair in final.final_tuples)
        return f"SampleResult({final.label}: {pairs or 'no aspects'})"

    def output_line(self, sample_index: int) -> OutputLine:
        """Return the sample's line of outputs.jsonl; its index is its place in the run."""
        stage1, store = self.stage1, self.store
        return OutputLine(
            uid=self.sample.uid,
            sample_index=sample_index,
            status="ok",
            stage1=OutputStage1(
                ate=stage1.ate,
                atsa=stage1.atsa,
                validator=stage1.validator,
                unmatched_sentiment=self.unmatched_sentiments,
            ),
            debate=self.debate,
            stage2=self.stage2,
            patch_log=self.patch_log,
            changes=self.changes,
            second_look=None
            if self.second_look is None
            else OutputSecondLook(look=self.second_look.look, stakes=self.second_look.stakes),
            adoption=self.adoption,
            moderator=self.moderator,
            final_result=self.final_result,
            meta=OutputMeta(
                condition=self.memory.condition,
                memory_mode=self.memory.memory_mode,
                seed=self.seed,
                language_code=self.language,
                split=self.sample.split,
                domain_id=self.sample.domain_id,
                case_type=self.sample.case_type,
                memory=self.memory,
                store_decision=store.store_decision,
                store_skip_reason=store.store_skip_reason,
                store_reason_tags=store.store_reason_tags,
                episode_id=store.episode_id,
            ),
        )

    def to_output(self) -> dict[str, Any]:
        """Return the line of outputs.jsonl as JSON values, without the index that a run gives a sample."""
        fields = self.output_line(sample_index=0).model_dump(mode="json")
        del fields["sample_index"]
        return fields
