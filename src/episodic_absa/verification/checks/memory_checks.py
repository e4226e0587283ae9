"""Checks of what memory showed: only where the condition allows, through a gate, and no text or label of a review."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from episodic_absa.language import effective_language, find_aspect_term, find_polarity_word
from episodic_absa.memory import TextRuns, load_catalogue
from episodic_absa.memory.episodes.leak_guard import is_id
from episodic_absa.runs.config.cfg_hash import recorded_experiment
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.memory_v1_2 import AdvisoryBundleV1_2, AnyBundle
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.sample_record import SampleRecord
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError
from episodic_absa.vocabulary import STAGE_OF_ROLE, Role


def check_retrieval_calls(cell: CellFiles) -> Findings:
    """A condition that retrieves does so once per sample; any other condition never does."""
    manifest = cell.known_manifest
    pipeline = recorded_experiment(manifest).pipeline.under(manifest.condition)
    meant = int(manifest.condition.retrieval_execute and pipeline.enable_debate)
    for record in cell.records:
        calls, ids = record.memory.retrieval_calls, record.memory.retrieved_ids
        # An adaptive pipeline reads only for samples that it looks at again.
        allowed = (0, meant) if record.error is not None or pipeline.effort == "adaptive" else (meant,)
        holds = calls in allowed and (calls or not ids)
        yield None if holds else f"{record.uid}: retrieval_calls is {calls} with {len(ids)} ids; {meant} is due"


def check_hidden_memory(cell: CellFiles) -> Findings:
    """Memory that is masked or not exposed occurs in no prompt."""
    condition = cell.known_manifest.condition
    for record in cell.records:
        shown = [slot.stage for slot in _slots(record, condition) if slot.is_hidden and slot.is_used]
        yield f"{record.uid}: memory was shown in {', '.join(shown)}" if shown else None


def check_shown_memory(cell: CellFiles) -> Findings:
    """Memory in a prompt passed a gate, fits the cap, was seen by the chosen calls alone and is recorded as seen."""
    pipeline = recorded_experiment(cell.known_manifest).pipeline
    cap, visible = pipeline.memory_prompt_injection_chars_cap, set(pipeline.debate.memory_visible_to)
    for record in cell.records:
        for slot in _slots(record, cell.known_manifest.condition):
            if slot.is_used and not slot.is_hidden:
                problems = {
                    "memory was shown without a gate's reason": not slot.passed_gate,
                    f"{slot.chars} characters were shown; the cap is {cap}": cap is not None and slot.chars > cap,
                    "a call saw the slot and may not": slot.stage == "debate" and not visible.issuperset(slot.seen_by),
                    "the record of who saw memory is not what the prompts held": record.error is None
                    and not (slot.chars and slot.seen_by and slot.is_recorded),
                }
                problem = next((words for words, is_found in problems.items() if is_found), None)
                yield f"{record.uid}, {slot.stage}: {problem}" if problem else None


def check_messages(cell: CellFiles) -> Findings:
    """Every message and warning passes the label firewall."""
    for record in cell.records:
        stage1 = record.analysis.stage1 if record.analysis else None
        terms = [item.aspect_term for item in stage1.ate.aspects] if stage1 else []
        terms += [item.aspect_term for item in stage1.atsa.sentiments] if stage1 else []
        for wording in _wordings(record.bundle):
            names_label, names_term = find_polarity_word(wording), find_aspect_term(wording, terms)
            named = "a label" if names_label else "an aspect of the sample" if names_term else None
            yield f"{record.uid}: an advisory or warning names {named}" if named else None


def check_bundle_matches_flags(cell: CellFiles) -> Findings:
    """The bundle follows the condition's flags, and its advice comes from what was retrieved."""
    condition = cell.known_manifest.condition
    is_on = condition.memory_mode == "on" and not condition.injection_mask
    for record in cell.records:
        bundle, memory = record.bundle, record.memory
        sources = {episode_id for advisory in bundle.retrieved for episode_id in advisory.evidence.source_episode_ids}
        # A placebo names the episodes that it stands in for.
        is_own = condition.advice.source in ("retrieved", "placebo")
        holds = bundle.memory_on == is_on and bundle.meta.masked_injection == condition.injection_mask
        holds = holds and not (condition.injection_mask and _wordings(bundle))
        holds = holds and sources <= set(memory.retrieved_ids if is_own else memory.advised_ids)
        yield None if holds else f"{record.uid}: the bundle contradicts the condition's flags or what was retrieved"


