"""Tables and comparisons, computed from the files of finished runs."""

from episodic_absa.analysis.asked_cells import compared_conditions
from episodic_absa.analysis.cell_tables import triptych_text
from episodic_absa.analysis.comparability import incomparabilities
from episodic_absa.analysis.compared_runs import load_sides
from episodic_absa.analysis.derived_files import derive_tables
from episodic_absa.analysis.finished_run import FinishedRun, load_run
from episodic_absa.analysis.paired_comparison import compare_sides
from episodic_absa.analysis.summary import load_summary, mean_over_seeds, summarise_cell
from episodic_absa.analysis.trial import PrincipleEffect, principles_text, trial_effects

__all__ = [
    "FinishedRun",
    "PrincipleEffect",
    "compare_sides",
    "compared_conditions",
    "derive_tables",
    "incomparabilities",
    "load_run",
    "load_sides",
    "load_summary",
    "mean_over_seeds",
    "principles_text",
    "summarise_cell",
    "trial_effects",
    "triptych_text",
]
