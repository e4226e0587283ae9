"""What was decided about one sample, under either rules."""

from typing import NamedTuple

from episodic_absa.language import NOTHING_READ, PolarityCounts
from episodic_absa.schemas.absa import (
    FinalResult,
    ModeratorOutput,
    ModeratorSummary,
    ReviewOutcome,
    SentimentItem,
    Stage2Result,
)
from episodic_absa.schemas.run_files.adoption import Adoption, OverrideDecision, OverrideFlags, PatchLogEntry
from episodic_absa.schemas.run_files.candidate_record import DecisionRecord
from episodic_absa.schemas.run_files.sample_record import DebateScore, StageLabels


class Decided(NamedTuple):
    """The final result of a sample, and how debate and Stage2 led to it."""

    stage2: Stage2Result
    """Without the advisories that Stage2 saw."""
    adoption: Adoption
    moderator: ModeratorOutput
    final_result: FinalResult
    final_sentiments: tuple[SentimentItem, ...]
    """The sentiments behind the final tuples, with their evidence."""
    patched_sentiments: tuple[SentimentItem, ...]
    """The sentiments behind the Stage2 tuples, adopted or not."""
    stage_labels: StageLabels
    outcome: ReviewOutcome
    """The part that the memory stores."""
    patch_log: tuple[PatchLogEntry, ...]
    decision: DecisionRecord | None = None
    """Every candidate with its witnesses; None under rules that weigh none."""
    override: OverrideFlags = OverrideFlags(applied=False, success=False, harm=False)
    override_decisions: tuple[OverrideDecision, ...] = ()
    polarity_counts: PolarityCounts = NOTHING_READ
    """How the polarity words of the debate were read."""
    mapping: DebateScore | None = None
    """How the debate's names were read; None under rules that map none."""

    @property
    def summary(self) -> ModeratorSummary:
        """The decision in short, as the memory stores it."""
        return ModeratorSummary(
            label=self.moderator.final_label,
            selected_stage=self.moderator.selected_stage,
            adopt_reason=self.adoption.reason,
            ev_score=self.adoption.ev_score,
        )
