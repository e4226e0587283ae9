"""Asks the ten roles in turn, as the pipeline would, with the plainest possible steps between them."""

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel

from episodic_absa.backends.answer_parsing import parse_reply
from episodic_absa.backends.backend import Ask, Prompt, Request
from episodic_absa.backends.embedded import EmbeddedEngine, EmbeddedReplier
from episodic_absa.backends.embedded.judgement.aspect_judgement import judge_implicit, judge_term
from episodic_absa.backends.embedded.judgement.target_union import rule_targets
from episodic_absa.backends.embedded.text_reading import read_text
from episodic_absa.schemas.absa import (
    AspectHint,
    AspectItem,
    DebateTurn,
    Persona,
    Proposal,
    ProposedEdit,
    ReviewContext,
    SentimentItem,
    Span,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    StructuralRisk,
    ValidatorOutput,
)
from episodic_absa.schemas.role_inputs import (
    AteInputs,
    AtsaInputs,
    JudgeInputs,
    MemorySlot,
    ReviewInputs,
    SpeakerInputs,
    Validator2Inputs,
    ValidatorInputs,
)
from episodic_absa.schemas.seed_answers import (
    AnsweredSpan,
    AteAnswer,
    AteReviewAnswer,
    AtsaAnswer,
    AtsaReviewAnswer,
    JudgeAnswer,
    TurnAnswer,
    Validator2Answer,
    ValidatorAnswer,
)
from episodic_absa.vocabulary import POLARITIES, SPEAKERS, DebateCall, Language, Polarity, Role

OutputT = TypeVar("OutputT", bound=BaseModel)
ENGINE = EmbeddedEngine()
REPLIER = EmbeddedReplier(ENGINE)


class Row(NamedTuple):
    """One sentence of a table with what a reader says of it."""

    id: str
    text: str
    expected: frozenset[tuple[str, str]]

    @property
    def language(self) -> Language:
        return "ko" if self.id.startswith("ko") else "en"


class Review(NamedTuple):
    """Everything after Stage1."""

    turns: tuple[DebateTurn, ...]
    judge: JudgeAnswer
    ate_reviews: AteReviewAnswer
    atsa_reviews: AtsaReviewAnswer
    patched_aspects: tuple[AspectItem, ...]
    patched: tuple[SentimentItem, ...]
    validator: Validator2Answer

    @property
    def polarity_edits(self) -> set[tuple[str, str, str | None]]:
        """Who asks for which polarity of what."""
        return {
            (turn.agent, edit.target.aspect_ref, edit.value)
            for turn in self.turns
            for edit in turn.proposed_edits
            if edit.op == "set_polarity"
        }

    @property
    def pairs(self) -> set[tuple[str, str | None]]:
        return {(one.aspect_term, one.polarity) for one in self.patched}


@cache
def table(name: str) -> tuple[Row, ...]:
    rows = yaml.safe_load(Path(__file__).with_name(name).read_text("utf-8"))
    return tuple(Row(row_id, text, frozenset(expected.items())) for row_id, text, expected in rows)


def reply_text(role: Role, inputs: AteInputs, output_model: type[BaseModel]) -> str:
    ask = Ask(role, inputs, Prompt(role, "", ""), output_model)
    return asyncio.run(REPLIER.reply(Request(ask))).text


def ask(role: Role, inputs: AteInputs, output_model: type[OutputT]) -> OutputT:
    return parse_reply(reply_text(role, inputs, output_model), output_model)


def memory_of(
    *risk_tags: str, principle: str = "P-GEN-01", change: str = "lower", warnings: Sequence[str] = ()
) -> MemorySlot:
    """Build the part of an advisory bundle that the engine reads."""
    advisory = {
        "advisory_type": "failed_override_warning" if change == "higher" else "successful_override",
        "message": f"Look again. [risk: L3; action: polarity_flip; risk change: {change}; conflict resolved: n/a]",
        "strength": "moderate",
        "evidence": {"risk_tags": list(risk_tags), "principle_id": principle},
    }
    return {"retrieved": [advisory], "warnings": list(warnings)}


