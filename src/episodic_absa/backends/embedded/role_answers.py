"""The answer of the embedded engine in each form that a prompt asks for."""

from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel

from episodic_absa.backends.embedded.said import Judged, Said
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas import answers as short
from episodic_absa.schemas import seed_answers as seed
from episodic_absa.schemas.absa import EditTarget, ProposedEdit

_KEPT: Final = "the embedded engine keeps what Stage1 said"


def answer_of(inputs: Any, output_model: type[BaseModel], reader: TextReader) -> BaseModel:
    """Return the answer to the typed inputs of a question, in the form that it asks for."""
    said = Said(inputs, reader)
    return output_model(**FORMS[output_model](said))


def _confirmed(pair: Judged) -> ProposedEdit:
    target = EditTarget(aspect_ref=pair.term, polarity=pair.polarity)
    return ProposedEdit(op="confirm_tuple", target=target, evidence=pair.quote or None, confidence=pair.confidence)


def _sentiment(pair: Judged) -> seed.AnsweredSentiment:
    return seed.AnsweredSentiment(
        aspect_term=pair.term,
        polarity=pair.polarity,
        evidence=pair.quote,
        confidence=pair.confidence,
        polarity_distribution={pair.polarity: pair.confidence},
    )


def _aspect(pair: Judged) -> seed.AnsweredAspect:
    span = seed.AnsweredSpan(start=pair.start, end=pair.end)
    return seed.AnsweredAspect(aspect_term=pair.term, span=span, confidence=pair.confidence)


def _settled(said: Said) -> dict[str, Any]:
    return {
        "final_tuples": [seed.AnsweredTuple(aspect_term=pair.term, polarity=pair.polarity) for pair in said.pairs],
        "sentence_polarity": said.label,
        "sentence_evidence_spans": [quote for quote in dict.fromkeys(pair.quote for pair in said.pairs) if quote],
        "aspect_evidence": {pair.term: pair.quote for pair in said.pairs if pair.quote},
        "rationale": _KEPT,
    }


def _checked(said: Said) -> dict[str, Any]:
    risks = [
        seed.AnsweredRisk(
            type=risk.type,
            scope=seed.AnsweredSpan(start=risk.start, end=risk.end),
            severity=risk.severity,
            description=risk.why,
        )
        for risk in said.risks
    ]
    label = {"suggested_label": said.label, "confidence": said.label_p}
    return {"structural_risks": risks, "consistency_score": said.consistency, **label}


def _checked_again(said: Said) -> dict[str, Any]:
    # Nothing was changed, so every risk of Stage1 stands.
    standing = {"structural_risks": [], "remaining_risk_ids": said.stage1_risk_ids}
    return {**_checked(said), **standing, "final_consistency_score": said.consistency}


FORMS: Final[dict[type[BaseModel], Callable[[Said], dict[str, Any]]]] = {
    short.JointAnswer: lambda said: {
        "pairs": [short.Pair(quote=pair.quote, term=pair.term, polarity=pair.polarity) for pair in said.pairs]
    },
    short.TermsAnswer: lambda said: {"terms": [pair.term for pair in said.named]},
    short.JudgementsAnswer: lambda said: {
        "judgements": [
            short.Judgement(target=pair.term, quote=pair.quote, polarity=pair.polarity) for pair in said.pairs
        ]
    },
    short.TargetsAnswer: lambda said: {
        "targets": [short.NamedTarget(quote=pair.quote, target=pair.term) for pair in said.named]
    },
    short.WrongPairsAnswer: lambda _: {"wrong": []},
    short.DecisionsAnswer: lambda said: {"decisions": [], "label": said.label},
    short.TargetVerdictsAnswer: lambda said: {
        # To keep a target that Stage1 guessed and nobody judged would add a pair.
        "verdicts": [
            short.TargetVerdict(target=term, verdict=short.KEEP)
            for term in dict.fromkeys(pair.term for pair in said.named)
        ]
    },
    short.PairVerdictsAnswer: lambda said: {
        "verdicts": [short.PairVerdict(target=pair.term, quote=pair.quote, verdict=short.KEEP) for pair in said.pairs]
    },
    short.RisksAnswer: lambda said: {
        "risks": [short.NamedRisk(quote=said.quote(risk.start, risk.end), type=risk.type) for risk in said.risks],
        "label": said.label,
    },
    short.RefereeAnswer: lambda said: {"better": said.better_list},
    seed.AteAnswer: lambda said: {"aspects": [_aspect(pair) for pair in said.named]},
    seed.AtsaAnswer: lambda said: {"sentiments": [_sentiment(pair) for pair in said.pairs]},
    seed.ValidatorAnswer: _checked,
    seed.TurnAnswer: lambda said: {"proposed_edits": [_confirmed(pair) for pair in said.pairs]},
    seed.JudgeAnswer: _settled,
    seed.AteReviewAnswer: lambda said: {
        "reviews": [seed.AnsweredAspectReview(aspect_term=term, action="keep", reason=_KEPT) for term in said.targets]
    },
    seed.AtsaReviewAnswer: lambda said: {
        "reviews": [
            seed.AnsweredSentimentReview(
                aspect_term=pair.term, action="keep", revised_polarity=pair.polarity, reason=_KEPT
            )
            for pair in said.pairs
        ]
    },
    seed.Validator2Answer: _checked_again,
}
