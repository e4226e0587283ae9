"""Builds the values a report shows from the files of a run."""

from episodic_absa.reports.data.report_data import (
    Arm,
    Arms,
    CellSample,
    Explorer,
    ExplorerCell,
    ReportData,
    ReviewEntry,
    ReviewFacts,
)
from episodic_absa.reports.data.report_samples import SampleReader

__all__ = [
    "Arm",
    "Arms",
    "CellSample",
    "Explorer",
    "ExplorerCell",
    "ReportData",
    "ReviewEntry",
    "ReviewFacts",
    "SampleReader",
]
