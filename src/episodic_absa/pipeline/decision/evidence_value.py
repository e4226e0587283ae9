"""The evidence value of a decision. It is reported and decides nothing."""

from collections.abc import Sequence

from episodic_absa.memory.episodes.episode_builder import mean_confidence
from episodic_absa.schemas.absa import SentimentItem, StructuralRisk, risk_vector
from episodic_absa.schemas.run_files.adoption import Adoption, EvComponents


def reported_adoption(
    before: Sequence[SentimentItem],
    after: Sequence[SentimentItem],
    risks_before: Sequence[StructuralRisk],
    risks_after: Sequence[StructuralRisk],
    *,
    adopted: bool,
    is_proposal_made: bool,
    weights: tuple[float, float, float, float],
) -> Adoption:
    """Return whether the result differs from Stage1's, with its evidence value.

    Args:
        before: Stage1's pairs, with their probabilities.
        after: the pairs of the final result, with theirs.
        risks_before: the risks of Stage1.
        risks_after: the risks of the final result.
        adopted: whether any change was made.
        is_proposal_made: whether a change was made that the model proposed.
        weights: of debate support, resolved risk, grounding, and the most that confidence may add.
    """
    gain = mean_confidence(after) - mean_confidence(before)
    parts = EvComponents(
        debate_support=int(is_proposal_made),
        validator_resolved=int(bool(risks_before) and is_proposal_made and _is_safer(risks_after, risks_before)),
        grounding=int(not _names_target(before) and _names_target(after)),
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
