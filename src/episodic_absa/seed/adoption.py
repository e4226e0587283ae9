"""Decides whether the patched result becomes the final result, and judges an override by its outcome."""

from collections.abc import Sequence

from episodic_absa.final_tuples import conflicting_aspects, extract_tuples, pairs, predicted
from episodic_absa.language import norm
from episodic_absa.memory.episodes.episode_builder import mean_confidence
from episodic_absa.schemas.absa import SentimentItem, Stage1Result, StructuralRisk, risk_vector
from episodic_absa.schemas.run_files.adoption import Adoption, EvComponents, OverrideFlags
from episodic_absa.seed.patch.patch import PatchResult
from episodic_absa.vocabulary import AdoptReason


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
