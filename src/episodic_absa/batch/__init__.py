"""Analyses many reviews at once: requests side by side, the embedded engine on every core, results in order."""

from episodic_absa.batch.analysis_failure import AnalysisFailure, failure_of_text
from episodic_absa.batch.batch_plan import DEFAULT_CONCURRENCY, MEMORY_OF_A_PROCESS, BatchPlan
from episodic_absa.batch.engine_processes import ChunkAnalysis, EngineEndedError, EngineSettings, Outcome, Processes
from episodic_absa.batch.many_reviews import Progress, analyse_all, as_stream, require_texts, stream_all, total_of

__all__ = [
    "DEFAULT_CONCURRENCY",
    "MEMORY_OF_A_PROCESS",
    "AnalysisFailure",
    "BatchPlan",
    "ChunkAnalysis",
    "EngineEndedError",
    "EngineSettings",
    "Outcome",
    "Processes",
    "Progress",
    "analyse_all",
    "as_stream",
    "failure_of_text",
    "require_texts",
    "stream_all",
    "total_of",
]
