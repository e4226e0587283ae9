"""How the stages of the original rules ask a model, and what its prompts show of Stage1 and of verdicts."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from episodic_absa.schemas.absa import (
    AspectItem,
    AspectVerdict,
    Proposal,
    ReviewContext,
    SentimentItem,
    SentimentVerdict,
    Stage1Result,
    StructuralRisk,
)
from episodic_absa.schemas.role_inputs import AteInputs, MemorySlot
from episodic_absa.vocabulary import Role

Context = list[tuple[str, Any]]
OutputT = TypeVar("OutputT", bound=BaseModel)


class Asks(Protocol):
    """Asks the roles of one sample."""

    async def ask(self, role: Role, inputs: AteInputs, context: Context, output_model: type[OutputT]) -> OutputT:
        """Return the answer of one role; `context` is what its prompt shows, in this order."""
        ...


def shown_terms(aspects: Iterable[AspectItem]) -> list[str]:
    """Return the terms of the aspects."""
    return [item.aspect_term for item in aspects]


def shown_sentiments(sentiments: Iterable[SentimentItem]) -> list[dict[str, Any]]:
    """Return the sentiments with their evidence."""
    return [
        {
            "aspect_term": item.aspect_term,
            "polarity": item.polarity,
            "evidence": item.evidence,
            "confidence": item.confidence,
        }
        for item in sentiments
    ]


def shown_aspects(aspects: Iterable[AspectItem]) -> list[dict[str, Any]]:
    """Return the aspects with their spans, for roles that may revise them."""
    return [
        {"aspect_term": item.aspect_term, "span": item.span.model_dump() if item.span else None} for item in aspects
    ]


def shown_risks(risks: Iterable[StructuralRisk]) -> list[dict[str, Any]]:
    """Return all fields of the risks."""
    return [risk.model_dump(mode="json") for risk in risks]


def shown_proposals(proposals: Iterable[Proposal]) -> list[dict[str, Any]]:
    """Return all fields of the proposals."""
    return [proposal.model_dump(mode="json") for proposal in proposals]


def debate_context(text: str, stage1: Stage1Result) -> Context:
    """Return the context of a debate prompt: the findings of Stage1."""
    return [
        ("text", text),
        ("stage1_aspects", shown_terms(stage1.ate.aspects)),
        ("stage1_aspect_sentiments", shown_sentiments(stage1.atsa.sentiments)),
        ("stage1_structural_risks", shown_risks(stage1.validator.structural_risks)),
        ("stage1_correction_proposals", shown_proposals(stage1.validator.correction_proposals)),
    ]


def review_context(
    text: str, stage1: Stage1Result, review: ReviewContext, more: Context, slot: MemorySlot | None, slot_name: str
) -> Context:
    """Return the context of a Stage2 prompt; memory, if any, comes last."""
    shown: Context = [
        ("text", text),
        ("stage1_aspects", shown_aspects(stage1.ate.aspects)),
        ("stage1_aspect_sentiments", shown_sentiments(stage1.atsa.sentiments)),
        ("validator", stage1.validator.model_dump(mode="json")),
        *more,
        *review.model_dump(mode="json").items(),
    ]
    return shown if slot is None else [*shown, (slot_name, slot)]


def shown_verdicts(verdicts: Iterable[AspectVerdict | SentimentVerdict]) -> list[dict[str, Any]]:
    """Return verdicts with all their fields."""
    return [verdict.model_dump(mode="json") for verdict in verdicts]
