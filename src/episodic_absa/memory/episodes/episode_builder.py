"""Builds the episode and the answer of a sample from ids, enumerations and short terms, never from free text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from episodic_absa.final_tuples import (
    conflicting_aspects,
    extract_tuples,
    pairs,
    predicted,
    representatives,
)
from episodic_absa.language import norm_key
from episodic_absa.memory.advice.principles import Principle, PrincipleCatalogue, risk_key
from episodic_absa.memory.episodes.leak_guard import IMPLICIT_TARGET, LONG_TERM, stored_term
from episodic_absa.schemas.absa import (
    FinalTuple,
    ModeratorSummary,
    ReviewOutcome,
    SentimentItem,
    Stage1Result,
    StructuralRisk,
    risk_vector,
)
from episodic_absa.schemas.memory_v1_1 import (
    CaseSummaryV1_1,
    CorrectionV1_1,
    EvaluationV1_1,
    InputSignatureV1_1,
    OutcomeDeltaV1_1,
    ProvenanceV1_1,
    SnapshotV1_1,
    StageSnapshotV1_1,
)
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.stored.memory_v1_3 import (
    DEFAULT_NAMESPACE,
    AnsweredPairV1_3,
    AnswerV1_3,
    ChangeV1_3,
    EpisodeDraftV1_3,
    OutcomeV1_3,
)
from episodic_absa.vocabulary import (
    L3_RISKS,
    SEVERITY_WEIGHT,
    ActionTaken,
    EpisodeType,
    ErrorCategory,
    Language,
    Outcome,
    Polarity,
    RiskId,
    RiskType,
)

_CATEGORY_OF_RISK: Final[Mapping[RiskId, ErrorCategory]] = {
    "NEGATION_SCOPE": "negation",
    "CONTRAST_SCOPE": "contrast",
    "MISSING_SECOND_ASPECT": "contrast",
    "IRONY": "irony",
    "POLARITY_MISMATCH": "aspect_conflict",
    "SPAN_MISMATCH": "format_error",
    "EVIDENCE_GAP": "format_error",
}
_CATEGORY_ORDER: Final[tuple[ErrorCategory, ...]] = (
    "negation",
    "contrast",
    "irony",
    "aspect_conflict",
    "implicit_opinion",
    "format_error",
)


class EpisodeBuilder:
    """Builds the episode of a sample from Stage1 and its outcome. Gold is never used."""

    def __init__(self, catalogue: PrincipleCatalogue) -> None:
        self._catalogue = catalogue

    def build(
        self,
        text: str,
        signature: InputSignatureV1_1,
        stage1: Stage1Result,
        outcome: ReviewOutcome,
        moderator_summary: ModeratorSummary,
        provenance: ProvenanceV1_1,
        *,
        turned_out: OutcomeV1_3 | None = None,
    ) -> EpisodeDraftV1_3:
        """Return the episode of a sample, without an id: the store gives it one.

        Args:
            text: used to normalise the terms that occur in it.
            signature: the signature of the text.
            stage1: the first analysis.
            outcome: the patched result, adopted or not.
            moderator_summary: its selected stage says whether the patched result is final.
            provenance: the sample, split and seed that the episode comes from.
            turned_out: how the case did; None leaves that to risk and override.
        """
        adopted = moderator_summary.selected_stage == "stage2"
        before = stage1.atsa.sentiments
        final = outcome.sentiments if adopted else before
        risks = stage1.validator.structural_risks
        evaluation = _evaluation(risks, outcome, adopted=adopted)
        tuples_before = extract_tuples(before)
        tuples_after = tuples_before if final is before else extract_tuples(final)
        had_conflict = bool(conflicting_aspects(tuples_before))
        has_implicit = any(item.is_implicit and not item.is_backfilled for item in before)
        action = action_taken(stage1, outcome, adopted=adopted)
        turned_out = turned_out or OutcomeV1_3(by="risk", value=evaluation.episode_type)
        graded = ((risk.type, risk.severity) for risk in risks)
        about = risk_key(graded, has_conflict=had_conflict, has_implicit=has_implicit)
        principle = self._catalogue.lookup(about, action, turned_out.value)
        snapshot = StageSnapshotV1_1(
            stage1=_snapshot(before, tuples_before, text), final=_snapshot(final, tuples_after, text)
        )
        return EpisodeDraftV1_3(
            outcome=turned_out,
            error_category=error_categories(risks, had_conflict=had_conflict, has_implicit=has_implicit),
            risk_type=risk_type_of(risks, had_conflict=had_conflict, has_implicit=has_implicit),
            action_taken=action,
            input_signature=signature,
            case_summary=CaseSummaryV1_1(
                target_aspect_type=next(iter(snapshot.stage1.aspects_norm), "") or IMPLICIT_TARGET,
                symptom=symptom_of(risks, signature),
                rationale_summary=_rationale(stage1, action, moderator_summary),
            ),
            stage_snapshot=snapshot,
            correction=correction_of(principle, signature, about),
            evaluation=evaluation,
            outcome_delta=OutcomeDeltaV1_1(
                conflict_resolved=not conflicting_aspects(tuples_after) if had_conflict else None,
                delta_risk=evaluation.risk_after.severity_sum - evaluation.risk_before.severity_sum,
            ),
            provenance=provenance,
        )

    def build_with_changes(
        self,
        text: str,
        signature: InputSignatureV1_1,
        stage1: Stage1Result,
        outcome: ReviewOutcome,
        moderator_summary: ModeratorSummary,
        provenance: ProvenanceV1_1,
    ) -> EpisodeDraftV1_3:
        """Return the episode that rules v3 write, with its changes, whose outcome decides. Arguments as above."""
        changes = sorted(
            (ChangeV1_3(adopted=change.adopted, kind=change.kind) for change in outcome.changes),
            key=lambda change: (change.kind, change.adopted),
        )
        draft = self.build(
            text, signature, stage1, outcome, moderator_summary, provenance, turned_out=outcome_of(outcome.changes)
        )
        return draft.model_copy(update={"changes": tuple(changes)})


def _evaluation(risks: Sequence[StructuralRisk], outcome: ReviewOutcome, *, adopted: bool) -> EvaluationV1_1:
    # If the patched result is not adopted, the final tuples are Stage1's, and so is their risk.
    before = risk_vector(risks)
    is_overridden = adopted and outcome.override_applied
    return EvaluationV1_1(
        risk_before=before,
        risk_after=risk_vector(outcome.structural_risks) if adopted else before,
        override_applied=is_overridden,
        override_success=is_overridden and outcome.override_success,
        override_harm=is_overridden and outcome.override_harm,
    )


def answer_of(
    source_id: str, language: Language, tuples: Iterable[FinalTuple], text: str, *, namespace: str = DEFAULT_NAMESPACE
) -> AnswerV1_3:
    """Return the answer of a review: its final pairs, as a store holds them.

    The terms are sorted, so that they do not repeat the order of the text. Backfills are no predictions and left out;
    so are terms that are too long to be stored: all of them would count as one.

    Args:
        source_id: the uid of the review.
        language: of the review.
        tuples: of the final result.
        text: used to normalise the terms that occur in it.
        namespace: whose answer it is.
    """
    by_term = representatives(predicted(tuples), key=lambda term: stored_term(norm_key(term, text), text))
    return AnswerV1_3(
        language=language,
        namespace=namespace,
        pairs=tuple(
            AnsweredPairV1_3(aspect=term, p=pair.confidence, polarity=pair.polarity)
            for term, pair in sorted(by_term.items())
            if term not in ("", LONG_TERM)
        ),
        source_id=source_id,
    )


_VALUE_OF_OUTCOME: Final[Mapping[Outcome, EpisodeType]] = {"contradicted": "harm", "confirmed": "success"}


def outcome_of(changes: Sequence[ChangeOutcomeV1_2]) -> OutcomeV1_3:
    """Return the outcome of an episode of rules v3.

    Of its adopted changes one that is contradicted decides, else a confirmed one. A refused change left no trace in the
    result, so it decides nothing. Where reader and referee agree, the referee is named.

    Example:
        >>> confirmed = ChangeOutcomeV1_2(adopted=True, kind="drop", outcome="confirmed", outcome_by="reader")
        >>> outcome_of([confirmed, ChangeOutcomeV1_2(adopted=True, kind="add", outcome="open")])
        OutcomeV1_3(by='reader', value='success')
    """
    adopted = [change for change in changes if change.adopted]
    for outcome, value in _VALUE_OF_OUTCOME.items():
        sources = {change.outcome_by for change in adopted if change.outcome == outcome}
        if sources:
            return OutcomeV1_3(by="referee" if "referee" in sources else "reader", value=value)
    return OutcomeV1_3(by="reader", value="neutral")


def correction_of(principle: Principle, signature: InputSignatureV1_1, about: str) -> CorrectionV1_1:
    """Return the principle of an episode with the conditions under which it applies."""
    return CorrectionV1_1(
        corrective_principle=principle.text_en,
        applicable_conditions=(
            f"language={signature.language}",
            f"structure={_listed(signature.detected_structure)}",
            f"risk={about}",
        ),
        principle_id=principle.principle_id,
        anti_pattern=principle.anti_pattern_en,
    )


def action_taken(stage1: Stage1Result, outcome: ReviewOutcome, *, adopted: bool) -> ActionTaken:
    """Return what the pipeline did with Stage1's result."""
    before, after = stage1.atsa.sentiments, outcome.sentiments
    differs = (stage1.ate.aspects, before) != (outcome.aspects, after)
    if not adopted:
        return "defer" if differs else "abstain"
    pairs_before, pairs_after = _predicted_pairs(before), _predicted_pairs(after)
    if pairs_after - pairs_before:
        return "polarity_flip"
    if any(item.neutral_reason == "stage2_placeholder_no_sentiments" for item in after):
        return "neutral_fallback"
    if pairs_after == pairs_before and mean_confidence(after) < mean_confidence(before):
        return "confidence_reduce"
    return "defer" if differs else "abstain"


