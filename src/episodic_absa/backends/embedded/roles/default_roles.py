"""The short answers of rules v3: each is an answer of the engine's own roles, cut down to what prompts v3 ask for."""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from episodic_absa.backends.embedded.judgement.aspect_judgement import judge_term
from episodic_absa.backends.embedded.judgement.deciding_words import deciding_words
from episodic_absa.backends.embedded.judgement.pair_lists import likelier_list
from episodic_absa.backends.embedded.judgement.sentence_label import sentence_label
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.backends.embedded.roles.ate import answer_ate
from episodic_absa.backends.embedded.roles.atsa import answer_atsa
from episodic_absa.backends.embedded.roles.cj import answer_cj
from episodic_absa.backends.embedded.roles.epm import answer_epm
from episodic_absa.backends.embedded.roles.judge import answer_judge
from episodic_absa.backends.embedded.roles.second_looks import second_looks
from episodic_absa.backends.embedded.roles.stage2_ate import added_targets, answer_stage2_ate
from episodic_absa.backends.embedded.roles.stage2_atsa import answer_stage2_atsa, words_quoted_in
from episodic_absa.backends.embedded.roles.stage2_validator import answer_stage2_validator
from episodic_absa.backends.embedded.roles.tan import answer_tan
from episodic_absa.backends.embedded.roles.tuple_review import judged_sentiments
from episodic_absa.backends.embedded.roles.validator import answer_validator
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import ProposedEdit, SentimentItem
from episodic_absa.schemas.answers import (
    DROP,
    KEEP,
    DecisionsAnswer,
    JointAnswer,
    JudgeDecision,
    Judgement,
    JudgementsAnswer,
    NamedRisk,
    NamedTarget,
    Pair,
    PairVerdict,
    PairVerdictsAnswer,
    RefereeAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdict,
    TargetVerdictsAnswer,
    TermsAnswer,
    WrongPair,
    WrongPairsAnswer,
)
from episodic_absa.schemas.role_inputs import (
    AteInputs,
    AtsaInputs,
    JudgeInputs,
    RefereeInputs,
    ReviewInputs,
    SpeakerInputs,
    Validator2Inputs,
    ValidatorInputs,
)
from episodic_absa.schemas.seed_answers import AnsweredRisk, AnsweredSentimentReview
from episodic_absa.vocabulary import Role

_SURE_TEXT: Final = 0.65
"""Texts that say nothing of opinion reach .62: the weights lean to praise in English and to blame in Korean."""


def joint_answer(reading: WeighedReading, inputs: AteInputs) -> JointAnswer:
    """Return ATE's targets with ATSA's judgements of them, and what is said without a target."""
    judged = answer_atsa(reading, AtsaInputs(text=inputs.text, language=inputs.language, aspects=None))
    return JointAnswer(
        pairs=tuple(
            Pair(quote=sentiment.evidence, term=sentiment.aspect_term, polarity=sentiment.polarity or "")
            for sentiment in judged.sentiments
        )
    )


def ate_answer(reading: WeighedReading, inputs: AteInputs) -> TermsAnswer:
    """Return ATE's terms."""
    return TermsAnswer(terms=tuple(aspect.aspect_term for aspect in answer_ate(reading, inputs).aspects))


def atsa_answer(reading: WeighedReading, inputs: AtsaInputs) -> JudgementsAnswer:
    """Return ATSA's judgements."""
    return JudgementsAnswer(
        judgements=tuple(
            Judgement(target=sentiment.aspect_term, quote=sentiment.evidence, polarity=sentiment.polarity or "")
            for sentiment in answer_atsa(reading, inputs).sentiments
        )
    )


def epm_answer(reading: WeighedReading, inputs: SpeakerInputs) -> JudgementsAnswer:
    """Return the polarity that EPM sets or confirms for each target; a pair without support gets no judgement."""
    return JudgementsAnswer(
        judgements=tuple(
            Judgement(
                target=edit.target.aspect_ref or "",
                quote=edit.evidence or "",
                polarity=(edit.value if edit.op == "set_polarity" else edit.target.polarity) or "",
            )
            for edit in answer_epm(reading, inputs).proposed_edits
            if edit.op in ("set_polarity", "confirm_tuple")
        )
    )


