"""The figures and tables of a report as files: SVG, CSV, LaTeX."""

from episodic_absa.reports.export.export_table import ExportTable, Interval, column, table_csv
from episodic_absa.reports.export.latex_table import table_latex

__all__ = [
    "ExportTable",
    "Interval",
    "column",
    "table_csv",
    "table_latex",
]
