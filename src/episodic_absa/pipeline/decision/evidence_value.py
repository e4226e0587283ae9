"""The evidence value of a decision. It is reported and decides nothing."""

from collections.abc import Sequence

from episodic_absa.memory.episodes.episode_builder import mean_confidence
from episodic_absa.schemas.absa import SentimentItem, Stage1Result, StructuralRisk, risk_vector
from episodic_absa.schemas.run_files.adoption import Adoption, EvComponents


def reported_adoption(
    stage1: Stage1Result,
    sentiments: Sequence[SentimentItem],
    risks_after: Sequence[StructuralRisk],
    *,
    adopted: bool,
    is_verdict_applied: bool,
    weights: tuple[float, float, float, float],
) -> Adoption:
    """Return whether a change was adopted, with the evidence value of the result.

    Args:
        stage1: the first analysis.
        sentiments: of the final result.
        risks_after: the risks of the final result.
        adopted: whether any change was adopted.
        is_verdict_applied: whether a verdict of Stage2 asked for an adopted change.
        weights: of debate support, resolved risk, grounding, and the most that confidence may add.
    """
    risks_before = stage1.validator.structural_risks
    gain = mean_confidence(sentiments) - mean_confidence(stage1.atsa.sentiments)
    parts = EvComponents(
        debate_support=int(adopted),
        validator_resolved=int(bool(risks_before) and is_verdict_applied and _is_safer(risks_after, risks_before)),
        grounding=int(not _names_target(stage1.atsa.sentiments) and _names_target(sentiments)),
        confidence_gain=round(max(0.0, 0.5 * gain), 6),
    )
    for_support, for_resolved, for_grounding, most_for_gain = weights
    value = (
        for_support * parts.debate_support
        + for_resolved * parts.validator_resolved
        + for_grounding * parts.grounding
        + min(most_for_gain, parts.confidence_gain)
    )
    return Adoption(
        adopt=adopted,
        reason="debate_action" if adopted else "low_signal",
        ev_score=round(min(1.0, value), 4),
        ev_threshold=0.0,
        components=parts,
    )


def _is_safer(after: Sequence[StructuralRisk], before: Sequence[StructuralRisk]) -> bool:
    return risk_vector(after).severity_sum < risk_vector(before).severity_sum


def _names_target(sentiments: Sequence[SentimentItem]) -> bool:
    return any(not item.is_implicit and not item.is_backfilled for item in sentiments)
