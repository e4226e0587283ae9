"""The original rules: all changes become one patch, Validator2 sees it, and it is adopted or refused as a whole."""

from collections.abc import Sequence
from typing import NamedTuple

from episodic_absa.final_tuples import conflicting_aspects, extract_tuples, pairs, predicted
from episodic_absa.language import norm
from episodic_absa.memory.episodes.episode_builder import mean_confidence
from episodic_absa.schemas.absa import (
    DebateOutput,
    DebateSummary,
    FinalResult,
    ModeratorOutput,
    ReviewOutcome,
    SentimentItem,
    Stage1Result,
    Stage2Result,
    StructuralRisk,
    Validator2Output,
    risk_vector,
)
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run_files.adoption import Adoption, EvComponents, OverrideFlags
from episodic_absa.seed.moderator import moderate, stage_label
from episodic_absa.seed.patch.patch import PatchResult, apply_patch
from episodic_absa.seed.review_context import BuiltContext
from episodic_absa.seed.stage2 import Verdicts, build_stage2_result
from episodic_absa.vocabulary import AdoptReason, SentenceLabel


def decide_adoption(
    stage1: Stage1Result,
    patched: PatchResult,
    validator2_risks: Sequence[StructuralRisk],
    *,
    ev_weights: tuple[float, float, float, float],
    ev_threshold: float,
) -> Adoption:
    """Return whether to adopt the patched result: the first reason that holds, if the evidence value suffices.

    Args:
        stage1: the first analysis.
        patched: the result of the patch.
        validator2_risks: the risks of the patched result.
        ev_weights: of debate support, resolved risk, grounding, and the most that confidence may add.
        ev_threshold: the least evidence value of an adoption.
    """
    stage1_risks = stage1.validator.structural_risks
    resolved = (
        bool(stage1_risks)
        and patched.proposal_or_verdict_applied
        and severity_sum(validator2_risks) < severity_sum(stage1_risks)
    )
    grounded = not _has_explicit(stage1.atsa.sentiments) and _has_explicit(patched.sentiments)
    components = EvComponents(
        debate_support=int(patched.debate_acted),
        validator_resolved=int(resolved),
        grounding=int(grounded),
        confidence_gain=round(
            max(0.0, 0.5 * (mean_confidence(patched.sentiments) - mean_confidence(stage1.atsa.sentiments))), 6
        ),
    )
    w1, w2, w3, w4 = ev_weights
    ev = round(
        min(
            1.0,
            w1 * components.debate_support
            + w2 * components.validator_resolved
            + w3 * components.grounding
            + min(w4, components.confidence_gain),
        ),
        4,
    )
    adopt, reason = _ladder(patched, resolved=resolved, grounded=grounded)
    if adopt and ev < ev_threshold:
        adopt, reason = False, "ev_below_threshold"
    return Adoption(adopt=adopt, reason=reason, ev_score=ev, ev_threshold=ev_threshold, components=components)


def _ladder(patched: PatchResult, *, resolved: bool, grounded: bool) -> tuple[bool, AdoptReason]:
    if not patched.sentiments:
        return False, "low_signal"
    if resolved:
        return True, "risk_resolved"
    if patched.debate_acted:
        return (False, "conflict_blocked") if patched.unsettled_conflict else (True, "debate_action")
    return (True, "grounding_improved") if grounded else (False, "low_signal")


def override_flags(
    stage1: Stage1Result, patched: PatchResult, validator2_risks: Sequence[StructuralRisk], *, adopted: bool
) -> OverrideFlags:
    """Return whether an override was applied, and whether it lowered the risk or did harm."""
    override = patched.override.applied
    final = pairs(predicted(extract_tuples(patched.sentiments)))
    # A later judge drop undoes an override, so the override must stand in the final tuples.
    if not adopted or override is None or (norm(patched.current_name(override.aspect)), override.target) not in final:
        return OverrideFlags(applied=False, success=False, harm=False)
    stage1_risks = stage1.validator.structural_risks
    before, after = severity_sum(stage1_risks), severity_sum(validator2_risks)
    new_conflict = bool(
        conflicting_aspects(extract_tuples(patched.sentiments))
        - conflicting_aspects(extract_tuples(stage1.atsa.sentiments))
    )
    new_high = bool(_high_tags(validator2_risks) - _high_tags(stage1_risks))
    return OverrideFlags(
        applied=True,
        success=after < before and not new_conflict and not new_high,
        harm=after > before or new_conflict,
    )


def severity_sum(risks: Sequence[StructuralRisk]) -> int:
    """Return the sum of the severity weights."""
    return risk_vector(risks).severity_sum


def _high_tags(risks: Sequence[StructuralRisk]) -> frozenset[str]:
    return frozenset(risk.type for risk in risks if risk.severity == "high")


def _has_explicit(sentiments: Sequence[SentimentItem]) -> bool:
    return any(not item.is_implicit and not item.is_backfilled for item in sentiments)


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
