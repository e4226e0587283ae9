"""The original rules: all changes become one patch, Validator2 sees it, and it is adopted or refused as a whole."""

from typing import NamedTuple

from episodic_absa.final_tuples import extract_tuples
from episodic_absa.schemas.absa import (
    DebateOutput,
    DebateSummary,
    FinalResult,
    ModeratorOutput,
    ReviewOutcome,
    SentimentItem,
    Stage1Result,
    Stage2Result,
    Validator2Output,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run_files.adoption import Adoption, OverrideFlags
from episodic_absa.seed.adoption import decide_adoption, override_flags
from episodic_absa.seed.moderator import moderate, stage_label
from episodic_absa.seed.patch.patch import PatchResult, apply_patch
from episodic_absa.seed.review_context import BuiltContext
from episodic_absa.seed.stage2 import Verdicts
from episodic_absa.seed.stage2_result import build_stage2_result
from episodic_absa.vocabulary import SentenceLabel


class Answers(NamedTuple):
    """What debate and Stage2 said about a first analysis."""

    debate: DebateOutput | None
    built: BuiltContext
    verdicts: Verdicts


class Outcome(NamedTuple):
    """The final result of a sample and the decisions behind it."""

    stage2: Stage2Result
    adoption: Adoption
    override: OverrideFlags
    moderator: ModeratorOutput
    final_result: FinalResult
    final_sentiments: tuple[SentimentItem, ...]
    label_s1: SentenceLabel
    label_s2: SentenceLabel
    outcome: ReviewOutcome
    """The part that the memory stores."""


def propose(stage1: Stage1Result, answers: Answers, text: str, settings: PipelineSettings) -> PatchResult:
    """Return Stage1 with every change that the answers ask for and the text allows. Validator2 judges it."""
    verdicts = answers.verdicts
    return apply_patch(stage1, verdicts.ate, verdicts.atsa, answers.debate, answers.built, text, settings)


def settle(
    stage1: Stage1Result,
    answers: Answers,
    patched: PatchResult,
    validator2: Validator2Output,
    settings: PipelineSettings,
) -> Outcome:
    """Return the decision: if adopted, the final tuples are the patched ones, else exactly Stage1's."""
    risks2 = validator2.structural_risks
    adoption = decide_adoption(
        stage1, patched, risks2, ev_weights=settings.ev_weights, ev_threshold=settings.thresholds.ev_threshold
    )
    override = override_flags(stage1, patched, risks2, adopted=adoption.adopt)
    stage1_tuples = extract_tuples(stage1.atsa.sentiments)
    stage2_tuples = extract_tuples(patched.sentiments)
    final_tuples = stage2_tuples if adoption.adopt else stage1_tuples
    moderator = moderate(
        stage1.atsa.sentiments,
        patched.sentiments if adoption.adopt else None,
        final_tuples,
        validator2 if adoption.adopt else stage1.validator,
        answers.debate.summary if answers.debate else DebateSummary(),
    )
    return Outcome(
        stage2=build_stage2_result(answers.verdicts, validator2, patched, adoption),
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
        label_s1=stage_label(stage1.atsa.sentiments).label,
        label_s2=stage_label(patched.sentiments).label,
        outcome=ReviewOutcome(
            aspects=patched.aspects,
            sentiments=patched.sentiments,
            structural_risks=risks2,
            override_applied=override.applied,
            override_success=override.success,
            override_harm=override.harm,
        ),
    )
