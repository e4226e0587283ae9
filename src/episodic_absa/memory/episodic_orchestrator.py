"""The entry point of the memory: one read before the debate, one write after the moderator."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, model_validator

from episodic_absa.errors import ConfigError
from episodic_absa.final_tuples import extract_tuples
from episodic_absa.language import norm_key
from episodic_absa.memory.advice.advisor import AdviceMoment, Advisor
from episodic_absa.memory.advice.dangerous_advice import dangerous_pairs
from episodic_absa.memory.advice.label_firewall import LabelFirewall
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.episodes.episode_builder import answer_of
from episodic_absa.memory.episodes.leak_guard import refuse_text_runs, stored_term
from episodic_absa.memory.episodes.selective_storage import Teaching, storage_tags, teaching_tags
from episodic_absa.memory.injection.injection_controller import InjectionController, SlotPayload
from episodic_absa.memory.memory_form import OUTCOME_FORM, MemoryForm
from episodic_absa.memory.memory_store import MemoryStore
from episodic_absa.memory.retriever import Retriever
from episodic_absa.memory.signature_builder import SignatureBuilder
from episodic_absa.schemas.absa import (
    ModeratorSummary,
    ReviewOutcome,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    ValidatorOutput,
)
from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.schemas.memory_v1_1 import ProvenanceV1_1
from episodic_absa.schemas.run import Condition, MemoryMeta, StoreDecision
from episodic_absa.schemas.stored.memory_v1_3 import AnswerV1_3, EpisodeDraftV1_3, EpisodicMemoryEntryV1_3
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.store.ranking import MAX_TOPK
from episodic_absa.vocabulary import (
    DEBATE_CALLS,
    DangerousAdvice,
    DebateCall,
    FirewallMode,
    MemoryMode,
    Split,
    StorageTag,
    StoreSkip,
)

_KEYS_OF_THE_PIPELINE: Final = {
    "memory_prompt_injection_chars_cap": "PipelineSettings(memory_prompt_injection_chars_cap=...)",
    "memory_visible_to": "PipelineSettings(debate=DebateSettings(memory_visible_to=...))",
}
"""Keys that a caller may look for in the memory's settings, and where they stand."""


class EpisodicMemorySettings(FrozenModel):
    """How the memory retrieves, advises and stores within its condition.

    What a prompt shows of the memory is a setting of the pipeline: see `PipelineSettings`.

    Raises:
        ValidationError: a value is out of range, or a key is unknown or belongs to another model.

    Example:
        >>> from episodic_absa import Analyzer, EpisodicMemorySettings
        >>> analyzer = Analyzer(condition="C2", memory=EpisodicMemorySettings(topk=1, selective_storage=False))
        >>> analyzer.close()
    """

    topk: Annotated[int, Field(strict=True, ge=1, le=MAX_TOPK)] = MAX_TOPK
    """The most episodes that one sample retrieves."""
    require_same_language: Flag = True
    """Whether only episodes of the sample's language are retrieved."""
    require_structure_overlap: Flag = True
    """Whether an episode must share a structure (negation, contrast, irony) with the sample, or have none."""
    use_lexical: Flag | None = None
    """Whether retrieval compares risk ids and proposal types, too. None: as the conditions file says."""
    dangerous_advice: DangerousAdvice | None = None
    """Whether advice that failed before is withheld or shown with a warning. None: as the conditions file says."""
    firewall: FirewallMode = "drop"
    """What happens to advice that holds a label word: it is dropped, or the sample fails."""
    selective_storage: Flag = True
    """Whether only episodes that there is a reason to keep are stored; False stores every sample."""
    referee: Flag = False
    """Whether the referee is asked about adopted and narrowly refused changes: one more request for such a sample.

    Only rules v3 have a referee, and only a condition that writes to its store asks it.
    """

    @model_validator(mode="before")
    @classmethod
    def _refuse_keys_of_the_pipeline(cls, given: Any) -> Any:
        for key, home in _KEYS_OF_THE_PIPELINE.items():
            if isinstance(given, Mapping) and key in given:
                raise ValueError(
                    f"{key} is a setting of the pipeline: set it in the pipeline block, in Python with {home}"
                )
        return given


class SlotAnswer(NamedTuple):
    """The answer to the read of a sample; it unpacks into slot, mode and record."""

    slot: SlotPayload
    """The bundle of advisories and warnings as JSON values; its shape is the same in every condition."""
    memory_mode: MemoryMode
    meta: MemoryMeta
    """The record of the read, as the output's `meta.memory` holds it."""


