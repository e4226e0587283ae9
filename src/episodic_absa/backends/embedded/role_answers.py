"""The answer of the embedded engine in each form that a prompt asks for."""

from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel

from episodic_absa.backends.embedded.said import Judged, Said
from episodic_absa.reader.reader import Reader
from episodic_absa.schemas import answers as short
from episodic_absa.schemas import seed_answers as seed
from episodic_absa.schemas.absa import EditTarget, ProposedEdit

_KEPT: Final = "the embedded engine keeps what Stage1 said"


def answer_of(inputs: Any, output_model: type[BaseModel], reader: Reader) -> BaseModel:
    """Return the answer to the typed inputs of a question, in the form that it asks for."""
    return FORMS[output_model](Said(inputs, reader))


def _shares(pair: Judged) -> dict[str, float]:
    return {pair.polarity: round(pair.p, 4)}


def _confirmed(pair: Judged) -> ProposedEdit:
    target = EditTarget(aspect_ref=pair.term, polarity=pair.polarity)
    return ProposedEdit(op="confirm_tuple", target=target, evidence=pair.quote or None, confidence=pair.p)


def _risk(said: Said) -> tuple[seed.AnsweredRisk, ...]:
    return tuple(
        seed.AnsweredRisk(
            type=risk.type,
            scope=seed.AnsweredSpan(start=risk.start, end=risk.end),
            severity=risk.severity,
            description=risk.why,
        )
        for risk in said.risks
    )


def _settled(said: Said) -> seed.JudgeAnswer:
    return seed.JudgeAnswer(
        final_tuples=tuple(
            seed.AnsweredTuple(aspect_ref=pair.term, aspect_term=pair.term, polarity=pair.polarity)
            for pair in said.pairs
        ),
        sentence_polarity=said.label,
        sentence_evidence_spans=tuple(filter(None, dict.fromkeys(pair.quote for pair in said.pairs))),
        aspect_evidence={pair.term: pair.quote for pair in said.pairs if pair.quote},
        rationale=_KEPT,
    )


def _checked_again(said: Said) -> seed.Validator2Answer:
    # Nothing was changed, so every risk of Stage1 stands.
    return seed.Validator2Answer(
        consistency_score=said.consistency,
        final_consistency_score=said.consistency,
        suggested_label=said.label,
        confidence=said.label_p,
        remaining_risk_ids=said.stage1_risk_ids,
    )


FORMS: Final[dict[type[BaseModel], Callable[[Said], BaseModel]]] = {
    short.JointAnswer: lambda said: short.JointAnswer(
        pairs=tuple(short.Pair(quote=pair.quote, term=pair.term, polarity=pair.polarity) for pair in said.pairs)
    ),
    short.TermsAnswer: lambda said: short.TermsAnswer(terms=tuple(pair.term for pair in said.named)),
    short.JudgementsAnswer: lambda said: short.JudgementsAnswer(
        judgements=tuple(
            short.Judgement(target=pair.term, quote=pair.quote, polarity=pair.polarity) for pair in said.pairs
        )
    ),
    short.TargetsAnswer: lambda said: short.TargetsAnswer(
        targets=tuple(short.NamedTarget(quote=pair.quote, target=pair.term) for pair in said.named)
    ),
    short.WrongPairsAnswer: lambda _: short.WrongPairsAnswer(wrong=()),
    short.DecisionsAnswer: lambda said: short.DecisionsAnswer(decisions=(), label=said.label),
    short.TargetVerdictsAnswer: lambda said: short.TargetVerdictsAnswer(
        verdicts=tuple(short.TargetVerdict(target=term, verdict=short.KEEP) for term in said.targets)
    ),
    short.PairVerdictsAnswer: lambda said: short.PairVerdictsAnswer(
        verdicts=tuple(short.PairVerdict(target=pair.term, quote=pair.quote, verdict=short.KEEP) for pair in said.pairs)
    ),
    short.RisksAnswer: lambda said: short.RisksAnswer(
        risks=tuple(short.NamedRisk(quote=said.quote(risk.start, risk.end), type=risk.type) for risk in said.risks),
        label=said.label,
    ),
    short.RefereeAnswer: lambda said: short.RefereeAnswer(better=said.better_list),
    seed.AteAnswer: lambda said: seed.AteAnswer(
        aspects=tuple(
            seed.AnsweredAspect(aspect_term=pair.term, span=pair.span, confidence=pair.p) for pair in said.named
        )
    ),
    seed.AtsaAnswer: lambda said: seed.AtsaAnswer(
        sentiments=tuple(
            seed.AnsweredSentiment(
                aspect_term=pair.term,
                polarity=pair.polarity,
                evidence=pair.quote,
                confidence=pair.p,
                polarity_distribution=_shares(pair),
            )
            for pair in said.pairs
        )
    ),
    seed.ValidatorAnswer: lambda said: seed.ValidatorAnswer(
        structural_risks=_risk(said),
        consistency_score=said.consistency,
        suggested_label=said.label,
        confidence=said.label_p,
    ),
    seed.TurnAnswer: lambda said: seed.TurnAnswer(proposed_edits=tuple(map(_confirmed, said.pairs))),
    seed.JudgeAnswer: _settled,
    seed.AteReviewAnswer: lambda said: seed.AteReviewAnswer(
        reviews=tuple(seed.AnsweredAspectReview(aspect_term=term, action="keep", reason=_KEPT) for term in said.targets)
    ),
    seed.AtsaReviewAnswer: lambda said: seed.AtsaReviewAnswer(
        reviews=tuple(
            seed.AnsweredSentimentReview(
                aspect_term=pair.term, action="keep", revised_polarity=pair.polarity, reason=_KEPT
            )
            for pair in said.pairs
        )
    ),
    seed.Validator2Answer: _checked_again,
}
