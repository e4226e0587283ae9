"""Turns the validator's answer into risks with ids, in both stages. A text without negation has no negation risk."""

from collections.abc import Iterable, Sequence
from typing import Final

from episodic_absa.language import find_contrasts, find_negations, read_label
from episodic_absa.schemas.absa import Proposal, Span, StructuralRisk, Validator2Output, ValidatorOutput
from episodic_absa.schemas.seed_answers import AnsweredRisk, Validator2Answer, ValidatorAnswer
from episodic_absa.seed.answer_processing import valid_span
from episodic_absa.vocabulary import RISK_IDS, SEVERITY_WEIGHT, Language, RiskId, Severity

_ALIASES: Final[dict[str, RiskId]] = {"NEGATION": "NEGATION_SCOPE", "CONTRAST": "CONTRAST_SCOPE"}
_SEVERITIES: Final[dict[str, Severity]] = {"low": "low", "mid": "mid", "high": "high"}
_JUSTIFY_A_FLIP: Final = frozenset({"CONTRAST_SCOPE", "IRONY", "POLARITY_MISMATCH"})
_RiskKey = tuple[RiskId, Span | None]


def process_validator(answer: ValidatorAnswer, text: str, language: Language, *, aspect_n: int) -> ValidatorOutput:
    """Return the risks, proposals and label of Stage1's validator.

    Risks and proposals that the text rules out are removed; a missing second aspect is added as a risk.

    Args:
        answer: the validator's answer.
        text: the text of the sample.
        language: the effective language; for `other` nothing is removed or added.
        aspect_n: how many aspects Stage1 kept.
    """
    risks = [_risk(answered, f"r{n}", text) for n, answered in enumerate(answer.structural_risks, start=1)]
    proposals = _proposals(answer, text)
    if _lacks_negation(text, language):
        risks = [risk for risk in risks if risk.type != "NEGATION_SCOPE"]
        if not any(risk.type in _JUSTIFY_A_FLIP for risk in risks):
            proposals = [proposal for proposal in proposals if proposal.proposal_type != "FLIP_POLARITY"]
    risks = _numbered(_one_per_place(risks), "r")
    if _misses_second_aspect(text, language, aspect_n, risks):
        risks.append(_missing_second_aspect(f"r{len(risks) + 1}", text))
    return ValidatorOutput(
        structural_risks=tuple(risks),
        correction_proposals=tuple(proposals),
        consistency_score=answer.consistency_score,
        suggested_label=read_label(answer.suggested_label),
        confidence=answer.confidence,
    )


def process_validator2(
    answer: Validator2Answer,
    text: str,
    language: Language,
    *,
    stage1_risks: Sequence[StructuralRisk],
    patched_aspect_n: int,
) -> Validator2Output:
    """Return the remaining risks of Stage1, with restated severities, and the new risks of the patched result."""
    known = {risk.id: risk for risk in stage1_risks}
    by_place = {(risk.type, risk.scope): risk.id for risk in stage1_risks}
    resolved = {risk_id for risk_id in answer.resolved_risk_ids if risk_id in known}
    # An id in both lists, or in neither, counts as remaining.
    resolved -= set(answer.remaining_risk_ids)
    restated: dict[str, Severity] = {}
    new: list[StructuralRisk] = []
    for answered in answer.structural_risks:
        risk = _risk(answered, "n1", text)
        repeats = answered.id if answered.id in known else by_place.get((risk.type, risk.scope))
        if repeats is not None:
            restated[repeats] = risk.severity
        elif not (risk.type == "NEGATION_SCOPE" and _lacks_negation(text, language)):
            new.append(risk)
    remaining = [
        risk.model_copy(update={"severity": restated.get(risk.id, risk.severity)})
        for risk in stage1_risks
        if risk.id not in resolved
    ]
    risks = _one_per_place([*remaining, *new])
    remaining = [risk for risk in risks if risk.id in known]
    new = _numbered([risk for risk in risks if risk.id not in known], "n")
    if _misses_second_aspect(text, language, patched_aspect_n, [*remaining, *new]):
        new.append(_missing_second_aspect(f"n{len(new) + 1}", text))
    return Validator2Output(
        structural_risks=(*remaining, *new),
        correction_proposals=tuple(_proposals(answer, text)),
        consistency_score=answer.consistency_score,
        suggested_label=read_label(answer.suggested_label),
        confidence=answer.confidence,
        resolved_risk_ids=tuple(risk.id for risk in stage1_risks if risk.id in resolved),
        remaining_risk_ids=tuple(risk.id for risk in stage1_risks if risk.id not in resolved),
        final_consistency_score=answer.final_consistency_score,
    )


def _proposals(answer: ValidatorAnswer, text: str) -> list[Proposal]:
    return [
        Proposal(
            aspect_term=answered.aspect_term.strip(),
            proposal_type=answered.proposal_type,
            revised_span=valid_span(answered.revised_span, text),
            rationale=answered.rationale,
        )
        for answered in answer.correction_proposals
    ]


def _risk(answered: AnsweredRisk, risk_id: str, text: str) -> StructuralRisk:
    word = answered.type.strip().upper()
    return StructuralRisk(
        id=risk_id,
        type=_ALIASES.get(word) or (word if word in RISK_IDS else "OTHER"),
        scope=valid_span(answered.scope, text),
        severity=_severity(answered.severity),
        description=answered.description,
    )


def _severity(word: str) -> Severity:
    return _SEVERITIES.get(word.strip().lower(), "mid")


def _numbered(risks: Iterable[StructuralRisk], letter: str) -> list[StructuralRisk]:
    return [risk.model_copy(update={"id": f"{letter}{n}"}) for n, risk in enumerate(risks, start=1)]


def _one_per_place(risks: Iterable[StructuralRisk]) -> list[StructuralRisk]:
    """Return one risk per type and scope, with the highest severity given: a repeated risk must not count twice."""
    kept: dict[_RiskKey, StructuralRisk] = {}
    for risk in risks:
        held = kept.get((risk.type, risk.scope))
        if held is None:
            kept[risk.type, risk.scope] = risk
        elif SEVERITY_WEIGHT[risk.severity] > SEVERITY_WEIGHT[held.severity]:
            kept[risk.type, risk.scope] = held.model_copy(update={"severity": risk.severity})
    return list(kept.values())


def _lacks_negation(text: str, language: Language) -> bool:
    return language != "other" and not find_negations(text, language)


def _misses_second_aspect(text: str, language: Language, aspect_n: int, risks: Iterable[StructuralRisk]) -> bool:
    return (
        aspect_n < 2
        and bool(find_contrasts(text, language))
        and not any(risk.type == "MISSING_SECOND_ASPECT" for risk in risks)
    )


def _missing_second_aspect(risk_id: str, text: str) -> StructuralRisk:
    return StructuralRisk(
        id=risk_id,
        type="MISSING_SECOND_ASPECT",
        scope=Span(start=0, end=len(text)),
        severity="high",
        description="a contrast marker, but fewer than two targets",
    )
