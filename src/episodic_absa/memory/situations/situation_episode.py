"""Builds the episode of a situation: the format that runs store, without any aspect, polarity or text."""

from typing import Final, Literal

from episodic_absa.memory.advice.principles import PrincipleCatalogue, risk_key
from episodic_absa.memory.episodes.episode_builder import (
    correction_of,
    error_categories,
    risk_type_of,
    symptom_of,
)
from episodic_absa.memory.episodes.leak_guard import IMPLICIT_TARGET
from episodic_absa.memory.situations.situation import Situation
from episodic_absa.schemas.absa import StructuralRisk, risk_vector
from episodic_absa.schemas.memory_v1_1 import (
    CaseSummaryV1_1,
    EvaluationV1_1,
    InputSignatureV1_1,
    OutcomeDeltaV1_1,
    ProvenanceV1_1,
    RiskVectorV1_1,
)
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3, OutcomeV1_3
from episodic_absa.vocabulary import SEVERITY_WEIGHT, ActionTaken, EpisodeType, RiskId

Action = Literal["kept", "changed"]
"""What the agent did with its first answer."""
Outcome = Literal["better", "worse", "unclear"]
"""How that turned out, as far as the agent can tell without knowing the right answer."""

ACTION_TAKEN: Final[dict[Action, ActionTaken]] = {"kept": "abstain", "changed": "polarity_flip"}
EPISODE_TYPE: Final[dict[Outcome, EpisodeType]] = {"better": "success", "worse": "harm", "unclear": "neutral"}


def signature_of(situation: Situation) -> InputSignatureV1_1:
    """Return the signature by which a situation is compared with past ones."""
    structures = situation.structures
    return InputSignatureV1_1(
        language=situation.language,
        detected_structure=tuple(structures) or ("none",),
        has_negation=None if situation.language == "other" else "negation" in structures,
        length_bucket=situation.length,
        num_aspects=situation.targets,
    )


def risk_ids(situation: Situation) -> tuple[RiskId, ...]:
    """Return the risks as the store spells them."""
    spelled: dict[str, RiskId] = {
        "negation_scope": "NEGATION_SCOPE",
        "contrast_scope": "CONTRAST_SCOPE",
        "irony": "IRONY",
        "polarity_mismatch": "POLARITY_MISMATCH",
        "evidence_gap": "EVIDENCE_GAP",
        "span_mismatch": "SPAN_MISMATCH",
        "missing_second_aspect": "MISSING_SECOND_ASPECT",
        "other": "OTHER",
    }
    return tuple(spelled[risk] for risk in situation.risks)


def situation_episode(
    situation: Situation, action: Action, outcome: Outcome, case_id: str, catalogue: PrincipleCatalogue
) -> EpisodeDraftV1_3:
    """Return the episode of a situation, without an id: the store gives it one."""
    signature = signature_of(situation)
    risks = tuple(
        StructuralRisk(id=f"r{place}", type=risk, severity=situation.severity)
        for place, risk in enumerate(risk_ids(situation), start=1)
    )
    evaluation = _evaluation(risks, situation, action, outcome)
    about = risk_key(
        ((risk.type, risk.severity) for risk in risks), has_conflict=situation.conflict, has_implicit=False
    )
    principle = catalogue.lookup(about, ACTION_TAKEN[action], EPISODE_TYPE[outcome])
    return EpisodeDraftV1_3(
        outcome=OutcomeV1_3(by="agent", value=EPISODE_TYPE[outcome]),
        error_category=error_categories(risks, had_conflict=situation.conflict, has_implicit=False),
        risk_type=risk_type_of(risks, had_conflict=situation.conflict, has_implicit=False),
        action_taken=ACTION_TAKEN[action],
        input_signature=signature,
        case_summary=CaseSummaryV1_1(
            target_aspect_type=IMPLICIT_TARGET,
            symptom=symptom_of(risks, signature),
            rationale_summary=f"proposals=none; action={ACTION_TAKEN[action]}; "
            f"adopt={'debate_action' if action == 'changed' else 'low_signal'}",
        ),
        correction=correction_of(principle, signature, about),
        evaluation=evaluation,
        outcome_delta=OutcomeDeltaV1_1(
            conflict_resolved=outcome == "better" if situation.conflict else None,
            delta_risk=evaluation.risk_after.severity_sum - evaluation.risk_before.severity_sum,
        ),
        provenance=ProvenanceV1_1(
            source_id=case_id, created_from_split="unknown", used_in_eval=False, sample_index=0, seed=0
        ),
    )


def _evaluation(
    risks: tuple[StructuralRisk, ...], situation: Situation, action: Action, outcome: Outcome
) -> EvaluationV1_1:
    before = risk_vector(risks)
    after = before
    if risks and outcome == "better":
        after = RiskVectorV1_1(severity_sum=0, tags=())
    elif risks and outcome == "worse":
        graver = before.severity_sum + SEVERITY_WEIGHT[situation.severity]
        after = before.model_copy(update={"severity_sum": graver})
    return EvaluationV1_1(
        override_applied=action == "changed",
        override_success=action == "changed" and outcome == "better",
        override_harm=action == "changed" and outcome == "worse",
        risk_before=before,
        risk_after=after,
    )
