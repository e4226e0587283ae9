"""Builds the values a report shows from the files of a run."""

from episodic_absa.reports.data.quality_views import CostOfSample, CostPoint, CostView, ScoreView
from episodic_absa.reports.data.report_data import (
    Arm,
    Arms,
    CellSample,
    Explorer,
    ExplorerCell,
    IndexRow,
    ReportData,
    ReviewEntry,
)
from episodic_absa.reports.data.report_samples import SampleReader, index_row

__all__ = [
    "Arm",
    "Arms",
    "CellSample",
    "CostOfSample",
    "CostPoint",
    "CostView",
    "Explorer",
    "ExplorerCell",
    "IndexRow",
    "ReportData",
    "ReviewEntry",
    "SampleReader",
    "ScoreView",
    "index_row",
]
