"""The facade of the memory: one read before the debate, one write after the moderator."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from episodic_absa.language import norm_key
from episodic_absa.memory.advice.advisory_builder import AdvisoryBuilder
from episodic_absa.memory.advice.dangerous_advice import dangerous_pairs
from episodic_absa.memory.advice.label_firewall import LabelFirewall
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.episodes.episode_builder import EpisodeBuilder
from episodic_absa.memory.episodes.leak_guard import refuse_text_runs, stored_term
from episodic_absa.memory.episodes.selective_storage import storage_tags
from episodic_absa.memory.injection.injection_controller import InjectionController, SlotPayload
from episodic_absa.memory.retrieval.retriever import Retriever
from episodic_absa.memory.signature_builder import SignatureBuilder
from episodic_absa.memory.store.memory_store import MemoryStore
from episodic_absa.schemas.absa import (
    ModeratorSummary,
    ReviewOutcome,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    ValidatorOutput,
)
from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1, ProvenanceV1_1
from episodic_absa.schemas.run import Condition, MemoryMeta, StoreDecision
from episodic_absa.vocabulary import DEBATE_CALLS, DangerousAdvice, DebateCall, FirewallMode, MemoryMode, Split


class EpisodicMemorySettings(FrozenModel):
    """How the memory behaves within its condition."""

    topk: int = 3
    require_same_language: Flag = True
    require_structure_overlap: Flag = True
    use_lexical: Flag | None = None
    """None: as the conditions file says."""
    dangerous_advice: DangerousAdvice | None = None
    """None: as the conditions file says."""
    firewall: FirewallMode = "drop"
    selective_storage: Flag = True
    memory_prompt_injection_chars_cap: Annotated[int, Field(strict=True, ge=0)] | None = None
    memory_visible_to: tuple[DebateCall, ...] = DEBATE_CALLS


class SlotAnswer(NamedTuple):
    """What the one read of a sample gives."""

    slot: SlotPayload
    memory_mode: MemoryMode
    meta: MemoryMeta


class EpisodicOrchestrator:
    """Reads and writes the store as its condition's flags allow. It offers a slot; it never shows it."""

    def __init__(
        self,
        condition: Condition,
        store: MemoryStore,
        *,
        settings: EpisodicMemorySettings | None = None,
        catalogue: PrincipleCatalogue | None = None,
    ) -> None:
        settings = settings or EpisodicMemorySettings()
        self.condition = condition
        self.settings = settings
        self.store = store
        self.catalogue = catalogue or load_catalogue()
        use_lexical = condition.use_lexical if settings.use_lexical is None else settings.use_lexical
        self._prohibit_dangerous = (settings.dangerous_advice or condition.dangerous_advice) == "block"
        self._signatures = SignatureBuilder()
        self._retriever = Retriever(
            topk=settings.topk,
            require_same_language=settings.require_same_language,
            require_structure_overlap=settings.require_structure_overlap,
            use_lexical=use_lexical,
        )
        self._advisories = AdvisoryBuilder(self.catalogue)
        self._firewall = LabelFirewall(settings.firewall)
        self._injection = InjectionController(topk=settings.topk, chars_cap=settings.memory_prompt_injection_chars_cap)
        self._episodes = EpisodeBuilder(self.catalogue)

    def get_slot_payload_for_current_sample(
        self,
        text: str,
        stage1_ate: Stage1Ate,
        stage1_atsa: Stage1Atsa,
        stage1_validator: ValidatorOutput,
        language_code: str | None,
        *,
        sample_id: str | None = None,
    ) -> SlotAnswer:
        """Retrieve for one sample, once, just before its debate.

        Args:
            text: the review; only its signature is used.
            stage1_ate: aspects as Stage1 left them.
            stage1_atsa: sentiments as Stage1 left them.
            stage1_validator: risks and proposals as Stage1 left them.
            language_code: as the sample says; missing or "unknown" is detected.
            sample_id: uid of the sample, whose own episodes are left out.
        """
        if not self.condition.retrieval_execute:
            return self._answer(self._injection.build_slot_payload(self.condition))
        signature = self._signatures.build(text, language_code, len(stage1_ate.aspects))
        query: list[str] = [risk.type for risk in stage1_validator.structural_risks]
        query += [proposal.proposal_type for proposal in stage1_validator.correction_proposals]
        episodes = self._retriever.retrieve(self.store.load(), signature, query, sample_id=sample_id)
        terms = [item.aspect_term for item in stage1_ate.aspects]
        terms += [item.aspect_term for item in stage1_atsa.sentiments]
        dangerous_now = _dangerous_now(episodes, terms, text)
        if self.condition.injection_mask:
            slot = self._injection.build_slot_payload(self.condition)
            return self._answer(slot, episodes, memory_dangerous_current_n=dangerous_now)
        build = self._advisories.build_from_episodes(
            episodes,
            signature,
            query_tokens=self._retriever.lexical_tokens(query),
            prohibit_dangerous=self._prohibit_dangerous,
        )
        screened = self._firewall.screen(build, terms)
        return self._answer(
            self._injection.build_slot_payload(self.condition, screened.advisories, screened.warnings),
            episodes,
            memory_blocked_episode_n=build.blocked_episode_n,
            memory_blocked_advisory_n=build.blocked_advisory_n,
            memory_demoted_advisory_n=build.demoted_advisory_n,
            memory_block_reason="opposite_polarity_failed" if build.blocked_advisory_n else "",
            memory_dangerous_current_n=dangerous_now,
            firewall_dropped_n=screened.dropped_n,
        )

    def empty_slot_without_debate(self) -> SlotAnswer:
        """Return the slot of a pipeline without debate: nothing is retrieved, the shape stays the same."""
        return self._answer(self._injection.build_slot_payload(self.condition, debate_enabled=False))

    def append_episode_if_needed(
        self,
        text: str,
        text_id: str,
        stage1: Stage1Result,
        outcome: ReviewOutcome,
        moderator_summary: ModeratorSummary,
        *,
        language_code: str | None,
        split: Split = "unknown",
        sample_index: int = 0,
        seed: int = 0,
        used_in_eval: bool = False,
    ) -> StoreDecision:
        """Build the sample's one episode and store it if the condition writes and it is worth keeping.

        Args:
            text: the review; it is compared with the episode so that nothing of it is stored.
            text_id: uid of the sample.
            stage1: the first analysis.
            outcome: what debate and Stage2 made of it.
            moderator_summary: whose tuples were used, and why.
            language_code: as the sample says.
            split: where the sample comes from.
            sample_index: its place in the run.
            seed: of the run.
            used_in_eval: whether its split is the one being evaluated.
        """
        if not self.condition.store_write:
            return StoreDecision(store_decision="skipped", store_skip_reason="store_write_disabled")
        signature = self._signatures.build(text, language_code, len(stage1.ate.aspects))
        provenance = ProvenanceV1_1(
            source_id=text_id,
            created_from_split=split,
            used_in_eval=used_in_eval,
            sample_index=sample_index,
            seed=seed,
        )
        draft = self._episodes.build(text, signature, stage1, outcome, moderator_summary, provenance)
        refuse_text_runs(draft, text, signature.language)
        if self.settings.selective_storage:
            tags = storage_tags(draft, self.store.load().episode_index)
            if not tags:
                return StoreDecision(store_decision="skipped", store_skip_reason="no_gate_passed")
        else:
            tags = ("gate_disabled",)
        entry = self.store.append(draft)
        return StoreDecision(store_decision="stored", store_reason_tags=tags, episode_id=entry.episode_id)

    def _answer(
        self,
        slot: SlotPayload,
        episodes: Sequence[EpisodicMemoryEntryV1_1] | None = None,
        **counts: Any,
    ) -> SlotAnswer:
        """Put slot and record together; `episodes` is None where nothing was retrieved."""
        condition = self.condition
        meta = MemoryMeta(
            condition=condition.name,
            memory_mode=condition.memory_mode,
            retrieval_calls=0 if episodes is None else 1,
            retrieved_k=len(episodes or ()),
            retrieved_ids=tuple(episode.episode_id for episode in episodes or ()),
            exposed_to_debate=condition.exposed_to_debate,
            exposed_to_stage2=condition.exposed_to_stage2,
            memory_access_policy={"debate": self.settings.memory_visible_to},
            **counts,
        )
        return SlotAnswer(slot, condition.memory_mode, meta)


def _dangerous_now(episodes: Sequence[EpisodicMemoryEntryV1_1], terms: Sequence[str], text: str) -> int:
    """Count the dangerous pairs whose aspect the sample has too. Logged only."""
    pairs = dangerous_pairs(episodes)
    current = {stored_term(norm_key(term, text)) for term in terms} if pairs else set()
    return sum(aspect in current for aspect, _ in pairs)
