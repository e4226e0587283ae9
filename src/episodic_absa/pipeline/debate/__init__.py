"""The debate: who speaks, what the judge hears, and the debate as records hold it."""

from episodic_absa.pipeline.debate.recorded_debate import recorded_summary, recorded_turn
from episodic_absa.pipeline.debate.speakers import PERSONAS

__all__ = [
    "PERSONAS",
    "recorded_summary",
    "recorded_turn",
]
