"""The lines of outputs.jsonl: everything a sample's analysis said and decided, or how it failed."""

from typing import Any

from episodic_absa.runs.derived.sample_facts import SampleFacts
from episodic_absa.schemas.run_files.output_line import OutputError, OutputLine, OutputMeta


def output_of(facts: SampleFacts) -> OutputLine:
    """Return the output of a sample."""
    record, condition, source = facts.record, facts.manifest.condition, facts.record.input
    meta: dict[str, Any] = {
        "condition": condition.name,
        "memory_mode": condition.memory_mode,
        "seed": facts.manifest.seed,
        "language_code": source.language,
        "split": source.split,
        "domain_id": source.domain_id,
        "case_type": source.case_type,
    }
    if facts.analysed is None:
        error = record.error
        return OutputLine(
            uid=record.uid,
            sample_index=record.sample_index,
            status="error",
            error=OutputError(type=error.type, stage=error.stage) if error else None,
            meta=OutputMeta(**meta),
        )
    analysis, final = facts.analysed.analysis, facts.analysed.final
    return OutputLine.of_analysis(
        record.uid, analysis, final, sample_index=record.sample_index, memory=facts.memory, **meta
    )
