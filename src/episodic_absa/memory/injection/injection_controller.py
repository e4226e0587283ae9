"""Builds the bundle of a slot, shrinks it to the character cap, and decides whether a prompt shows it.

Only `injection_for` decides what a prompt shows. The supervisor calls it; the orchestrator does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.memory.advice.principles import PrincipleCatalogue
from episodic_absa.memory.injection.advisory_injection_gate import GateDecision
from episodic_absa.memory.injection.prompt_slot import prompt_slot, shrink_to_cap
from episodic_absa.memory.memory_form import OUTCOME_FORM, MemoryForm
from episodic_absa.schemas.memory_v1_1 import AdvisoryBundleMetaV1_1
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory, AnyBundle
from episodic_absa.schemas.run import Condition, MemoryMeta
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import InjectionSkip, Language

SlotPayload = dict[str, Any]


@dataclass(frozen=True)
class SlotTarget:
    """A place in a prompt that may show the bundle."""

    stage: Literal["debate", "stage2"]
    name: str


DEBATE_SLOT: Final = SlotTarget("debate", "DEBATE_CONTEXT__MEMORY")
STAGE2_SLOT: Final = SlotTarget("stage2", "STAGE2_REVIEW_CONTEXT__MEMORY")


class InjectionController:
    """Builds slot payloads of one shape: full, or empty if the condition masks them.

    Args:
        topk: the configured number of episodes, for the bundle's record.
        chars_cap: the most characters of the bundle's JSON; None is no limit.
        form: decides the schema of the bundle; by default that of rules v3.

    Example:
        >>> from episodic_absa.conditions import load_condition
        >>> InjectionController(topk=3).build_slot_payload(load_condition("C2_silent"))["memory_on"]
        False
    """

    def __init__(self, *, topk: int, chars_cap: int | None = None, form: MemoryForm = OUTCOME_FORM) -> None:
        self._topk = topk
        self._chars_cap = chars_cap
        self._form = form

    def build_slot_payload(
        self,
        condition: Condition,
        advisories: Sequence[AnyAdvisory] = (),
        warnings: Sequence[str] = (),
        *,
        language: Language = "en",
        debate_enabled: bool = True,
    ) -> SlotPayload:
        """Return the bundle as JSON values, shrunk to the cap.

        A bundle that cannot be shrunk enough stays whole, for the log; `injection_for` then shows nothing.

        Args:
            condition: its flags decide whether the bundle is masked.
            advisories: in rank order, three at most.
            warnings: label-free texts for withheld advice.
            language: of the sample; the cap counts what its prompts show.
            debate_enabled: False records that nothing was retrieved.
        """
        bundle = self._bundle(condition, advisories, warnings, debate_enabled=debate_enabled)
        return (self._shrunk(bundle, language) or bundle).model_dump(mode="json")

    def shown_bundle(
        self,
        condition: Condition,
        advisories: Sequence[AnyAdvisory],
        warnings: Sequence[str],
        *,
        language: Language = "en",
    ) -> AnyBundle | None:
        """Return the bundle that a prompt would show if a gate opens, None if it would show nothing."""
        shrunk = self._shrunk(self._bundle(condition, advisories, warnings), language)
        return shrunk if shrunk and (shrunk.retrieved or shrunk.warnings) else None

    def _shrunk(self, bundle: AnyBundle, language: Language) -> AnyBundle | None:
        return bundle if self._chars_cap is None else shrink_to_cap(bundle, self._chars_cap, language)

    def _bundle(
        self,
        condition: Condition,
        advisories: Sequence[AnyAdvisory],
        warnings: Sequence[str],
        *,
        debate_enabled: bool = True,
    ) -> AnyBundle:
        masked = condition.injection_mask
        meta = AdvisoryBundleMetaV1_1(
            memory_mode=condition.memory_mode,
            topk=self._topk if condition.retrieval_execute else 0,
            masked_injection=masked,
            retrieval_executed=condition.retrieval_execute and debate_enabled,
        )
        return self._form.bundle(() if masked else advisories, () if masked else tuple(warnings), meta)


class Injection(NamedTuple):
    """The decision about one slot, and the record with that decision."""

    target: SlotTarget
    slot: SlotPayload | None
    """The bundle whose content the prompt shows; None if it shows nothing. See `prompt_slot`."""
    meta: MemoryMeta

    def into(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """Return the context with the slot as its last key, or unchanged. Last, so that prefix caches keep working."""
        return dict(context) if self.slot is None else {**context, self.target.name: self.slot}


def injection_for(
    target: SlotTarget,
    slot: SlotPayload,
    meta: MemoryMeta,
    gate: GateDecision[Any],
    *,
    catalogue: PrincipleCatalogue,
    chars_cap: int | None = None,
    has_reader: bool = True,
    language: Language = "en",
) -> Injection:
    """Return whether a prompt shows the slot, with the record of the decision and its reason.

    Args:
        target: the slot of the debate or of Stage2.
        slot: the bundle as JSON values.
        meta: the record so far.
        gate: the decision of the gate that belongs to the target.
        catalogue: says whether the top advisory expects a change.
        chars_cap: the most characters of a slot; None is no limit.
        has_reader: whether any call of the pipeline sees this slot.
        language: of the sample; what is counted is what its prompts show.
    """
    exposed = has_reader and (meta.exposed_to_debate if target.stage == "debate" else meta.exposed_to_stage2)
    chars = len(canonical_json(prompt_slot(slot, language)))
    skip: InjectionSkip = ""
    if not exposed:
        skip = "not_exposed"
    elif not gate.allowed:
        skip = "gate_closed"
    elif not slot["retrieved"] and not slot["warnings"]:
        skip = "empty_bundle"
    elif chars_cap is not None and chars > chars_cap:
        skip = "char_cap"
    injected = not skip
    record: dict[str, Any]
    if target.stage == "debate":
        record = {
            "injection_trigger_reason": gate.reason,
            "injection_trigger_reasons": gate.reasons,
            "prompt_injection_chars": chars if injected else 0,
            "advisory_injection_gated": skip == "gate_closed",
            "injection_skip_reason": skip,
        }
    else:
        record = {
            "stage2_memory_injected": injected,
            "stage2_memory_gate_reason": gate.reason,
            "stage2_memory_gate_reasons": gate.reasons,
            "stage2_memory_prompt_injection_chars": chars if injected else 0,
            "stage2_injection_skip_reason": skip,
        }
    if injected and slot["retrieved"]:
        top = catalogue.get(slot["retrieved"][0]["evidence"]["principle_id"])
        record["advisory_expects"] = top.expects if top else None
    return Injection(target, slot if injected else None, meta.model_copy(update=record))
