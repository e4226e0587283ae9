"""Turns slim answers (prompts v2) into the models that the rest of the pipeline works with.

A model is asked for terms, polarities and quotes. Spans, ids, references and confidences are computed here and later.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from episodic_absa.agents.debate.review_context import TermMap
from episodic_absa.language import nearest_occurrence, norm, read_polarity
from episodic_absa.schemas.absa import EditTarget, PatchEdit, ProposedEdit, SentimentItem
from episodic_absa.schemas.answers import (
    AnsweredAspect,
    AnsweredAspectReview,
    AnsweredRisk,
    AnsweredSentiment,
    AnsweredSentimentReview,
    AnsweredSpan,
    AteAnswer,
    AteReviewAnswer,
    AtsaAnswer,
    AtsaReviewAnswer,
    JudgeAnswer,
    Validator2Answer,
    ValidatorAnswer,
)
from episodic_absa.schemas.slim_answers import (
    DROP,
    KEEP,
    DecisionsAnswer,
    Judgement,
    JudgementsAnswer,
    NamedTarget,
    Pair,
    PairVerdictsAnswer,
    RisksAnswer,
    TargetVerdictsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.vocabulary import EditOp

_LONGEST_REASON: Final = 400
_UNSTATED: Final = 0.5
"""Slim answers state no confidence."""
_NO_QUOTE: Final = "no words of the text are quoted"


def ate_of_pairs(pairs: Iterable[Pair]) -> AteAnswer:
    """Return the targets of a joint answer."""
    return AteAnswer(aspects=tuple(AnsweredAspect(aspect_term=pair.term) for pair in pairs if norm(pair.term)))


def ate_of_terms(terms: Iterable[str]) -> AteAnswer:
    """Return the targets of a list of terms."""
    return AteAnswer(aspects=tuple(AnsweredAspect(aspect_term=term) for term in terms if norm(term)))


def atsa_of_pairs(pairs: Iterable[Pair], text: str) -> AtsaAnswer:
    """Return the judgements of a joint answer."""
    return AtsaAnswer(sentiments=tuple(_sentiment(pair.term, pair.polarity, pair.quote, text) for pair in pairs))


def atsa_of_judgements(answer: JudgementsAnswer, text: str) -> AtsaAnswer:
    """Return the judgements of an ATSA answer."""
    return AtsaAnswer(
        sentiments=tuple(_sentiment(item.target, item.polarity, item.quote, text) for item in answer.judgements)
    )


def validator_of_risks(answer: RisksAnswer, text: str) -> ValidatorAnswer:
    """Return the validator's findings; the scope of a risk is the place of its quote."""
    return ValidatorAnswer(
        structural_risks=_risks(answer, text), consistency_score=_UNSTATED, suggested_label=answer.label
    )


def validator2_of_risks(answer: RisksAnswer, text: str) -> Validator2Answer:
    """Return the validator's findings about the final pairs: the risks it still names."""
    return Validator2Answer(
        structural_risks=_risks(answer, text), consistency_score=_UNSTATED, suggested_label=answer.label
    )


def edits_of_judgements(
    judgements: Iterable[Judgement], sentiments: Sequence[SentimentItem], terms: TermMap
) -> tuple[ProposedEdit, ...]:
    """Return EPM's edits: it confirms a pair whose polarity it finds too, and sets another polarity otherwise."""
    edits = []
    for judgement in judgements:
        term, polarity = terms.find(judgement.target), read_polarity(judgement.polarity).polarity
        current = _current(term, sentiments)
        if term is None or polarity is None or current is None:
            continue
        is_same = polarity == current
        edits.append(
            ProposedEdit(
                op="confirm_tuple" if is_same else "set_polarity",
                target=EditTarget(aspect_ref=term, polarity=current),
                value=None if is_same else polarity,
                evidence=judgement.quote or None,
            )
        )
    return tuple(edits)


def edits_of_targets(
    targets: Iterable[NamedTarget], sentiments: Sequence[SentimentItem], terms: TermMap, text: str
) -> tuple[ProposedEdit, ...]:
    """Return TAN's edits, who has not seen Stage1's targets.

    TAN confirms the Stage1 terms that it names as well, drops those that it does not name, and confirms terms of the
    text that Stage1 lacks.
    """
    named: dict[str, NamedTarget] = {}
    new: dict[str, NamedTarget] = {}
    for target in targets:
        term = _overlapping(target.target, terms)
        if term is not None:
            named.setdefault(term, target)
        elif nearest_occurrence(target.target, text, 0) is not None:
            new.setdefault(target.target, target)
    edits = []
    for item in sentiments:
        if not item.aspect_term or item.is_backfilled:
            continue
        quote = named[item.aspect_term].quote if item.aspect_term in named else ""
        op: EditOp = "confirm_tuple" if item.aspect_term in named else "drop_tuple"
        reference = EditTarget(aspect_ref=item.aspect_term, polarity=item.polarity)
        edits.append(ProposedEdit(op=op, target=reference, evidence=quote or None))
    edits += [
        ProposedEdit(
            op="confirm_tuple", target=EditTarget(aspect_ref=term, aspect_term=term), evidence=target.quote or None
        )
        for term, target in new.items()
    ]
    return tuple(edits)


