"""The result of one sample, and its line in outputs.jsonl."""

from dataclasses import dataclass
from typing import Any, Final

from episodic_absa.language import PolarityCounts
from episodic_absa.memory.injection.injection_controller import SlotPayload
from episodic_absa.pipeline.result_views.aspects import Aspect, aspects_of
from episodic_absa.pipeline.result_views.marked_text import marked_text
from episodic_absa.schemas.absa import (
    DebateOutput,
    FinalResult,
    ModeratorOutput,
    Sample,
    SentimentItem,
    Stage1Result,
    Stage2Result,
)
from episodic_absa.schemas.run import MemoryMeta, StoreDecision
from episodic_absa.schemas.run_files.adoption import Adoption, OverrideDecision, OverrideFlags, PatchLogEntry
from episodic_absa.schemas.run_files.candidate_record import CandidateRecord, DecisionRecord
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.schemas.run_files.sample_record import (
    Analysis,
    CallRecord,
    DebateScore,
    OverrideOutcome,
    PolarityWords,
    StageLabels,
)
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import Language, ResultLabel

_SHOWN_ASPECTS: Final = 8
"""The most aspects that the printed form of a result names."""


@dataclass(frozen=True, slots=True, repr=False)
class SampleResult:
    """One analysed sample: the final tuples, and every step that led to them. It knows no gold.

    Example:
        >>> from episodic_absa import analyze
        >>> result = analyze("The room was clean, but the breakfast was cold.")
        >>> result
        SampleResult(mixed: room positive, breakfast negative)
        >>> result.label
        'mixed'
        >>> [(aspect.term, aspect.polarity, aspect.evidence) for aspect in result.aspects]
        [('room', 'positive', 'was clean'), ('breakfast', 'negative', 'was cold')]
        >>> sorted(result.to_dict())
        ['aspects', 'label', 'language', 'text']
    """

    sample: Sample
    language: Language
    seed: int
    stage1: Stage1Result
    unmatched_sentiments: tuple[str, ...]
    debate: DebateOutput | None
    debate_mapping: DebateScore | None
    """How the debate's names were read; None under rules that map none."""
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
    stage_labels: StageLabels
    decision: DecisionRecord | None
    """Every candidate with its witnesses; None under seed rules."""
    memory: MemoryMeta
    memory_bundle: SlotPayload
    store: StoreDecision
    polarity_counts: PolarityCounts
    calls: tuple[CallRecord, ...]

    @property
    def text(self) -> str:
        """The review, NFC-normalised; spans refer to it."""
        return self.sample.text

    @property
    def label(self) -> ResultLabel:
        """The label of the whole review: `none` if it holds no opinion, "" if it was not read."""
        return self.final_result.label

    @property
    def candidates(self) -> tuple[CandidateRecord, ...]:
        """Every pair that somebody named, with its witnesses and its decision; none under seed rules."""
        return () if self.decision is None else self.decision.candidates

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """The aspects of the review, in text order; opinions that name none come last."""
        return aspects_of(self.final_result.final_tuples, self.stage1, self.debate)

    def to_dict(self) -> dict[str, Any]:
        """Return text, language, label and aspects as JSON values. `to_output` returns everything."""
        return {
            "text": self.text,
            "language": self.language,
            "label": self.label,
            "aspects": [aspect.to_dict() for aspect in self.aspects],
        }

    def to_json(self) -> str:
        """Return what `to_dict` returns as one line of JSON."""
        return canonical_json(self.to_dict())

    def __repr__(self) -> str:
        named = self.aspects[:_SHOWN_ASPECTS]
        pairs = ", ".join(f"{aspect.term or '(implicit)'} {aspect.polarity}" for aspect in named)
        more = f", {len(self.aspects) - len(named)} more" if len(self.aspects) > len(named) else ""
        if not pairs:
            pairs = "no aspects" if self.label else "unknown language"
        return f"SampleResult({self.label or 'not read'}: {pairs}{more})"

    def _repr_html_(self) -> str:
        """Return the review with its aspects marked; a notebook shows this."""
        return marked_text(self.text, self.label, self.aspects)

    @property
    def analysis(self) -> Analysis:
        """What the record of a run holds of the analysis."""
        counts = self.polarity_counts
        stage1 = self.stage1.atsa.sentiments
        return Analysis(
            stage1=self.stage1,
            unmatched_sentiment=self.unmatched_sentiments,
            polarity_words=PolarityWords(read=counts.read_n, repaired=counts.repaired_n, invalid=counts.invalid_n),
            debate=self.debate,
            debate_read=self.debate_mapping,
            stage2=self.stage2,
            patched_sentiments=None if self.patched_sentiments == stage1 else self.patched_sentiments,
            patch_log=self.patch_log,
            override_decisions=self.override_decisions,
            override=OverrideOutcome(**self.override._asdict()),
            decision=self.decision,
            adoption=self.adoption,
            moderator=self.moderator,
            labels=self.stage_labels,
            final_tuples=self.final_result.final_tuples,
            kept=self.store,
        )

    def to_output(self) -> dict[str, Any]:
        """Return the line of outputs.jsonl as JSON values, without the index that a run gives a sample."""
        line = OutputLine.of_analysis(
            self.sample.uid,
            self.analysis,
            self.final_result,
            sample_index=0,
            condition=self.memory.condition,
            memory_mode=self.memory.memory_mode,
            seed=self.seed,
            language_code=self.language,
            split=self.sample.split,
            domain_id=self.sample.domain_id,
            case_type=self.sample.case_type,
            memory=self.memory,
        )
        fields = line.model_dump(mode="json")
        del fields["sample_index"]
        return fields
