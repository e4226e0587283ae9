"""The flags of a run (Condition), and the record of memory per sample (MemoryMeta)."""

from typing import Annotated, Literal

from pydantic import Field

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel
from episodic_absa.schemas.memory_v1_1 import EpisodeId
from episodic_absa.schemas.overlays import AdviceOverlay, PipelineOverlay
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3
from episodic_absa.vocabulary import (
    AdviceFrom,
    DangerousAdvice,
    DebateCall,
    DebateGateReason,
    Expects,
    InjectionSkip,
    MemoryMode,
    Rules,
    Stage2GateReason,
    StorageTag,
    StoreSkip,
)


class Condition(FrozenModel):
    """A condition is its flags; the name is for people and file names.

    Example:
        >>> from episodic_absa import Condition, load_condition
        >>> condition: Condition = load_condition("C1")
        >>> condition.memory_mode, condition.retrieval_execute, condition.store_write
        ('off', False, False)
    """

    name: Annotated[str, Field(min_length=1)]
    memory_mode: MemoryMode
    retrieval_execute: Flag
    injection_mask: Flag
    store_write: Flag
    exposed_to_debate: Flag
    exposed_to_stage2: Flag
    dangerous_advice: DangerousAdvice
    """From the head of the conditions file: what happens to advice that failed before."""
    use_lexical: Flag
    rules: Rules = "seed"
    """Which rules decide; they are no flag of the memory."""
    advice: AdviceOverlay = AdviceOverlay()
    """Where advice comes from, and what of it is left out."""
    pipeline: PipelineOverlay = PipelineOverlay()
    """What the condition changes of the experiment's pipeline."""

    @property
    def is_exposed(self) -> bool:
        """Whether a prompt may show memory."""
        return self.exposed_to_debate or self.exposed_to_stage2

    def answers_like(self, other: "Condition") -> bool:
        """Return whether both conditions give the same answers by construction: neither shows memory to anything."""
        shows = self.is_exposed or other.is_exposed
        return not shows and (self.rules, self.pipeline) == (other.rules, other.pipeline)

    @property
    def decides_changes(self) -> bool:
        """Whether each change is decided by itself and has an outcome. Seed rules decide a patch as a whole."""
        return self.rules != "seed"


class Coin(FrozenModel):
    """Whether the advice of one principle was left out for a sample, under `advice.withhold`."""

    principle_id: str
    withheld: Flag


class MemoryRecord(FrozenModel):
    """What the memory did for one sample, without what follows from the condition, the bundle or the calls."""

    retrieval_calls: Literal[0, 1] = 0
    retrieved_ids: tuple[EpisodeId, ...] = ()
    memory_blocked_episode_n: Count = 0
    memory_blocked_advisory_n: Count = 0
    memory_demoted_advisory_n: Count = 0
    memory_block_reason: Literal["", "opposite_polarity_failed"] = ""
    memory_dangerous_current_n: Count = 0
    firewall_dropped_n: Count = 0
    injection_trigger_reasons: tuple[DebateGateReason, ...] = ()
    prompt_injection_chars: Count = 0
    advisory_injection_gated: Flag = False
    """True only if the condition exposes memory to the debate and the gate was closed."""
    injection_skip_reason: InjectionSkip = ""
    advisory_expects: Expects | None = None
    """What the top-ranked injected advisory expects of the analyst."""
    stage2_memory_injected: Flag = False
    stage2_memory_gate_reasons: tuple[Stage2GateReason, ...] = ()
    stage2_memory_prompt_injection_chars: Count = 0
    stage2_injection_skip_reason: InjectionSkip = ""
    advised_ids: tuple[EpisodeId, ...] = ()
    """The episodes that advice was made of, blocked and withheld advice included; of a donor's store for a donor."""
    coins: tuple[Coin, ...] = ()
    """One per principle that was to be offered, if the condition withholds advice."""
    matched_chars: Count = 0
    """For a placebo: characters of the messages and warnings that retrieved advice would have had."""
    repeated_advisory_n: Count = 0
    """Under rules v3: advisories left out because a better ranked one has the same principle."""
    opposed_advisory_n: Count = 0
    """Under rules v3: advisories left out because a better ranked one asks for the opposite."""


class MemoryMeta(MemoryRecord):
    """What the memory did for one sample, and what of it reached a prompt."""

    condition: str
    memory_mode: MemoryMode
    retrieval_calls: Literal[0, 1]
    retrieved_k: Annotated[int, Field(strict=True, ge=0, le=3)]
    retrieved_ids: tuple[EpisodeId, ...]
    exposed_to_debate: Flag
    exposed_to_stage2: Flag
    injection_trigger_reason: DebateGateReason | None = None
    """First reason in gate order, evaluated in every condition."""
    memory_access_policy: dict[Literal["debate"], tuple[DebateCall, ...]]
    memory_debate_slot_present_for: tuple[DebateCall, ...] = ()
    """Calls whose rendered prompt held the slot."""
    stage2_memory_gate_reason: Stage2GateReason | None = None
    advice_from: AdviceFrom = "retrieved"
    """Where the condition takes advice from."""
    offered_principles: tuple[str, ...] = ()
    """The principles of the advisories in the slot, in rank order."""
    offered_chars: Count = 0
    """Characters of the messages and warnings in the slot."""

    @property
    def is_exposed(self) -> bool:
        """Whether the condition may show memory to the debate or to Stage2."""
        return self.exposed_to_debate or self.exposed_to_stage2

    @property
    def record(self) -> MemoryRecord:
        """The part that nothing else tells."""
        return MemoryRecord(**{name: getattr(self, name) for name in MemoryRecord.model_fields})


class StoreDecision(FrozenModel):
    """Whether a sample became an episode, and why."""

    store_decision: Literal["stored", "skipped"]
    store_skip_reason: StoreSkip = ""
    store_reason_tags: tuple[StorageTag, ...] = ()
    episode: EpisodicMemoryEntryV1_3 | None = None
    """The episode as the store holds it."""

    @property
    def episode_id(self) -> EpisodeId | None:
        """The id of the episode; None if the sample became none."""
        return None if self.episode is None else self.episode.episode_id
