"""Whether a change was right, as the reader and the referee say. Gold is never used."""

from episodic_absa.pipeline.outcomes.change_outcomes import outcomes_by_reader
from episodic_absa.pipeline.outcomes.referee import is_narrowly_refused, stage1_stands_first

__all__ = [
    "is_narrowly_refused",
    "outcomes_by_reader",
    "stage1_stands_first",
]
