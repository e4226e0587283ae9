"""Makes the final result of a sample: adoption, override outcome, label and tuples."""

from typing import NamedTuple

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.pipeline.decision.pair_label import agree_with_pairs, whole_text_label
from episodic_absa.schemas.absa import (
    DebateOutput,
    DebateSummary,
    FinalResult,
    ModeratorOutput,
    ModeratorSummary,
    ReviewOutcome,
    SentimentItem,
    Stage1Result,
    Validator2Output,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run_files.adoption import Adoption, OverrideFlags
from episodic_absa.seed.adoption import decide_adoption, override_flags
from episodic_absa.seed.moderator import moderate
from episodic_absa.seed.patch.patch import PatchResult
from episodic_absa.vocabulary import AdoptReason


class Decision(NamedTuple):
    """The final result of a sample and the decisions behind it."""

    adoption: Adoption
    override: OverrideFlags
    moderator: ModeratorOutput
    final_result: FinalResult
    final_sentiments: tuple[SentimentItem, ...]
    outcome: ReviewOutcome
    """The part that the memory stores."""
    summary: ModeratorSummary


def decide(
    stage1: Stage1Result,
    patched: PatchResult,
    validator2: Validator2Output,
    debate: DebateOutput | None,
    settings: PipelineSettings,
) -> Decision:
    """Return the decision: if adopted, the final tuples are the patched ones, else exactly Stage1's."""
    adoption = decide_adoption(
        stage1,
        patched,
        validator2.structural_risks,
        ev_weights=settings.ev_weights,
        ev_threshold=settings.thresholds.ev_threshold,
    )
    return _decision(stage1, patched, validator2, debate, adoption, label_agrees_with_pairs=False)


def decide_adopted(
    stage1: Stage1Result,
    patched: PatchResult,
    validator2: Validator2Output,
    debate: DebateOutput | None,
    settings: PipelineSettings,
    *,
    adopted: bool,
) -> Decision:
    """Return the decision of rules v2: `adopted` says whether a change was; the evidence value is only reported."""
    reported = decide_adoption(
        stage1, patched, validator2.structural_risks, ev_weights=settings.ev_weights, ev_threshold=0.0
    )
    reason: AdoptReason = "debate_action" if adopted else "low_signal"
    adoption = reported.model_copy(update={"adopt": adopted, "reason": reason})
    return _decision(stage1, patched, validator2, debate, adoption, label_agrees_with_pairs=True)


def _decision(
    stage1: Stage1Result,
    patched: PatchResult,
    validator2: Validator2Output,
    debate: DebateOutput | None,
    adoption: Adoption,
    *,
    label_agrees_with_pairs: bool,
) -> Decision:
    risks2 = validator2.structural_risks
    override = override_flags(stage1, patched, risks2, adopted=adoption.adopt)
    stage1_tuples = extract_tuples(stage1.atsa.sentiments)
    stage2_tuples = extract_tuples(patched.sentiments)
    final_tuples = stage2_tuples if adoption.adopt else stage1_tuples
    summary = debate.summary if debate else DebateSummary()
    moderator = moderate(
        stage1.atsa.sentiments,
        patched.sentiments if adoption.adopt else None,
        final_tuples,
        validator2 if adoption.adopt else stage1.validator,
        summary,
    )
    if label_agrees_with_pairs:
        moderator = agree_with_pairs(moderator, final_tuples, whole_text_label(summary, validator2, stage1.validator))
    return Decision(
        adoption=adoption,
        override=override,
        moderator=moderator,
        final_result=FinalResult(
            label=moderator.final_label,
            confidence=moderator.confidence,
            rationale=moderator.rationale,
            stage1_tuples=stage1_tuples,
            stage2_tuples=stage2_tuples,
            final_tuples=final_tuples,
        ),
        final_sentiments=patched.sentiments if adoption.adopt else stage1.atsa.sentiments,
        outcome=ReviewOutcome(
            aspects=patched.aspects,
            sentiments=patched.sentiments,
            structural_risks=risks2,
            override_applied=override.applied,
            override_success=override.success,
            override_harm=override.harm,
        ),
        summary=ModeratorSummary(
            label=moderator.final_label,
            selected_stage=moderator.selected_stage,
            adopt_reason=adoption.reason,
            ev_score=adoption.ev_score,
        ),
    )
