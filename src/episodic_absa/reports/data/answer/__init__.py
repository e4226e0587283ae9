"""The answer of a run as values and words: arms, verdicts, the question, strata, principles."""

from episodic_absa.reports.data.answer.arm_views import ArmRow, ArmsView
from episodic_absa.reports.data.answer.report_strata import effect_tables, stratum_tables

__all__ = [
    "ArmRow",
    "ArmsView",
    "effect_tables",
    "stratum_tables",
]
