"""The memory as one sample uses it: one read, one write. A runner's subclass decides when they happen."""

from typing import NamedTuple

from episodic_absa.memory import EpisodicOrchestrator, PrincipleCatalogue, SlotAnswer
from episodic_absa.memory.episodes.selective_storage import Teaching
from episodic_absa.schemas.absa import ModeratorSummary, ReviewOutcome, Sample, Stage1Result
from episodic_absa.schemas.run import Condition, StoreDecision


class WriteInputs(NamedTuple):
    """What a sample gives the memory beside its first analysis."""

    outcome: ReviewOutcome
    summary: ModeratorSummary
    teaching: Teaching | None = None
    """None under rules that decide no single changes."""


class MemoryView:
    """One read and one write of the memory for one sample. They happen at once."""

    def __init__(
        self, orchestrator: EpisodicOrchestrator, *, sample_index: int = 0, seed: int = 0, used_in_eval: bool = False
    ) -> None:
        self._orchestrator = orchestrator
        self._sample_index = sample_index
        self._seed = seed
        self._used_in_eval = used_in_eval

    @property
    def condition(self) -> Condition:
        """The condition whose flags apply."""
        return self._orchestrator.condition

    @property
    def catalogue(self) -> PrincipleCatalogue:
        """The principles that advisories come from."""
        return self._orchestrator.catalogue

    def without_debate(self) -> SlotAnswer:
        """Return the empty slot of a pipeline that has no debate."""
        return self._orchestrator.empty_slot_without_debate()

    async def read(self, sample: Sample, stage1: Stage1Result) -> SlotAnswer:
        """Return the slot of a sample. Called once, before the debate."""
        return self._orchestrator.get_slot_payload_for_current_sample(
            sample.text, stage1.ate, stage1.atsa, stage1.validator, sample.language_code, sample_id=sample.uid
        )

    async def write(self, sample: Sample, stage1: Stage1Result, inputs: WriteInputs) -> StoreDecision:
        """Store the episode of a sample if the condition allows. Called once, after the moderator."""
        return self._orchestrator.append_episode_if_needed(
            sample.text,
            sample.uid,
            stage1,
            inputs.outcome,
            inputs.summary,
            language_code=sample.language_code,
            split=sample.split,
            sample_index=self._sample_index,
            seed=self._seed,
            used_in_eval=self._used_in_eval,
            teaching=inputs.teaching,
        )
