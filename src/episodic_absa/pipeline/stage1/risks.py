"""Turns the risks that a validator names into risks with ids. A text without negation has no negation risk."""

from collections.abc import Iterable, Sequence
from typing import Final

from episodic_absa.language import find_contrasts, find_negations, nearest_occurrence, read_label
from episodic_absa.schemas.absa import Span, Stage1Result, StructuralRisk, Validator2Output, ValidatorOutput
from episodic_absa.schemas.answers import NamedRisk, RisksAnswer
from episodic_absa.vocabulary import RISK_IDS, SEVERITY_WEIGHT, Language, RiskId

_ALIASES: Final[dict[str, str]] = {"NEGATION": "NEGATION_SCOPE", "CONTRAST": "CONTRAST_SCOPE"}
_UNSTATED: Final = 0.5
"""Nobody is asked how consistent a result is."""
_LONGEST_DESCRIPTION: Final = 500


def risks_of(answer: RisksAnswer, text: str, language: Language, *, target_n: int) -> ValidatorOutput:
    """Return the risks of Stage1 and the validator's label.

    A negation that the text does not hold is removed; a missing second target is added as a risk.

    Args:
        answer: the validator's.
        text: the text of the sample; the scope of a risk is the place of its quote.
        language: the effective language; for `other` nothing is removed or added.
        target_n: how many targets Stage1 kept.
    """
    risks = [_risk(named, "r1", text) for named in answer.risks]
    risks = _numbered(_one_per_place(risk for risk in risks if not _is_ruled_out(risk, text, language)), "r")
    if _misses_second_target(text, language, target_n, risks):
        risks.append(_missing_second_target(f"r{len(risks) + 1}", text))
    return ValidatorOutput(
        structural_risks=tuple(risks), consistency_score=_UNSTATED, suggested_label=read_label(answer.label)
    )


def remaining_risks(
    answer: RisksAnswer, text: str, language: Language, stage1_risks: Sequence[StructuralRisk], *, target_n: int
) -> Validator2Output:
    """Return the risks of Stage1 that Validator2 names again, and the new ones; the others are resolved.

    Args:
        answer: Validator2's.
        text: the text of the sample.
        language: the effective language.
        stage1_risks: the risks of Stage1; one is named again if its type is.
        target_n: how many targets the final result has.
    """
    named = [_risk(risk, "n1", text) for risk in answer.risks]
    types = {risk.type for risk in named}
    by_place = {(risk.type, risk.scope): risk.id for risk in stage1_risks}
    restated = {by_place[place]: risk.severity for risk in named if (place := (risk.type, risk.scope)) in by_place}
    remaining = [
        risk.model_copy(update={"severity": restated.get(risk.id, risk.severity)})
        for risk in stage1_risks
        if risk.type in types
    ]
    new = [
        risk for risk in named if (risk.type, risk.scope) not in by_place and not _is_ruled_out(risk, text, language)
    ]
    risks = _one_per_place([*remaining, *new])
    known = {risk.id for risk in stage1_risks}
    remaining = [risk for risk in risks if risk.id in known]
    new = _numbered([risk for risk in risks if risk.id not in known], "n")
    if _misses_second_target(text, language, target_n, [*remaining, *new]):
        new.append(_missing_second_target(f"n{len(new) + 1}", text))
    return Validator2Output(
        structural_risks=(*remaining, *new),
        consistency_score=_UNSTATED,
        suggested_label=read_label(answer.label),
        resolved_risk_ids=tuple(risk.id for risk in stage1_risks if risk.type not in types),
        remaining_risk_ids=tuple(risk.id for risk in stage1_risks if risk.type in types),
    )


def unchecked_risks(stage1: Stage1Result) -> Validator2Output:
    """Return the findings about a result that Validator2 did not judge: every risk of Stage1 stands."""
    risks = stage1.validator.structural_risks
    return Validator2Output(structural_risks=risks, remaining_risk_ids=tuple(risk.id for risk in risks))


def _risk(named: NamedRisk, risk_id: str, text: str) -> StructuralRisk:
    word = named.type.strip().upper()
    place = nearest_occurrence(named.quote, text, 0) if named.quote else None
    return StructuralRisk(
        id=risk_id,
        type=next((known for known in RISK_IDS if known == _ALIASES.get(word, word)), "OTHER"),
        scope=Span(start=place[0], end=place[1]) if place else None,
        description=named.quote[:_LONGEST_DESCRIPTION],
    )


def _numbered(risks: Iterable[StructuralRisk], letter: str) -> list[StructuralRisk]:
    return [risk.model_copy(update={"id": f"{letter}{n}"}) for n, risk in enumerate(risks, start=1)]


def _one_per_place(risks: Iterable[StructuralRisk]) -> list[StructuralRisk]:
    """Return one risk per type and scope, with the highest severity given: a repeated risk must not count twice."""
    kept: dict[tuple[RiskId, Span | None], StructuralRisk] = {}
    for risk in risks:
        held = kept.get((risk.type, risk.scope))
        if held is None:
            kept[risk.type, risk.scope] = risk
        elif SEVERITY_WEIGHT[risk.severity] > SEVERITY_WEIGHT[held.severity]:
            kept[risk.type, risk.scope] = held.model_copy(update={"severity": risk.severity})
    return list(kept.values())


def _is_ruled_out(risk: StructuralRisk, text: str, language: Language) -> bool:
    return risk.type == "NEGATION_SCOPE" and language != "other" and not find_negations(text, language)


def _misses_second_target(text: str, language: Language, target_n: int, risks: Iterable[StructuralRisk]) -> bool:
    return (
        target_n < 2
        and bool(find_contrasts(text, language))
        and not any(risk.type == "MISSING_SECOND_ASPECT" for risk in risks)
    )


def _missing_second_target(risk_id: str, text: str) -> StructuralRisk:
    return StructuralRisk(
        id=risk_id,
        type="MISSING_SECOND_ASPECT",
        scope=Span(start=0, end=len(text)),
        severity="high",
        description="a contrast marker, but fewer than two targets",
    )
