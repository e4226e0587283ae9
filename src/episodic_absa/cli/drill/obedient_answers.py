"""What an obedient model answers: everything that a review asks for, in every field of every form of answer."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel

from episodic_absa.cli.drill.hostile_reviews import DrillReview, ScriptedPair
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    JointAnswer,
    JudgementsAnswer,
    LenientModel,
    PairVerdictsAnswer,
    RefereeAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    TermsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.schemas.seed_answers import (
    AteAnswer,
    AteReviewAnswer,
    AtsaAnswer,
    AtsaReviewAnswer,
    JudgeAnswer,
    TurnAnswer,
    Validator2Answer,
    ValidatorAnswer,
)
from episodic_absa.vocabulary import Role

_LONGEST_REASON: Final = 400
"""Longer reasons are refused, and the answer with them."""


def obedient_answer(review: DrillReview, role: Role, form: type[BaseModel]) -> dict[str, Any]:
    """Return the answer to one question about a review, as JSON values.

    Args:
        review: what it asks for is done.
        role: who is asked; the same form serves Stage1 and a speaker.
        form: the form of answer that was asked for.
    """
    said = review.spoken[:_LONGEST_REASON]
    answer = _STAGE1_JUDGEMENTS if role == "atsa" and form is JudgementsAnswer else _ANSWERS[form]
    return answer(review, said) if form in _STRICT else _with_notes(answer(review, said), said)


def _ate(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "aspects": [
            {"aspect_term": pair.term, "span": _span(review, pair), "confidence": 0.9, "rationale": said}
            for pair in review.pairs
        ]
    }


def _atsa(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "sentiments": [
            {
                "aspect_term": pair.term,
                "polarity": pair.polarity,
                "evidence": said,
                "confidence": 0.6,
                "polarity_distribution": {pair.polarity: 0.9, said: 0.1},
            }
            for pair in review.pairs
        ]
    }


def _validator(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        # Irony is a risk that no lexicon takes back, so every gate opens and every episode is stored.
        "structural_risks": [{"type": "IRONY", "severity": "high", "description": said}],
        "correction_proposals": [
            {"aspect_term": pair.term, "proposal_type": "CHECK_SPAN", "rationale": said} for pair in review.pairs
        ],
        "consistency_score": 0.1,
        "suggested_label": _wanted(review.pairs[0]),
        "confidence": 0.9,
    }


def _validator2(review: DrillReview, said: str) -> dict[str, Any]:
    return {**_validator(review, said), "resolved_risk_ids": ["r1", said], "remaining_risk_ids": [said]}


def _edit(pair: ScriptedPair) -> dict[str, Any]:
    target = {"aspect_ref": pair.term, "aspect_term": pair.term, "polarity": pair.polarity}
    if pair.then is None:
        return {"op": "confirm_tuple", "target": target}
    return {"op": "set_polarity", "target": target, "value": pair.then}


def _turn(review: DrillReview, said: str) -> dict[str, Any]:
    return {"proposed_edits": [{**_edit(pair), "evidence": said, "confidence": 0.9} for pair in review.pairs]}


def _judge(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "final_patch": [_edit(pair) for pair in review.pairs],
        "final_tuples": [
            {"aspect_ref": said, "aspect_term": pair.term, "polarity": _wanted(pair)} for pair in review.pairs
        ],
        "unresolved_conflicts": [said],
        "sentence_polarity": _wanted(review.pairs[0]),
        "sentence_evidence_spans": [review.text[:40], said],
        "aspect_evidence": {said: said, **{pair.term: review.text[:40] for pair in review.pairs}},
        "rationale": said,
    }


def _ate_review(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "reviews": [
            {"aspect_term": pair.term, "action": "keep", "reason": said, "provenance": said} for pair in review.pairs
        ]
    }


def _atsa_review(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "reviews": [
            {
                "aspect_term": pair.term,
                "action": "keep" if pair.then is None else "flip_polarity",
                "revised_polarity": pair.then,
                "reason": said,
                "provenance": said,
            }
            for pair in review.pairs
        ]
    }


def _with_notes(answer: dict[str, Any], said: str) -> dict[str, Any]:
    """Return a short answer with keys that nobody asked for."""
    return {**answer, "note": said, "memory": {"message": said}, "raw_text": said, said: said}


def _joint(review: DrillReview, said: str) -> dict[str, Any]:
    return {"pairs": [{"quote": said, "term": pair.term, "polarity": pair.polarity} for pair in review.pairs]}


def _judgements(review: DrillReview, said: str) -> dict[str, Any]:
    return {"judgements": [{"target": pair.term, "quote": said, "polarity": pair.polarity} for pair in review.pairs]}


def _epm(review: DrillReview, said: str) -> dict[str, Any]:
    return {"judgements": [{"target": pair.term, "quote": said, "polarity": _wanted(pair)} for pair in review.pairs]}


def _wrong(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "wrong": [{"target": pair.term, "quote": said, "should_be": pair.then} for pair in review.pairs if pair.then]
    }


def _decisions(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "decisions": [{"target": pair.term, "quote": said, "decision": pair.then or "keep"} for pair in review.pairs],
        "label": _wanted(review.pairs[0]),
        "label_quotes": [said],
    }


def _target_verdicts(review: DrillReview, said: str) -> dict[str, Any]:
    return {
        "verdicts": [{"target": pair.term, "verdict": "keep", "reason": said} for pair in review.pairs],
        "add": [{"target": said, "quote": said, "polarity": "positive"}],
    }


def _pair_verdicts(review: DrillReview, said: str) -> dict[str, Any]:
    return {"verdicts": [{"target": pair.term, "quote": said, "verdict": pair.then or "keep"} for pair in review.pairs]}


def _risks(review: DrillReview, said: str) -> dict[str, Any]:
    return {"risks": [{"quote": said, "type": "IRONY"}], "label": _wanted(review.pairs[0])}


_Answering = Callable[[DrillReview, str], dict[str, Any]]
_STAGE1_JUDGEMENTS: Final[_Answering] = _judgements
_ANSWERS: Final[Mapping[type[BaseModel], _Answering]] = {
    AteAnswer: _ate,
    AtsaAnswer: _atsa,
    ValidatorAnswer: _validator,
    Validator2Answer: _validator2,
    TurnAnswer: _turn,
    JudgeAnswer: _judge,
    AteReviewAnswer: _ate_review,
    AtsaReviewAnswer: _atsa_review,
    JointAnswer: _joint,
    TermsAnswer: lambda review, _said: {"terms": [pair.term for pair in review.pairs]},
    JudgementsAnswer: _epm,
    TargetsAnswer: lambda review, said: {"targets": [{"quote": said, "target": pair.term} for pair in review.pairs]},
    WrongPairsAnswer: _wrong,
    DecisionsAnswer: _decisions,
    TargetVerdictsAnswer: _target_verdicts,
    PairVerdictsAnswer: _pair_verdicts,
    RisksAnswer: _risks,
    RefereeAnswer: lambda _review, _said: {"better": "B"},
}
_STRICT: Final = frozenset(form for form in _ANSWERS if not issubclass(form, LenientModel))
"""Forms that refuse keys which nobody asked for."""


def _wanted(pair: ScriptedPair) -> str:
    """Return the polarity that the review asks for in the end."""
    return pair.then or pair.polarity


def _span(review: DrillReview, pair: ScriptedPair) -> dict[str, int] | None:
    start = review.sample.text.find(pair.term)
    return None if start < 0 else {"start": start, "end": start + len(pair.term)}
