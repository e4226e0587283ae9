"""Stage2 validator: checks the patched tuples and says which Stage1 risks are gone and which are new."""

from typing import Final

from episodic_absa.backends.embedded.judgement.sentence_label import sentence_label
from episodic_absa.backends.embedded.judgement.two_readers import weights_back
from episodic_absa.backends.embedded.roles.risk_checks import FoundRisk, consistency_score, find_risks
from episodic_absa.backends.embedded.roles.second_looks import SecondLooks, second_looks
from episodic_absa.backends.embedded.roles.tuple_review import has_quotation
from episodic_absa.backends.embedded.roles.validator import answered_proposals, answered_risk
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import SentimentItem, StructuralRisk
from episodic_absa.schemas.role_inputs import Validator2Inputs
from episodic_absa.schemas.seed_answers import Validator2Answer
from episodic_absa.vocabulary import RiskId

_CHECKED: Final[frozenset[RiskId]] = frozenset(
    {
        "NEGATION_SCOPE",
        "CONTRAST_SCOPE",
        "IRONY",
        "POLARITY_MISMATCH",
        "EVIDENCE_GAP",
        "SPAN_MISMATCH",
        "MISSING_SECOND_ASPECT",
    }
)
_MAX_NEW: Final = 10


def answer_stage2_validator(reading: WeighedReading, inputs: Validator2Inputs) -> Validator2Answer:
    """Check the patched result."""
    looks = second_looks(inputs.memory)
    present = find_risks(reading, inputs.patched_aspects, inputs.patched_sentiments)
    before = inputs.stage1.validator.structural_risks
    remaining = [risk for risk in before if _remains(risk, present, inputs)]
    new = [risk for risk in present if not any(_is_same(old, risk) for old in before)][:_MAX_NEW]
    new += _unquoted(reading, inputs.patched_sentiments, looks, present, before)
    label, confidence = sentence_label(reading, inputs.patched_sentiments)
    score = consistency_score(present)
    return Validator2Answer(
        structural_risks=tuple(map(answered_risk, new)),
        correction_proposals=answered_proposals(new),
        consistency_score=score,
        suggested_label=label,
        confidence=confidence,
        resolved_risk_ids=tuple(risk.id for risk in before if risk not in remaining),
        remaining_risk_ids=tuple(risk.id for risk in remaining),
        final_consistency_score=score,
    )


def _remains(risk: StructuralRisk, present: list[FoundRisk], inputs: Validator2Inputs) -> bool:
    if risk.type == "MISSING_SECOND_ASPECT":
        # The system holds it against every contrast with one aspect, wherever the scope was put.
        return len({norm(aspect.aspect_term) for aspect in inputs.patched_aspects} - {""}) < 2
    # A risk of a kind this engine does not look for cannot be called resolved.
    return risk.type not in _CHECKED or inputs.language == "other" or any(_is_same(risk, left) for left in present)


def _is_same(old: StructuralRisk, found: FoundRisk) -> bool:
    if old.type != found.type:
        return False
    return old.scope is None or (old.scope.start < found.end and found.start < old.scope.end)


def _unquoted(
    reading: WeighedReading,
    sentiments: tuple[SentimentItem, ...],
    looks: SecondLooks,
    present: list[FoundRisk],
    before: tuple[StructuralRisk, ...],
) -> list[FoundRisk]:
    """Under advice about evidence, a judgement without words of its own is a risk even if it is a weak one."""
    if not looks.has("evidence") or "EVIDENCE_GAP" in {
        *(risk.type for risk in present),
        *(risk.type for risk in before),
    }:
        return []
    for sentiment in sentiments:
        place = reading.text.find(sentiment.aspect_term) if sentiment.aspect_term else -1
        if sentiment.polarity == "neutral" or sentiment.is_backfilled or place < 0 or has_quotation(reading, sentiment):
            continue
        if weights_back(reading, sentiment):
            continue
        end = place + len(sentiment.aspect_term)
        return [
            FoundRisk(
                "EVIDENCE_GAP",
                place,
                end,
                "low",
                f"no words are said of '{sentiment.aspect_term}'",
                sentiment.aspect_term,
            )
        ]
    return []
