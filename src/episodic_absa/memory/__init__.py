"""The episodic memory. It needs no model, no agent and no dataset.

Other agents start with `AgentMemory`: `recall` before a decision, `remember` after it. `EpisodicOrchestrator` is the
same for results of this package's own pipeline.
"""

from episodic_absa.memory.advice.advisory_builder import AdvisoryBuild, AdvisoryBuilder
from episodic_absa.memory.advice.label_firewall import LabelFirewall
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue, load_catalogue
from episodic_absa.memory.episodes.episode_builder import EpisodeBuilder
from episodic_absa.memory.episodes.leak_guard import LONG_TERM, TextRuns
from episodic_absa.memory.episodic_orchestrator import (
    EpisodicMemorySettings,
    EpisodicOrchestrator,
    SlotAnswer,
)
from episodic_absa.memory.injection.advisory_injection_gate import (
    GateDecision,
    GateSignals,
    gate_signals,
    should_inject_advisory,
    should_inject_advisory_with_reason,
    should_inject_memory_for_stage2_with_reason,
)
from episodic_absa.memory.injection.injection_controller import (
    DEBATE_SLOT,
    STAGE2_SLOT,
    Injection,
    InjectionController,
    SlotTarget,
    injection_for,
)
from episodic_absa.memory.memory_form import OUTCOME_FORM, MemoryForm
from episodic_absa.memory.memory_store import MemoryStore, Scratch, StoredEpisodes
from episodic_absa.memory.retriever import Retriever
from episodic_absa.memory.signature_builder import SignatureBuilder
from episodic_absa.memory.situations.agent_memory import Advice, AgentMemory
from episodic_absa.memory.situations.situation import Situation

__all__ = [
    "DEBATE_SLOT",
    "LONG_TERM",
    "OUTCOME_FORM",
    "STAGE2_SLOT",
    "Advice",
    "AdvisoryBuild",
    "AdvisoryBuilder",
    "AgentMemory",
    "EpisodeBuilder",
    "EpisodicMemorySettings",
    "EpisodicOrchestrator",
    "GateDecision",
    "GateSignals",
    "Injection",
    "InjectionController",
    "LabelFirewall",
    "MemoryForm",
    "MemoryStore",
    "Principle",
    "PrincipleCatalogue",
    "Retriever",
    "Scratch",
    "SignatureBuilder",
    "Situation",
    "SlotAnswer",
    "SlotTarget",
    "StoredEpisodes",
    "TextRuns",
    "gate_signals",
    "injection_for",
    "load_catalogue",
    "should_inject_advisory",
    "should_inject_advisory_with_reason",
    "should_inject_memory_for_stage2_with_reason",
]