def run_stage1(text: str, language: Language, terms: Sequence[str] | None = None) -> Stage1Result:
    """Run the three roles of Stage1; `terms` takes the place of what ATE finds."""
    if terms is None:
        found = ask("ate", AteInputs(text=text, language=language), AteAnswer)
        aspects = tuple(
            AspectItem(aspect_term=one.aspect_term, span=_span(one.span), confidence=one.confidence)
            for one in found.aspects
        )
    else:
        aspects = tuple(
            AspectItem(aspect_term=term, span=Span(start=text.index(term), end=text.index(term) + len(term)))
            for term in terms
        )
    judged = ask("atsa", AtsaInputs(text=text, language=language, aspects=aspects), AtsaAnswer)
    spans = {aspect.aspect_term: aspect.span for aspect in aspects}
    sentiments = tuple(
        SentimentItem(
            aspect_term=one.aspect_term,
            span=spans.get(one.aspect_term),
            polarity=polarity(one.polarity),
            evidence=one.evidence,
            confidence=one.confidence,
        )
        for one in judged.sentiments
    )
    return with_validator(text, language, aspects, sentiments)


def first_look(text: str, language: Language, terms: Sequence[str] | None = None) -> Stage1Result:
    """Return Stage1 as the rules alone read it, a first look at each target; only the validator is asked."""
    reading = read_text(text, language)
    targets = [reading.targets[index] for index in rule_targets(reading)]
    places = {target.term: (target.start, target.end) for target in reversed(targets)}
    if terms is not None:
        places = {term: (text.index(term), text.index(term) + len(term)) for term in reversed(terms)}
    judged = [(term, one) for term in reversed(places) for one in judge_term(reading, term)]
    unnamed = judge_implicit(reading)
    if unnamed is not None and (unnamed.start, unnamed.end) not in {(one.start, one.end) for _, one in judged}:
        judged.append(("", unnamed))
    aspects = tuple(
        AspectItem(aspect_term=term, span=Span(start=places[term][0], end=places[term][1])) for term in reversed(places)
    )
    spans = {aspect.aspect_term: aspect.span for aspect in aspects}
    sentiments = tuple(
        SentimentItem(
            aspect_term=term,
            span=spans.get(term),
            polarity=one.polarity,
            evidence=reading.quote(one.start, one.end),
            confidence=one.confidence,
        )
        for term, one in judged
    )
    return with_validator(text, language, aspects, sentiments)


def with_validator(
    text: str, language: Language, aspects: tuple[AspectItem, ...], sentiments: tuple[SentimentItem, ...]
) -> Stage1Result:
    inputs = ValidatorInputs(text=text, language=language, aspects=aspects, sentiments=sentiments)
    seen = ask("validator", inputs, ValidatorAnswer)
    risks = [
        StructuralRisk.model_validate({**risk.model_dump(), "id": f"r{number}"})
        for number, risk in enumerate(seen.structural_risks, start=1)
    ]
    validator = ValidatorOutput(
        structural_risks=tuple(risks),
        correction_proposals=tuple(Proposal.model_validate(one.model_dump()) for one in seen.correction_proposals),
        consistency_score=seen.consistency_score,
        confidence=seen.confidence,
    )
    return Stage1Result(ate=Stage1Ate(aspects=aspects), atsa=Stage1Atsa(sentiments=sentiments), validator=validator)


def run_review(text: str, language: Language, stage1: Stage1Result, memory: MemorySlot | None = None) -> Review:
    """Run debate and Stage2."""
    seen: dict[str, Any] = {"text": text, "language": language, "stage1": stage1, "memory": memory}
    turns: tuple[DebateTurn, ...] = ()
    for speaker in SPEAKERS:
        persona = Persona(name=speaker, role=speaker, goal=speaker)
        answer = ask(speaker, SpeakerInputs(**seen, turns=turns, speaker=speaker, persona=persona), TurnAnswer)
        edits = tuple(ProposedEdit.model_validate(edit.model_dump()) for edit in answer.proposed_edits)
        turns = (*turns, DebateTurn(agent=speaker, proposed_edits=edits))
    judge = ask("judge", JudgeInputs(**seen, turns=turns), JudgeAnswer)
    seen["review_context"] = review_context(stage1, turns, judge)
    ate_reviews = ask("stage2_ate", ReviewInputs(**seen), AteReviewAnswer)
    atsa_reviews = ask("stage2_atsa", ReviewInputs(**seen), AtsaReviewAnswer)
    aspects, sentiments = _patched(stage1, ate_reviews, atsa_reviews)
    patched_inputs = Validator2Inputs(
        **seen, ate_reviews=(), atsa_reviews=(), patched_aspects=aspects, patched_sentiments=sentiments
    )
    validator = ask("stage2_validator", patched_inputs, Validator2Answer)
    return Review(turns, judge, ate_reviews, atsa_reviews, aspects, sentiments, validator)


