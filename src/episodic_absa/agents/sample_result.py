"""Everything one sample left behind, and the form in which it is written out."""

from dataclasses import dataclass
from typing import Any

from episodic_absa.agents.asking import CallRecord
from episodic_absa.agents.debate.review_context import HintCounts
from episodic_absa.agents.decision.adoption import Adoption, OverrideFlags
from episodic_absa.agents.stage1.atsa_processing import PolarityCounts
from episodic_absa.agents.stage2.override_gate import OverrideDecision
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
from episodic_absa.schemas.patch_log import PatchLogEntry
from episodic_absa.schemas.run import MemoryMeta, StoreDecision
from episodic_absa.vocabulary import Language


@dataclass(frozen=True, slots=True)
class SampleResult:
    """One analysed sample. It knows no gold."""

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
    memory: MemoryMeta
    memory_bundle: SlotPayload
    store: StoreDecision
    polarity_counts: PolarityCounts
    calls: tuple[CallRecord, ...]

    def to_output(self) -> dict[str, Any]:
        """Return the line of outputs.jsonl, without a sample index: the runner gives one."""
        sample = self.sample
        return {
            "uid": sample.uid,
            "status": "ok",
            "stage1": {
                **self.stage1.model_dump(mode="json"),
                "unmatched_sentiment": list(self.unmatched_sentiments),
            },
            "debate": self.debate.model_dump(mode="json") if self.debate else None,
            "stage2": self.stage2.model_dump(mode="json") if self.stage2 else None,
            "patch_log": [entry.model_dump(mode="json") for entry in self.patch_log],
            "adoption": self.adoption.model_dump(mode="json"),
            "moderator": self.moderator.model_dump(mode="json"),
            "final_result": self.final_result.model_dump(mode="json"),
            "meta": {
                "condition": self.memory.condition,
                "memory_mode": self.memory.memory_mode,
                "seed": self.seed,
                "language_code": self.language,
                "split": sample.split,
                "domain_id": sample.domain_id,
                "case_type": sample.case_type,
                "memory": self.memory.model_dump(mode="json"),
                **self.store.model_dump(mode="json"),
            },
        }
