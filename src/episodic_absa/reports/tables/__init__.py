"""A table of the report as one value, and its renderers: the page's template, CSV for programs, LaTeX for papers."""

from episodic_absa.reports.tables.latex_table import table_latex
from episodic_absa.reports.tables.table import Interval, Score, Table, column, table_csv

__all__ = [
    "Interval",
    "Score",
    "Table",
    "column",
    "table_csv",
    "table_latex",
]
