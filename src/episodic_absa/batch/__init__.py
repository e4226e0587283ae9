"""Analyses many reviews at once: requests side by side, the embedded engine on every core, results in order."""

from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.batch.batch_plan import DEFAULT_CONCURRENCY, BatchPlan
from episodic_absa.batch.many_reviews import analyse_all, stream_all

__all__ = ["DEFAULT_CONCURRENCY", "AnalysisFailure", "BatchPlan", "analyse_all", "stream_all"]
