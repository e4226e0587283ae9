"""What the memory did for a sample, with what follows from the condition, the bundle and the calls."""

from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.sample_record import SampleRecord
from episodic_absa.vocabulary import DEBATE_CALLS


def memory_of(record: SampleRecord, manifest: Manifest) -> MemoryMeta:
    """Return the full record of the memory of a sample."""
    condition, memory = manifest.condition, record.memory
    advisories, warnings = record.bundle.retrieved, record.bundle.warnings
    seen = {call.role for call in record.calls if call.slot_shown} if record.analysis is not None else set()
    return MemoryMeta(
        **dict(memory),
        condition=condition.name,
        memory_mode=condition.memory_mode,
        retrieved_k=len(memory.retrieved_ids),
        exposed_to_debate=condition.exposed_to_debate,
        exposed_to_stage2=condition.exposed_to_stage2,
        injection_trigger_reason=next(iter(memory.injection_trigger_reasons), None),
        memory_access_policy={"debate": manifest.config.pipeline.debate.memory_visible_to},
        memory_debate_slot_present_for=tuple(filter(seen.__contains__, DEBATE_CALLS)),
        stage2_memory_gate_reason=next(iter(memory.stage2_memory_gate_reasons), None),
        advice_from=condition.advice.source,
        offered_principles=tuple(dict.fromkeys(advisory.evidence.principle_id for advisory in advisories)),
        offered_chars=sum(len(advisory.message) for advisory in advisories) + sum(map(len, warnings)),
    )