def mean_confidence(sentiments: Iterable[SentimentItem]) -> float:
    """Return the mean confidence without backfills; 0 if there is no sentiment."""
    confidences = [item.confidence for item in sentiments if not item.is_backfilled]
    return round(sum(confidences) / len(confidences), 6) if confidences else 0.0


def _predicted_pairs(sentiments: Sequence[SentimentItem]) -> frozenset[tuple[str, Polarity]]:
    return pairs(predicted(extract_tuples(sentiments)))


def _snapshot(sentiments: Sequence[SentimentItem], tuples: Sequence[FinalTuple], text: str) -> SnapshotV1_1:
    def stored(term: str) -> str:
        return stored_term(norm_key(term, text), text)

    return SnapshotV1_1(
        aspects_norm=tuple(dict.fromkeys(stored(final_tuple.aspect_term) for final_tuple in tuples)),
        polarities={
            aspect: representative.polarity
            for aspect, representative in representatives(predicted(tuples), key=stored).items()
        },
        confidence=mean_confidence(sentiments),
    )


def risk_type_of(risks: Iterable[StructuralRisk], *, had_conflict: bool, has_implicit: bool) -> RiskType | None:
    """Return the gravest kind of risk: L3 before conflict before implicit; None without any."""
    if any(risk.type in L3_RISKS for risk in risks):
        return "L3"
    if had_conflict:
        return "conflict"
    return "implicit" if has_implicit else None