def tan_answer(reading: WeighedReading, inputs: SpeakerInputs) -> TargetsAnswer:
    """Return the targets that TAN keeps or names otherwise, with the words that judge them."""
    terms = [_term_kept(edit) for edit in answer_tan(reading, inputs).proposed_edits]
    return TargetsAnswer(
        targets=tuple(
            NamedTarget(quote=_judging_words(reading, term), target=term) for term in dict.fromkeys(terms) if term
        )
    )


def cj_answer(reading: WeighedReading, inputs: SpeakerInputs) -> WrongPairsAnswer:
    """Return the pairs that CJ changes."""
    return WrongPairsAnswer(
        wrong=tuple(
            WrongPair(
                target=edit.target.aspect_ref or "",
                quote=edit.evidence or "",
                should_be=(edit.value or "") if edit.op == "set_polarity" else DROP,
            )
            for edit in answer_cj(reading, inputs).proposed_edits
            if edit.op in ("set_polarity", "drop_tuple")
        )
    )


def _label_without_pairs(reading: WeighedReading) -> str:
    """Return the label of a text in which nothing was judged: a side only if the text weights are sure enough."""
    label, share = sentence_label(reading, ())
    return label if share >= _SURE_TEXT else "neutral"


def judge_answer(reading: WeighedReading, inputs: JudgeInputs) -> DecisionsAnswer:
    """Return the judge's edits, and keep for each other pair that a speaker wants to change."""
    answer = answer_judge(reading, inputs)
    decisions = {
        norm(patch.target.aspect_ref): JudgeDecision(
            target=patch.target.aspect_ref or "",
            quote=answer.aspect_evidence.get(patch.target.aspect_ref or "", ""),
            decision=(patch.value or "") if patch.op == "set_polarity" else DROP,
        )
        for patch in answer.final_patch
    }
    claimed = {
        norm(edit.target.aspect_ref)
        for turn in inputs.turns
        for edit in turn.proposed_edits
        if edit.op != "confirm_tuple"
    }
    for sentiment in judged_sentiments(inputs.stage1):
        term = sentiment.aspect_term
        if norm(term) in claimed:
            kept = JudgeDecision(target=term, quote=answer.aspect_evidence.get(term, ""), decision=KEEP)
            decisions.setdefault(norm(term), kept)
    label = _label_without_pairs(reading) if not judged_sentiments(inputs.stage1) else answer.sentence_polarity
    return DecisionsAnswer(
        decisions=tuple(decisions.values()),
        label=label,
        label_quotes=deciding_words(reading, label),
    )


def stage2_ate_answer(reading: WeighedReading, inputs: ReviewInputs) -> TargetVerdictsAnswer:
    """Return keep or drop per target (a target with a revised span is kept), and the pairs that Stage2 adds."""
    verdicts = tuple(
        TargetVerdict(target=review.aspect_term, verdict=DROP if review.action == "drop" else KEEP)
        for review in answer_stage2_ate(reading, inputs).reviews
        if review.action != "add"
    )
    added = tuple(
        Judgement(target=target.term, quote=reading.quote(judgement.start, judgement.end), polarity=judgement.polarity)
        for target, judgement in added_targets(reading, inputs, second_looks(inputs.memory))
    )
    return TargetVerdictsAnswer(verdicts=verdicts, add=added)


def stage2_atsa_answer(reading: WeighedReading, inputs: ReviewInputs) -> PairVerdictsAnswer:
    """Return keep or the new polarity per pair; a pair that Stage2 drops or adds gets no verdict in this form."""
    reviews = answer_stage2_atsa(reading, inputs).reviews
    # The reviews of Stage1's sentiments come first, in their order.
    reviewed = zip(inputs.stage1.atsa.sentiments, reviews, strict=False)
    return PairVerdictsAnswer(
        verdicts=tuple(
            _pair_verdict(reading, sentiment, review)
            for sentiment, review in reviewed
            if review.action not in ("drop", "add")
        )
    )


