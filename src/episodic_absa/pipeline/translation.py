"""Turns slim answers (prompts v2) into the models that the rest of the pipeline works with.

A model is asked for terms, polarities and quotes. Spans, ids, references and confidences are computed here and later.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from episodic_absa.language import nearest_occurrence, norm, read_action, read_polarity
from episodic_absa.pipeline.named_terms import (
    held_polarities,
    meant_polarity,
    meant_term,
    overlapping_term,
    split_name,
)
from episodic_absa.schemas.absa import EditTarget, PatchEdit, ProposedEdit, SentimentItem
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    Judgement,
    JudgementsAnswer,
    NamedTarget,
    Pair,
    PairVerdict,
    PairVerdictsAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.schemas.seed_answers import (
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
from episodic_absa.seed.review_context import TermMap
from episodic_absa.vocabulary import AtsaAction, EditOp

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
    """Return EPM's edits: it confirms a pair whose polarity it finds too, and sets another polarity otherwise.

    Of a term with two polarities in Stage1 it confirms the one that it finds, and claims nothing about the other.
    """
    edits = []
    for judgement in judgements:
        term, polarity = meant_term(judgement.target, terms), read_polarity(judgement.polarity).polarity
        held = held_polarities(term, sentiments)
        if term is None or polarity is None or not held:
            continue
        is_same = polarity in held
        edits.append(
            ProposedEdit(
                op="confirm_tuple" if is_same else "set_polarity",
                target=EditTarget(aspect_ref=term, polarity=polarity if is_same else held[0]),
                value=None if is_same else polarity,
                evidence=judgement.quote or None,
            )
        )
    return tuple(edits)


def edits_of_targets(
    answer: TargetsAnswer, sentiments: Sequence[SentimentItem], terms: TermMap, text: str
) -> tuple[ProposedEdit, ...]:
    """Return TAN's edits, who has not seen Stage1's targets.

    TAN confirms the Stage1 terms that it names as well, drops those that it does not name, and confirms terms of the
    text that Stage1 lacks. If a part of its answer is lost, it may have named any term there: it drops none.
    """
    named: dict[str, NamedTarget] = {}
    new: dict[str, NamedTarget] = {}
    for target in answer.targets:
        name = split_name(target.target).name
        term = overlapping_term(name, terms)
        if term is not None:
            named.setdefault(term, target)
        elif norm(name) and nearest_occurrence(name, text, 0) is not None:
            new.setdefault(name, target)
    edits = []
    for item in sentiments:
        is_named = item.aspect_term in named
        if not item.aspect_term or item.is_backfilled or (answer.is_partial and not is_named):
            continue
        quote = named[item.aspect_term].quote if is_named else ""
        op: EditOp = "confirm_tuple" if is_named else "drop_tuple"
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
        term = meant_term(wrong.target, terms)
        current = meant_polarity(wrong.target, term, sentiments)
        if term is None or current is None:
            continue
        target = EditTarget(aspect_ref=term, polarity=current)
        polarity = read_polarity(wrong.should_be).polarity
        if read_action(wrong.should_be) == "drop":
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
        term = meant_term(decision.target, terms)
        current = meant_polarity(decision.target, term, sentiments)
        if term is None or current is None:
            continue
        target = EditTarget(aspect_ref=term, polarity=current)
        action, polarity = read_action(decision.decision), read_polarity(decision.decision).polarity
        if action == "keep" or polarity == current:
            patch.append(PatchEdit(op="confirm_tuple", target=target))
        elif action == "drop":
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


def ate_verdicts_of(answer: TargetVerdictsAnswer, terms: TermMap) -> AteReviewAnswer:
    """Return Stage2's verdicts on targets; an added pair is a verdict on sentiments. An unknown word is no verdict."""
    reviews = []
    for verdict in answer.verdicts:
        action, term = read_action(verdict.verdict), meant_term(verdict.target, terms)
        name = split_name(verdict.target).name if term is None else term
        if action in (None, "flip") or (term is None and not norm(name)):
            continue
        reviews.append(
            AnsweredAspectReview(aspect_term=name, action="keep" if action == "keep" else "drop", reason=_NO_QUOTE)
        )
    return AteReviewAnswer(reviews=tuple(reviews))


def atsa_verdicts_of(
    answer: PairVerdictsAnswer, added: Iterable[Judgement], sentiments: Sequence[SentimentItem], terms: TermMap
) -> AtsaReviewAnswer:
    """Return Stage2's verdicts on pairs, and the pairs that it adds.

    A verdict that a pair is wrong, without saying what is right, is a flip without a polarity.
    """
    verdicts = [
        review for verdict in answer.verdicts if (review := _pair_review(verdict, sentiments, terms)) is not None
    ]
    verdicts += [
        AnsweredSentimentReview(
            aspect_term=split_name(pair.target).name,
            action="add",
            revised_polarity=pair.polarity,
            reason=_reason(pair.quote),
        )
        for pair in added
        if meant_term(pair.target, terms) is None
    ]
    return AtsaReviewAnswer(reviews=tuple(verdicts))


def _pair_review(
    verdict: PairVerdict, sentiments: Sequence[SentimentItem], terms: TermMap
) -> AnsweredSentimentReview | None:
    """Return the review of one pair, None if the verdict's word cannot be read."""
    term = meant_term(verdict.target, terms)
    current, polarity = meant_polarity(verdict.target, term, sentiments), read_polarity(verdict.verdict).polarity
    action: AtsaAction
    match read_action(verdict.verdict):
        case "keep":
            action = "keep"
        case "drop":
            action = "drop"
        case "flip" | "wrong":
            action = "flip_polarity"
        case None if polarity is None:
            return None
        case None:
            action = "keep" if current is None or polarity == current else "flip_polarity"
    return AnsweredSentimentReview(
        aspect_term=split_name(verdict.target).name if term is None else term,
        action=action,
        revised_polarity=polarity if action == "flip_polarity" else None,
        reason=_reason(verdict.quote),
    )


def _sentiment(term: str, polarity: str, quote: str, text: str) -> AnsweredSentiment:
    return AnsweredSentiment(aspect_term=term, polarity=polarity, evidence=quote if quote in text else "")


def _risks(answer: RisksAnswer, text: str) -> tuple[AnsweredRisk, ...]:
    risks = []
    for risk in answer.risks:
        place = nearest_occurrence(risk.quote, text, 0) if risk.quote else None
        scope = AnsweredSpan(start=place[0], end=place[1]) if place else None
        risks.append(AnsweredRisk(type=risk.type, scope=scope, description=risk.quote[:500]))
    return tuple(risks)


def _reason(quote: str) -> str:
    return f'"{quote}"'[:_LONGEST_REASON] if quote else _NO_QUOTE
