"""Validator: names structural risks with their scope and proposes a correction where the reason is plain."""

from typing import Final

from episodic_absa.backends.embedded.judgement.sentence_label import sentence_label
from episodic_absa.backends.embedded.roles.atsa import answer_atsa
from episodic_absa.backends.embedded.roles.risk_checks import FoundRisk, consistency_score, find_risks
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.schemas.role_inputs import AtsaInputs, ValidatorInputs
from episodic_absa.schemas.seed_answers import AnsweredProposal, AnsweredRisk, AnsweredSpan, ValidatorAnswer
from episodic_absa.vocabulary import POLARITIES

_MAX_RISKS: Final = 20


def answer_validator(reading: WeighedReading, inputs: ValidatorInputs) -> ValidatorAnswer:
    """Check the given tuples, or those of a first look if none are given."""
    sentiments = first_look(reading, inputs) if inputs.sentiments is None else inputs.sentiments
    aspects = inputs.aspects or ()
    risks = find_risks(reading, aspects, sentiments)[:_MAX_RISKS]
    label, confidence = sentence_label(reading, sentiments)
    return ValidatorAnswer(
        structural_risks=tuple(map(answered_risk, risks)),
        correction_proposals=answered_proposals(risks),
        consistency_score=consistency_score(risks),
        suggested_label=label,
        confidence=confidence,
    )


def answered_risk(risk: FoundRisk) -> AnsweredRisk:
    """Return a risk as an answer gives it."""
    return AnsweredRisk(
        type=risk.type,
        scope=AnsweredSpan(start=risk.start, end=risk.end),
        severity=risk.severity,
        description=risk.description[:500],
    )


def answered_proposals(risks: list[FoundRisk]) -> tuple[AnsweredProposal, ...]:
    """Return one proposal per term and kind."""
    proposals: dict[tuple[str, str], AnsweredProposal] = {}
    for risk in risks:
        if risk.proposal is None:
            continue
        revised = AnsweredSpan(start=risk.revised[0], end=risk.revised[1]) if risk.revised else None
        proposals.setdefault(
            (risk.term, risk.proposal),
            AnsweredProposal(
                aspect_term=risk.term,
                proposal_type=risk.proposal,
                revised_span=revised,
                rationale=risk.description[:400],
            ),
        )
    return tuple(proposals.values())


def first_look(reading: WeighedReading, inputs: ValidatorInputs) -> tuple[SentimentItem, ...]:
    """Return what ATSA says of the text, for a validator that was given no sentiments."""
    answer = answer_atsa(reading, AtsaInputs(text=inputs.text, language=inputs.language, aspects=inputs.aspects))
    return tuple(
        SentimentItem(
            aspect_term=sentiment.aspect_term,
            polarity=next(polarity for polarity in POLARITIES if polarity == sentiment.polarity),
            evidence=sentiment.evidence,
            confidence=sentiment.confidence,
        )
        for sentiment in answer.sentiments
    )