def check_one_voice(cell: CellFiles) -> Findings:
    """Under rules v3 a bundle has one advisory per principle, and no advice to hold beside advice to change."""
    if not cell.known_manifest.condition.decides_changes:
        raise NotApplicableError("seed rules allow several advisories of a principle")
    catalogue = load_catalogue()
    for record in cell.records:
        if not isinstance(record.bundle, AdvisoryBundleV1_2):
            continue
        retrieved = [advisory.evidence.principle_id for advisory in record.bundle.retrieved]
        # A placebo has one principle for all its texts, which is none of the catalogue.
        known = [principle for principle in map(catalogue.get, retrieved) if principle is not None]
        holds = len({principle.principle_id for principle in known}) == len(known)
        holds = holds and len({principle.expects for principle in known}) < 2
        yield None if holds else f"{record.uid}: the bundle repeats a principle or contradicts itself"


def check_private_text(cell: CellFiles) -> Findings:
    """No run of the review occurs in its bundle. The catalogue, which a review may quote, was there before it."""
    fixed = list(_strings([principle.model_dump(mode="json") for principle in load_catalogue().entries]))
    for record in cell.records:
        if not record.bundle.retrieved and not record.bundle.warnings:
            continue
        text, bundle = cell.texts[record.uid], record.bundle.model_dump(mode="json")
        own_id = [record.uid] if is_id(record.uid, text) else []
        runs = TextRuns(text, effective_language(None, text), apart_from=[*fixed, *own_id])
        is_repeated = any(map(runs.stand_in, _strings(bundle)))
        yield f"{record.uid}: the bundle repeats its text" if is_repeated else None


MEMORY_CHECKS: Final[Mapping[str, Check]] = {
    "retrieval_calls": check_retrieval_calls,
    "hidden_memory": check_hidden_memory,
    "shown_memory": check_shown_memory,
    "messages": check_messages,
    "bundle_matches_flags": check_bundle_matches_flags,
    "one_voice": check_one_voice,
    "private_text": check_private_text,
}


class _Slot(NamedTuple):
    """The memory slot in the prompts of one stage of a sample."""

    stage: str
    is_hidden: bool
    """Whether the condition masks memory or does not expose it to the stage."""
    seen_by: tuple[Role, ...]
    """The calls whose prompt held the slot."""
    is_recorded: bool = True
    """Whether the record says that the stage saw memory; that of the debate follows from its calls."""
    chars: int = 0
    passed_gate: bool = False

    @property
    def is_used(self) -> bool:
        """Whether prompts or record speak of a shown slot."""
        return bool(self.seen_by or self.chars)


def _slots(record: SampleRecord, condition: Condition) -> tuple[_Slot, ...]:
    memory, shown = record.memory, [call.role for call in record.calls if call.slot_shown]
    seen = {
        stage: tuple(role for role in shown if STAGE_OF_ROLE[role] == stage) for stage in ("stage1", "debate", "stage2")
    }
    return (
        _Slot("stage1", is_hidden=True, seen_by=seen["stage1"]),
        _Slot(
            "debate",
            is_hidden=condition.injection_mask or not condition.exposed_to_debate,
            seen_by=seen["debate"],
            chars=memory.prompt_injection_chars,
            passed_gate=bool(memory.injection_trigger_reasons),
        ),
        _Slot(
            "stage2",
            is_hidden=condition.injection_mask or not condition.exposed_to_stage2,
            seen_by=seen["stage2"],
            is_recorded=memory.stage2_memory_injected,
            chars=memory.stage2_memory_prompt_injection_chars,
            passed_gate=bool(memory.stage2_memory_gate_reasons),
        ),
    )


def _wordings(bundle: AnyBundle) -> tuple[str, ...]:
    return (*(advisory.message for advisory in bundle.retrieved), *bundle.warnings)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