def validator_answer(reading: WeighedReading, inputs: ValidatorInputs) -> RisksAnswer:
    """Return the validator's risks with the words of their scope."""
    answer = answer_validator(reading, inputs)
    return RisksAnswer(risks=_named_risks(reading, answer.structural_risks), label=answer.suggested_label)


def stage2_validator_answer(reading: WeighedReading, inputs: Validator2Inputs) -> RisksAnswer:
    """Return every risk of the patched result: those of Stage1 that remain, then the new ones."""
    answer = answer_stage2_validator(reading, inputs)
    remaining = tuple(
        NamedRisk(quote=reading.quote(risk.scope.start, risk.scope.end) if risk.scope else "", type=risk.type)
        for risk in inputs.stage1.validator.structural_risks
        if risk.id in answer.remaining_risk_ids
    )
    return RisksAnswer(
        risks=(*remaining, *_named_risks(reading, answer.structural_risks)), label=answer.suggested_label
    )


def referee_answer(reading: WeighedReading, inputs: RefereeInputs) -> RefereeAnswer:
    """Return the list whose own pairs the engine's reading makes likelier; a small difference is none."""
    return RefereeAnswer(better=likelier_list(reading, inputs.list_a, inputs.list_b))


class DefaultRole(NamedTuple):
    """The short form of a role's answer, and what gives it."""

    model: type[BaseModel]
    # Any: each role has its own inputs, and the Ask pairs a role with the right ones.
    answer: Callable[[WeighedReading, Any], BaseModel]


DEFAULT_ROLES: Final[dict[Role, DefaultRole]] = {
    "ate": DefaultRole(TermsAnswer, ate_answer),
    "atsa": DefaultRole(JudgementsAnswer, atsa_answer),
    "validator": DefaultRole(RisksAnswer, validator_answer),
    "epm": DefaultRole(JudgementsAnswer, epm_answer),
    "tan": DefaultRole(TargetsAnswer, tan_answer),
    "cj": DefaultRole(WrongPairsAnswer, cj_answer),
    "judge": DefaultRole(DecisionsAnswer, judge_answer),
    "stage2_ate": DefaultRole(TargetVerdictsAnswer, stage2_ate_answer),
    "stage2_atsa": DefaultRole(PairVerdictsAnswer, stage2_atsa_answer),
    "stage2_validator": DefaultRole(RisksAnswer, stage2_validator_answer),
    "joint": DefaultRole(JointAnswer, joint_answer),
    "referee": DefaultRole(RefereeAnswer, referee_answer),
}


def _term_kept(edit: ProposedEdit) -> str:
    """Return the term that stands after TAN's edit; none after a drop."""
    match edit.op:
        case "confirm_tuple":
            return edit.target.aspect_ref or ""
        case "set_aspect_ref" | "merge_tuples":
            return edit.value or ""
        case _:
            return ""


def _judging_words(reading: Reading, term: str) -> str:
    """Return the words said of a term; none if nothing is said of it."""
    own = next((judgement for judgement in judge_term(reading, term) if judgement.has_own_words), None)
    return reading.quote(own.start, own.end) if own else ""


def _pair_verdict(reading: Reading, sentiment: SentimentItem, review: AnsweredSentimentReview) -> PairVerdict:
    # Naming the polarity that stands is how the v1 answer rejects the validator's proposal.
    changed = review.revised_polarity if review.revised_polarity != sentiment.polarity else None
    if review.action == "flip_polarity" and changed is not None:
        return PairVerdict(target=review.aspect_term, quote=words_quoted_in(review.reason), verdict=changed)
    quote = sentiment.evidence if sentiment.evidence in reading.text else ""
    return PairVerdict(target=review.aspect_term, quote=quote, verdict=KEEP)


def _named_risks(reading: Reading, risks: Iterable[AnsweredRisk]) -> tuple[NamedRisk, ...]:
    return tuple(
        NamedRisk(quote=reading.quote(risk.scope.start, risk.scope.end) if risk.scope else "", type=risk.type)
        for risk in risks
    )
