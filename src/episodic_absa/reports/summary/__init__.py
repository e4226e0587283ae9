"""A summary of analysed reviews for people: values, and one HTML page without network."""

from episodic_absa.reports.summary.dates import bin_start, bin_starts, bin_unit, find_dates, read_day
from episodic_absa.reports.summary.mentions import TermCounts
from episodic_absa.reports.summary.page_words import page_words, sentence
from episodic_absa.reports.summary.review_texts import Candidate, typical
from episodic_absa.reports.summary.shown_text import excerpt, words_at
from episodic_absa.reports.summary.split_columns import find_split_columns
from episodic_absa.reports.summary.summary import Summary, Tally
from episodic_absa.reports.summary.summary_building import summarise
from episodic_absa.reports.summary.summary_page import render_summary, write_summary
from episodic_absa.reports.summary.term_groups import joined_keys, term_key

__all__ = [
    "Candidate",
    "Summary",
    "Tally",
    "TermCounts",
    "bin_start",
    "bin_starts",
    "bin_unit",
    "excerpt",
    "find_dates",
    "find_split_columns",
    "joined_keys",
    "page_words",
    "read_day",
    "render_summary",
    "sentence",
    "summarise",
    "term_key",
    "typical",
    "words_at",
    "write_summary",
]