class EpisodicOrchestrator:
    """Reads and writes the store as its condition's flags allow. It offers a slot; it never shows it.

    Args:
        condition: the flags that decide what is read, shown and written.
        store: where the episodes are.
        settings: how the memory retrieves, advises and stores.
        catalogue: the principles that advice is made of; by default the shipped ones.
        chars_cap: the most characters that a slot may have in a prompt; None for no limit.
        visible_to: the debate calls that may see the slot. They are recorded with every sample.
        root: the folder that relative paths of the condition's `advice` start from; by default the working directory.
        keep_last_n: how many of the newest episodes of a donor's store are in use.
        form: what the memory writes and how it speaks; by default as under rules v3.

    Raises:
        ConfigError: the condition's `advice` names a store, a file or a principle that does not exist, or `form` is
            for other rules than the condition's.

    Example:
        >>> from episodic_absa import EpisodicOrchestrator, MemoryStore, load_condition
        >>> from episodic_absa.schemas.absa import Stage1Ate, Stage1Atsa, ValidatorOutput
        >>> memory = EpisodicOrchestrator(load_condition("C2"), MemoryStore("new_store.jsonl"))
        >>> slot, memory_mode, meta = memory.get_slot_payload_for_current_sample(
        ...     "The screen is not dark.", Stage1Ate(), Stage1Atsa(), ValidatorOutput(), "en", sample_id="r1"
        ... )
        >>> memory_mode, meta.retrieval_calls, slot["retrieved"]
        ('on', 1, [])
    """

    def __init__(
        self,
        condition: Condition,
        store: MemoryStore,
        *,
        settings: EpisodicMemorySettings | None = None,
        catalogue: PrincipleCatalogue | None = None,
        chars_cap: int | None = None,
        visible_to: Sequence[DebateCall] = DEBATE_CALLS,
        root: Path | None = None,
        keep_last_n: int = DEFAULT_KEEP_LAST_N,
        form: MemoryForm = OUTCOME_FORM,
    ) -> None:
        settings = settings or EpisodicMemorySettings()
        if form.rules != condition.rules:
            raise ConfigError(
                f"condition {condition.name} has rules {condition.rules}, the form of the memory is for {form.rules}; "
                f"pass form=MEMORY_FORMS[{condition.rules!r}] of episodic_absa.pipeline.composition",
                key=f"{condition.name}.rules",
            )
        self.condition = condition
        self.settings = settings
        self.store = store
        self.catalogue = form.worded(catalogue or load_catalogue())
        use_lexical = condition.use_lexical if settings.use_lexical is None else settings.use_lexical
        topk = condition.advice.topk or settings.topk
        self._signatures = SignatureBuilder()
        self._retriever = Retriever(
            topk=topk,
            require_same_language=settings.require_same_language,
            require_structure_overlap=settings.require_structure_overlap,
            use_lexical=use_lexical,
        )
        self._injection = InjectionController(topk=topk, chars_cap=chars_cap, form=form)
        self._advisor = Advisor(
            condition,
            self.catalogue,
            self._retriever,
            LabelFirewall(settings.firewall),
            self._injection,
            form,
            prohibit_dangerous=(settings.dangerous_advice or condition.dangerous_advice) == "block",
            root=root,
            keep_last_n=keep_last_n,
        )
        self._build_episode = form.episode_writer(self.catalogue)
        self._visible_to = tuple(visible_to)

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
        """Return the slot of a sample. Call it once per sample, just before the debate.

        Args:
            text: the review; only its signature is used.
            stage1_ate: the aspects of Stage1.
            stage1_atsa: the sentiments of Stage1.
            stage1_validator: the risks and proposals of Stage1.
            language_code: the sample's code; None or "unknown" is detected.
            sample_id: the uid of the sample; its own episodes are not retrieved.

        Raises:
            MemoryStoreError: the store cannot be read.
            LeakageError: with `firewall: strict`, an advisory names a label or an aspect of the sample.
        """
        if not self.condition.retrieval_execute:
            return self._answer(self._injection.build_slot_payload(self.condition))
        signature = self._signatures.build(text, language_code, len(stage1_ate.aspects))
        query: list[str] = [risk.type for risk in stage1_validator.structural_risks]
        query += [proposal.proposal_type for proposal in stage1_validator.correction_proposals]
        stored = self.store.load()
        episodes = self._retriever.retrieve(stored, signature, query, sample_id=sample_id)
        terms = [item.aspect_term for item in stage1_ate.aspects]
        terms += [item.aspect_term for item in stage1_atsa.sentiments]
        dangerous_now = _dangerous_now(episodes, terms, text)
        if self.condition.injection_mask:
            slot = self._injection.build_slot_payload(self.condition)
            return self._answer(slot, episodes, memory_dangerous_current_n=dangerous_now)
        # The only place where the arms of an experiment differ.
        offer = self._advisor.offer(
            AdviceMoment(sample_id or "", signature, tuple(query), tuple(terms), episodes, stored)
        )
        slot = self._injection.build_slot_payload(
            self.condition, offer.advisories, offer.warnings, language=signature.language
        )
        return self._answer(
            slot,
            episodes,
            memory_blocked_episode_n=offer.build.blocked_episode_n,
            memory_blocked_advisory_n=offer.build.blocked_advisory_n,
            memory_demoted_advisory_n=offer.build.demoted_advisory_n,
            memory_block_reason="opposite_polarity_failed" if offer.build.blocked_advisory_n else "",
            memory_dangerous_current_n=dangerous_now,
            firewall_dropped_n=offer.firewall_dropped_n,
            advised_ids=tuple(episode.episode_id for episode in offer.episodes),
            coins=offer.coins,
            matched_chars=offer.matched_chars,
            repeated_advisory_n=offer.repeated_advisory_n,
            opposed_advisory_n=offer.opposed_advisory_n,
        )

    def close(self) -> None:
        """Close the store and what the condition's `advice` reads."""
        self._advisor.close()
        self.store.close()

    def empty_slot_without_debate(self) -> SlotAnswer:
        """Return the empty slot of a pipeline without debate. Nothing is retrieved."""
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
        teaching: Teaching | None = None,
    ) -> StoreDecision:
        """Build the episode of a sample and store it if the condition writes and there is a reason to keep it.

        Under rules v3 a condition that writes also stores the answer to every sample, plain ones included.

        Args:
            text: the review; it is only compared with the episode, so that no part of it is stored.
            text_id: the uid of the sample.
            stage1: the first analysis.
            outcome: the patched result, adopted or not, with its risks and the outcome of an override.
            moderator_summary: which stage's tuples are final, and why.
            language_code: the sample's code; None or "unknown" is detected.
            split: the split of the sample.
            sample_index: the position of the sample in the run.
            seed: the seed of the run.
            used_in_eval: whether the split of the sample is the one being evaluated.
            teaching: what rules v3 decide by; None leaves the decision to the storage gates of seed rules.

        Returns:
            Whether the episode was stored, under which id, and the reason.

        Raises:
            LeakageError: the episode repeats the text or holds words outside the closed vocabulary.
            MemoryStoreError: episode or answer could not be written. The store is unchanged.
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
        draft = self._build_episode(text, signature, stage1, outcome, moderator_summary, provenance)
        refuse_text_runs(draft, text, signature.language)
        if teaching is None:
            return self._stored(draft, None, lambda: storage_tags(draft, self.store.is_novel), "no_gate_passed")
        is_changed = moderator_summary.selected_stage == "stage2"
        final = extract_tuples((outcome if is_changed else stage1.atsa).sentiments)
        answer = answer_of(text_id, signature.language, final, text, namespace=self.store.namespace)
        return self._stored(draft, answer, lambda: teaching_tags(teaching), "plain_sample")

    def _stored(
        self,
        draft: EpisodeDraftV1_3,
        answer: AnswerV1_3 | None,
        reasons: Callable[[], tuple[StorageTag, ...]],
        skip: StoreSkip,
    ) -> StoreDecision:
        """Store the answer, and the episode if there is a reason to keep it."""
        tags = reasons() if self.settings.selective_storage else ("gate_disabled",)
        if tags:
            entry = self.store.append(draft, answer=answer)
            return StoreDecision(store_decision="stored", store_reason_tags=tags, episode=entry)
        if answer is not None:
            self.store.append_answers([answer])
        return StoreDecision(store_decision="skipped", store_skip_reason=skip)

    def _answer(
        self,
        slot: SlotPayload,
        episodes: Sequence[EpisodicMemoryEntryV1_3] | None = None,
        **counts: Any,
    ) -> SlotAnswer:
        """Return the slot with its record; `episodes` is None if nothing was retrieved."""
        condition = self.condition
        meta = MemoryMeta(
            condition=condition.name,
            memory_mode=condition.memory_mode,
            retrieval_calls=0 if episodes is None else 1,
            retrieved_k=len(episodes or ()),
            retrieved_ids=tuple(episode.episode_id for episode in episodes or ()),
            exposed_to_debate=condition.exposed_to_debate,
            exposed_to_stage2=condition.exposed_to_stage2,
            memory_access_policy={"debate": self._visible_to},
            advice_from=condition.advice.source,
            offered_principles=tuple(
                dict.fromkeys(advisory["evidence"]["principle_id"] for advisory in slot["retrieved"])
            ),
            offered_chars=sum(len(advisory["message"]) for advisory in slot["retrieved"])
            + sum(map(len, slot["warnings"])),
            **counts,
        )
        return SlotAnswer(slot, condition.memory_mode, meta)


def _dangerous_now(episodes: Sequence[EpisodicMemoryEntryV1_3], terms: Sequence[str], text: str) -> int:
    """Return the number of dangerous pairs whose aspect the sample has, too. It is only logged."""
    pairs = dangerous_pairs(episodes)
    current = {stored_term(norm_key(term, text), text) for term in terms} if pairs else set()
    return sum(aspect in current for aspect, _ in pairs)