def error_categories(
    risks: Iterable[StructuralRisk], *, had_conflict: bool, has_implicit: bool
) -> tuple[ErrorCategory, ...]:
    """Return the categories of the risks in a fixed order, `none` without any."""
    categories = {_CATEGORY_OF_RISK[risk.type] for risk in risks if risk.type in _CATEGORY_OF_RISK}
    if had_conflict:
        categories.add("aspect_conflict")
    if has_implicit:
        categories.add("implicit_opinion")
    return tuple(category for category in _CATEGORY_ORDER if category in categories) or ("none",)


def symptom_of(risks: Sequence[StructuralRisk], signature: InputSignatureV1_1) -> str:
    """Return risks, structures and the highest severity as one line of closed words."""
    worst = max((risk.severity for risk in risks), key=SEVERITY_WEIGHT.__getitem__, default="none")
    return (
        f"risks={_listed(risk.type for risk in risks)}; structure={_listed(signature.detected_structure)}; "
        f"max_severity={worst}"
    )


def _rationale(stage1: Stage1Result, action: ActionTaken, summary: ModeratorSummary) -> str:
    proposals = _listed(proposal.proposal_type for proposal in stage1.validator.correction_proposals)
    return f"proposals={proposals}; action={action}; adopt={summary.adopt_reason}"


def _listed(words: Iterable[str]) -> str:
    return ",".join(sorted(set(words))) or "none"