def edits_of_wrong_pairs(
    answer: WrongPairsAnswer, sentiments: Sequence[SentimentItem], terms: TermMap
) -> tuple[ProposedEdit, ...]:
    """Return CJ's edits: one per pair that it calls wrong."""
    edits = []
    for wrong in answer.wrong:
        term = terms.find(wrong.target)
        current = _current(term, sentiments)
        if term is None or current is None:
            continue
        target = EditTarget(aspect_ref=term, polarity=current)
        polarity = read_polarity(wrong.should_be).polarity
        if norm(wrong.should_be) == DROP:
            edits.append(ProposedEdit(op="drop_tuple", target=target, evidence=wrong.quote or None))
        elif polarity is not None and polarity != current:
            edits.append(ProposedEdit(op="set_polarity", target=target, value=polarity, evidence=wrong.quote or None))
    return tuple(edits)


def judge_of_decisions(
    answer: DecisionsAnswer, sentiments: Sequence[SentimentItem], terms: TermMap, text: str
) -> JudgeAnswer:
    """Return the judge's settlement: a patch entry per decision, and the quotes that stand in the text."""
    patch: list[PatchEdit] = []
    quotes: dict[str, str] = {}
    for decision in answer.decisions:
        term = terms.find(decision.target)
        current = _current(term, sentiments)
        if term is None or current is None:
            continue
        target = EditTarget(aspect_ref=term, polarity=current)
        polarity = read_polarity(decision.decision).polarity
        if norm(decision.decision) == KEEP or polarity == current:
            patch.append(PatchEdit(op="confirm_tuple", target=target))
        elif norm(decision.decision) == DROP:
            patch.append(PatchEdit(op="drop_tuple", target=target))
        elif polarity is not None:
            patch.append(PatchEdit(op="set_polarity", target=target, value=polarity))
        if decision.quote and decision.quote in text:
            quotes.setdefault(term, decision.quote)
    return JudgeAnswer(
        final_patch=tuple(patch),
        sentence_polarity=answer.label,
        sentence_evidence_spans=tuple(quote for quote in dict.fromkeys(answer.label_quotes) if quote and quote in text),
        aspect_evidence=quotes,
    )


def ate_verdicts_of(answer: TargetVerdictsAnswer) -> AteReviewAnswer:
    """Return Stage2's verdicts on targets; an added pair is a verdict on sentiments."""
    return AteReviewAnswer(
        reviews=tuple(
            AnsweredAspectReview(
                aspect_term=verdict.target,
                action="drop" if norm(verdict.verdict) == DROP else "keep",
                reason=_NO_QUOTE,
            )
            for verdict in answer.verdicts
        )
    )


def atsa_verdicts_of(
    answer: PairVerdictsAnswer, added: Iterable[Judgement], sentiments: Sequence[SentimentItem], terms: TermMap
) -> AtsaReviewAnswer:
    """Return Stage2's verdicts on pairs, and the pairs that it adds."""
    verdicts = []
    for verdict in answer.verdicts:
        term = terms.find(verdict.target)
        current, polarity = _current(term, sentiments), read_polarity(verdict.verdict).polarity
        is_flip = polarity is not None and current is not None and polarity != current
        verdicts.append(
            AnsweredSentimentReview(
                aspect_term=verdict.target if term is None else term,
                action="flip_polarity" if is_flip else "keep",
                revised_polarity=polarity if is_flip else None,
                reason=_reason(verdict.quote),
            )
        )
    verdicts += [
        AnsweredSentimentReview(
            aspect_term=pair.target, action="add", revised_polarity=pair.polarity, reason=_reason(pair.quote)
        )
        for pair in added
        if terms.find(pair.target) is None
    ]
    return AtsaReviewAnswer(reviews=tuple(verdicts))


def _sentiment(term: str, polarity: str, quote: str, text: str) -> AnsweredSentiment:
    return AnsweredSentiment(aspect_term=term, polarity=polarity, evidence=quote if quote in text else "")


def _risks(answer: RisksAnswer, text: str) -> tuple[AnsweredRisk, ...]:
    risks = []
    for risk in answer.risks:
        place = nearest_occurrence(risk.quote, text, 0) if risk.quote else None
        scope = AnsweredSpan(start=place[0], end=place[1]) if place else None
        risks.append(AnsweredRisk(type=risk.type, scope=scope, description=risk.quote[:500]))
    return tuple(risks)


def _current(term: str | None, sentiments: Sequence[SentimentItem]) -> str | None:
    """Return the polarity that Stage1 gives a term."""
    if term is None:
        return None
    return next((item.polarity for item in sentiments if item.aspect_term == term and not item.is_backfilled), None)


def _overlapping(name: str, terms: TermMap) -> str | None:
    """Return the Stage1 term that a name means: the same, or one within the other (the longest)."""
    same = terms.find(name)
    if same is not None:
        return same or None
    key = norm(name)
    inside = [term for term in terms.aspect_terms if term and key and (norm(term) in key or key in norm(term))]
    return max(inside, key=len, default=None)


def _reason(quote: str) -> str:
    return f'"{quote}"'[:_LONGEST_REASON] if quote else _NO_QUOTE
