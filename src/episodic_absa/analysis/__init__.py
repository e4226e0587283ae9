"""Tables and comparisons, computed from the files of finished runs."""

from episodic_absa.analysis.asked_cells import asked_groups, compared_conditions, is_asked
from episodic_absa.analysis.cell_tables import triptych_text
from episodic_absa.analysis.comparability import incomparabilities
from episodic_absa.analysis.compared_runs import Side, load_side, load_sides
from episodic_absa.analysis.derived_files import derive_tables, tables_of
from episodic_absa.analysis.finished_run import FinishedRun, load_run
from episodic_absa.analysis.paired_comparison import compare_sides
from episodic_absa.analysis.principle_effect import PrincipleEffect, PrincipleVerdict, principles_text, tossed_coins
from episodic_absa.analysis.strata import PairKey, key_of, value_metric
from episodic_absa.analysis.summary import load_summary, mean_over_seeds, summarise_cell

__all__ = [
    "FinishedRun",
    "PairKey",
    "PrincipleEffect",
    "PrincipleVerdict",
    "Side",
    "asked_groups",
    "compare_sides",
    "compared_conditions",
    "derive_tables",
    "incomparabilities",
    "is_asked",
    "key_of",
    "load_run",
    "load_side",
    "load_sides",
    "load_summary",
    "mean_over_seeds",
    "principles_text",
    "summarise_cell",
    "tables_of",
    "tossed_coins",
    "triptych_text",
    "value_metric",
]