def polarity(word: str | None) -> Polarity | None:
    return next((known for known in POLARITIES if known == word), None)


def _span(answered: AnsweredSpan | None) -> Span | None:
    return Span(start=answered.start, end=answered.end) if answered else None


def review_context(stage1: Stage1Result, turns: tuple[DebateTurn, ...], judge: JudgeAnswer) -> ReviewContext:
    hints: dict[str, list[AspectHint]] = {}

    def hint(term: str, word: str | None, weight: float, source: DebateCall) -> None:
        known = polarity(word)
        if known is not None:
            hints.setdefault(term, []).append(AspectHint(polarity=known, weight=weight, source=source))

    for turn in turns:
        for edit in turn.proposed_edits:
            if edit.op == "set_polarity":
                hint(edit.target.aspect_ref, edit.value, 0.5, turn.agent)
            elif edit.op in ("confirm_tuple", "drop_tuple"):
                hint(
                    edit.target.aspect_ref,
                    edit.target.polarity,
                    0.5 if edit.op == "confirm_tuple" else -0.8,
                    turn.agent,
                )
    for patch in judge.final_patch:
        if patch.op == "set_polarity":
            hint(patch.target.aspect_ref, patch.value, 0.8, "judge")
        elif patch.op == "drop_tuple":
            hint(patch.target.aspect_ref, patch.target.polarity, -0.8, "judge")
    terms = [aspect.aspect_term for aspect in stage1.ate.aspects] + [one.aspect_term for one in stage1.atsa.sentiments]
    return ReviewContext(
        review_guidance="",
        summary="",
        aspect_terms=tuple(dict.fromkeys(terms)),
        aspect_hints={term: tuple(found) for term, found in hints.items()},
        mapping_stats={"direct": len(turns), "fallback": 0, "none": 0},
        provenance_template="",
    )


def _patched(
    stage1: Stage1Result, ate_reviews: AteReviewAnswer, atsa_reviews: AtsaReviewAnswer
) -> tuple[tuple[AspectItem, ...], tuple[SentimentItem, ...]]:
    aspects, sentiments = list(stage1.ate.aspects), list(stage1.atsa.sentiments)
    for review in ate_reviews.reviews:
        if review.action == "add":
            aspects.append(AspectItem(aspect_term=review.aspect_term, span=_span(review.revised_span), confidence=0.8))
        elif review.action == "drop":
            aspects = [one for one in aspects if one.aspect_term != review.aspect_term]
            sentiments = [one for one in sentiments if one.aspect_term != review.aspect_term]
    for verdict in atsa_reviews.reviews:
        revised = polarity(verdict.revised_polarity)
        if verdict.action == "add":
            sentiments.append(SentimentItem(aspect_term=verdict.aspect_term, polarity=revised, confidence=0.9))
        elif verdict.action == "drop":
            sentiments = [one for one in sentiments if one.aspect_term != verdict.aspect_term]
        elif verdict.action == "flip_polarity":
            _flip_first(sentiments, verdict.aspect_term, revised)
    return tuple(aspects), tuple(sentiments)


def _flip_first(sentiments: list[SentimentItem], term: str, revised: Polarity | None) -> None:
    for index, one in enumerate(sentiments):
        if one.aspect_term == term and one.polarity != revised:
            sentiments[index] = one.model_copy(update={"polarity": revised})
            return
