"""Analyses one sample from text to tuples. `SupervisorAgent.run` is the function to read first."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from episodic_absa.backends.backend import Backend
from episodic_absa.errors import ConfigError
from episodic_absa.language import effective_language
from episodic_absa.memory import (
    DEBATE_SLOT,
    STAGE2_SLOT,
    GateDecision,
    GateSignals,
    Injection,
    PrincipleCatalogue,
    SlotAnswer,
    SlotTarget,
    injection_for,
    should_inject_advisory_with_reason,
    should_inject_memory_for_stage2_with_reason,
)
from episodic_absa.memory.episodes.selective_storage import Teaching
from episodic_absa.memory.injection.advisory_injection_gate import decide_by, opens_a_gate
from episodic_absa.memory.injection.injection_controller import SlotPayload
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.decision.changes import changes_of
from episodic_absa.pipeline.decision.weights import SHIPPED_WEIGHTS
from episodic_absa.pipeline.default_stages import DefaultStages
from episodic_absa.pipeline.memory_view import MemoryView, WriteInputs
from episodic_absa.pipeline.prompt_files import PROMPT_FILES
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.pipeline.seed_stages import SeedStages
from episodic_absa.pipeline.shown_values import slot_name_problem
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stages import Stages
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import Sample, Stage1Result, Stage2Result
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition, MemoryMeta
from episodic_absa.schemas.run_files.candidate_record import DecisionRecord
from episodic_absa.vocabulary import DEBATE_CALLS, DebateCall, Language, Reach, Rules


class SupervisorAgent:
    """Runs Stage1, the debate, Stage2 and the moderator on one sample, with one read and one write of the memory.

    Args:
        backend: answers the calls of a sample.
        settings: None takes the defaults.
        debate_slot_name: the prompt key of the memory in the debate (`io.slot_memory_name`).
        allowlist: short terms that count as targets beside the built-in ones.
        rules: which prompts and decisions are in force.
        reader: a witness of rules v3, and what answers without a model; None leaves it out.
        referee: whether rules v3 ask the referee how a change turned out.
        weights: the file by which rules v3 weigh candidates.

    Raises:
        ConfigError: prompts already use `debate_slot_name` as a key, or the weights cannot be read.
    """

    def __init__(
        self,
        backend: Backend,
        settings: PipelineSettings | None = None,
        *,
        debate_slot_name: str = DEBATE_SLOT.name,
        allowlist: frozenset[str] = frozenset(),
        rules: Rules = "seed",
        reader: TextReader | None = None,
        referee: bool = False,
        weights: Path = SHIPPED_WEIGHTS,
    ) -> None:
        if problem := slot_name_problem(debate_slot_name):
            raise ConfigError(f"io.{problem}", key="io.slot_memory_name")
        self.settings = settings or PipelineSettings()
        self._backend = backend
        self._debate_slot = SlotTarget("debate", debate_slot_name)
        self._prompts = PROMPT_FILES[rules]
        self._stages: Stages[Any] = (
            SeedStages(self.settings, debate_slot_name, allowlist)
            if rules == "seed"
            else DefaultStages(
                self.settings,
                debate_slot_name,
                allowlist,
                reader,
                shares_the_reader=backend.shares_the_reader,
                referee=referee,
                weights=weights,
            )
        )

    async def run(
        self, sample: Sample, memory: MemoryView, *, seed: int = 0, asking: Asking | None = None
    ) -> SampleResult:
        """Return the result of one sample.

        Args:
            sample: the text and its metadata, without gold.
            memory: read once before the debate and written once after the moderator.
            seed: passed to the backend.
            asking: records the calls; pass one to keep the records of a sample that fails.

        Raises:
            BackendError: an agent gave no valid answer.
            LeakageError: an advisory names a label (with `firewall: strict`), or an episode repeats the text.
            MemoryStoreError: the store cannot be read or written.
        """
        stages, language = self._stages, effective_language(sample.language_code, sample.text)
        known = sample.model_copy(update={"language_code": language})  # detected once
        asking = asking or self.new_asking(memory.condition, seed)
        first = await stages.analyse(sample, language, asking)  # ATE -> ATSA -> Validator
        signals = stages.signals(first)
        reach = stages.reach(first, asking)
        slot, _, meta = memory.without_debate()
        if self.settings.enable_debate and reach == "full":
            slot, _, meta = await memory.read(known, first.result)  # the only read

        gate = should_inject_advisory_with_reason(signals)
        to_debate = self._inject(self._debate_slot, slot, meta, gate, memory.catalogue, reach, language)
        debated = await stages.debate(first, reach, to_debate.slot, asking)

        gate2 = should_inject_memory_for_stage2_with_reason(signals)
        to_stage2 = self._inject(
            STAGE2_SLOT, slot, to_debate.meta, gate2, memory.catalogue, reach, language
        )  # the same slot, no new retrieval
        verdicts = await stages.review(first, reach, debated, to_stage2.slot, asking)
        decided = await stages.decide(
            sample, first, debated, verdicts, reach, to_stage2.slot, asking
        )  # after Validator2

        inputs = WriteInputs(decided.outcome, decided.summary, _teaching(signals, decided.decision))
        store = await memory.write(known, first.result, inputs)  # the only write
        return SampleResult(
            sample=sample,
            language=language,
            seed=seed,
            stage1=first.result,
            unmatched_sentiments=first.unmatched_terms,
            debate=debated.record,
            debate_mapping=decided.mapping,
            stage2=_with_advisories(decided.stage2, to_debate, to_stage2),
            patch_log=decided.patch_log,
            override_decisions=decided.override_decisions,
            override=decided.override,
            adoption=decided.adoption,
            moderator=decided.moderator,
            final_result=decided.final_result,
            final_sentiments=decided.final_sentiments,
            patched_sentiments=decided.patched_sentiments,
            stage_labels=decided.stage_labels,
            decision=decided.decision,
            memory=_with_slots_seen(to_stage2.meta, asking),
            memory_bundle=slot,
            store=store,
            polarity_counts=first.polarity_counts.plus(decided.polarity_counts).plus(verdicts.polarity_counts),
            calls=tuple(asking.calls),
        )

    def may_show_memory(self, condition: Condition, sample: Sample, stage1: Stage1Result) -> bool:
        """Return whether a prompt of this sample may show memory: the condition exposes it and a gate is open."""
        language = effective_language(sample.language_code, sample.text)
        signals = self._stages.signals(FirstAnalysis(sample.text, language, stage1))
        to_debate = condition.exposed_to_debate and self._has_reader(self._debate_slot)
        to_stage2 = condition.exposed_to_stage2 and self._has_reader(STAGE2_SLOT)
        return (to_debate and should_inject_advisory_with_reason(signals).allowed) or (
            to_stage2 and should_inject_memory_for_stage2_with_reason(signals).allowed
        )

    def with_memory(self, result: SampleResult, answer: SlotAnswer, catalogue: PrincipleCatalogue) -> SampleResult:
        """Return the result with the memory record of a later read that shows the same in every prompt."""
        # Gates do not depend on memory: the result's own record says why they opened.
        gate = decide_by(result.memory.injection_trigger_reasons)
        gate2 = decide_by(result.memory.stage2_memory_gate_reasons)
        reach = "full" if result.decision is None or result.decision.reach is None else result.decision.reach
        language = result.language
        to_debate = self._inject(self._debate_slot, answer.slot, answer.meta, gate, catalogue, reach, language)
        to_stage2 = self._inject(STAGE2_SLOT, answer.slot, to_debate.meta, gate2, catalogue, reach, language)
        seen = result.memory.memory_debate_slot_present_for
        memory = to_stage2.meta.model_copy(update={"memory_debate_slot_present_for": seen})
        return replace(result, memory=memory, memory_bundle=answer.slot)

    def asking(self, backend: Backend) -> Self:
        """Return the same supervisor with another way to its backend, such as one that limits requests."""
        other = copy(self)
        other._backend = backend  # noqa: SLF001 - a copy of this object
        return other

    def new_asking(self, condition: Condition, seed: int) -> Asking:
        """Return a recorder for the calls of one sample."""
        slot_names = (self._debate_slot.name, STAGE2_SLOT.name)
        return Asking(self._backend, slot_names, seed=seed, condition=condition.name, prompts=self._prompts)

    def _inject(
        self,
        target: SlotTarget,
        slot: SlotPayload,
        meta: MemoryMeta,
        gate: GateDecision[Any],
        catalogue: PrincipleCatalogue,
        reach: Reach,
        language: Language,
    ) -> Injection:
        return injection_for(
            target,
            slot,
            meta,
            gate,
            catalogue=catalogue,
            chars_cap=self.settings.memory_prompt_injection_chars_cap,
            has_reader=self._has_reader(target, reach),
            language=language,
        )

    def _has_reader(self, target: SlotTarget, reach: Reach = "full") -> bool:
        """Return whether any call sees the slot: a slot that no prompt holds must not be recorded as shown."""
        if reach != "full":
            return False
        if target.stage == "stage2":
            return self.settings.enable_stage2
        debate = self.settings.debate
        asked: set[DebateCall] = {*debate.order, "judge"}
        return self.settings.enable_debate and not asked.isdisjoint(debate.memory_visible_to)


def _teaching(signals: GateSignals, decision: DecisionRecord | None) -> Teaching | None:
    """Return what the sample can teach; None under rules that weigh no candidates."""
    if decision is None:
        return None
    changes = changes_of(decision.candidates)
    return Teaching(len(changes), sum(change.is_made for change in changes), opens_a_gate(signals))


def _with_advisories(stage2: Stage2Result, *injections: Injection) -> Stage2Result:
    """Return Stage2 with the advisories that the debate or Stage2 was shown."""
    shown: Sequence[dict[str, Any]] = next(
        (injection.slot["retrieved"] for injection in injections if injection.slot is not None), []
    )
    ids = tuple(advisory["advisory_id"] for advisory in shown)
    return stage2.model_copy(update={"advisories_present": bool(ids), "advisories_ids": ids})


def _with_slots_seen(meta: MemoryMeta, asking: Asking) -> MemoryMeta:
    """Record the debate calls whose rendered prompt held the slot."""
    seen = {call.agent for call in asking.calls if call.memory_slot_present}
    return meta.model_copy(
        update={"memory_debate_slot_present_for": tuple(call for call in DEBATE_CALLS if call in seen)}
    )
