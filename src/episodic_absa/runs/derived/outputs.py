"""The lines of outputs.jsonl: everything a sample's analysis said and decided, or how it failed."""

from typing import Any

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.runs.derived.memory import memory_of
from episodic_absa.schemas.absa import FinalResult
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.output_line import OutputError, OutputLine, OutputMeta, OutputStage1
from episodic_absa.schemas.run_files.sample_record import Analysis, SampleRecord


def output_of(record: SampleRecord, manifest: Manifest) -> OutputLine:
    """Return the output of a sample."""
    condition, source, analysis = manifest.condition, record.input, record.analysis
    meta: dict[str, Any] = {
        "condition": condition.name,
        "memory_mode": condition.memory_mode,
        "seed": manifest.seed,
        "language_code": source.language,
        "split": source.split,
        "domain_id": source.domain_id,
        "case_type": source.case_type,
    }
    if analysis is None:
        error = record.error
        return OutputLine(
            uid=record.uid,
            sample_index=record.sample_index,
            status="error",
            error=OutputError(type=error.type, stage=error.stage) if error else None,
            meta=OutputMeta(**meta),
        )
    stage1, kept = analysis.stage1, analysis.kept
    return OutputLine(
        uid=record.uid,
        sample_index=record.sample_index,
        status="ok",
        stage1=OutputStage1(
            ate=stage1.ate,
            atsa=stage1.atsa,
            validator=stage1.validator,
            unmatched_sentiment=analysis.unmatched_sentiment,
        ),
        debate=analysis.debate,
        stage2=analysis.stage2,
        patch_log=analysis.patch_log,
        changes=analysis.changes,
        second_look=analysis.second_look,
        adoption=analysis.adoption,
        moderator=analysis.moderator,
        final_result=final_result_of(analysis),
        meta=OutputMeta(
            **meta,
            memory=memory_of(record, manifest),
            store_decision=kept.store_decision,
            store_skip_reason=kept.store_skip_reason,
            store_reason_tags=kept.store_reason_tags,
            episode_id=kept.episode_id,
        ),
    )


def final_result_of(analysis: Analysis) -> FinalResult:
    """Return label and tuples of every stage."""
    moderator = analysis.moderator
    return FinalResult(
        label=moderator.final_label,
        confidence=moderator.confidence,
        rationale=moderator.rationale,
        stage1_tuples=extract_tuples(analysis.stage1.atsa.sentiments),
        stage2_tuples=extract_tuples(analysis.stage2_sentiments),
        final_tuples=analysis.final_tuples,
    )
