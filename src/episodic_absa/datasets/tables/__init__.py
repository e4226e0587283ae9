"""Tables of reviews: CSV, TSV, JSON lines, Parquet and Excel files, whose text column is found."""

from episodic_absa.datasets.tables.review_table import ReviewTable, open_review_table
from episodic_absa.datasets.tables.table_rows import TABLE_ENDINGS

__all__ = ["TABLE_ENDINGS", "ReviewTable", "open_review_table"]
