"""A summary of analysed reviews for people: values, and one HTML page without network."""

from episodic_absa.reports.summary.summary import Summary
from episodic_absa.reports.summary.summary_building import summarise
from episodic_absa.reports.summary.summary_page import write_summary

__all__ = ["Summary", "summarise", "write_summary"]
