"""Decides for each aspect whether the debate agrees enough to change its polarity. At most one change per sample."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from episodic_absa.language import norm, occurs
from episodic_absa.schemas.absa import (
    AspectHint,
    AspectItem,
    DebateSummary,
    ReviewContext,
    SentimentItem,
    Span,
    StructuralRisk,
)
from episodic_absa.schemas.run_files.adoption import OverrideDecision, OverrideThresholds
from episodic_absa.seed.review_context import TermMap
from episodic_absa.vocabulary import L3_RISKS, OverrideSkip, Polarity

_SHORTEST_EVIDENCE: Final = 2


class OverrideOutcome(NamedTuple):
    """The sentiments after the gate, and one decision per aspect."""

    sentiments: tuple[SentimentItem, ...]
    decisions: tuple[OverrideDecision, ...]

    @property
    def applied(self) -> OverrideDecision | None:
        """The override that was applied, if any."""
        return next((decision for decision in self.decisions if decision.decision == "APPLY"), None)


def apply_override_gate(
    sentiments: Sequence[SentimentItem],
    context: ReviewContext,
    summary: DebateSummary,
    terms: TermMap,
    *,
    text: str,
    aspects: Sequence[AspectItem],
    stage1_risks: Sequence[StructuralRisk],
    thresholds: OverrideThresholds,
) -> OverrideOutcome:
    """Return the sentiments after the gate, and the decision about each aspect in order.

    Args:
        sentiments: as the proposals and verdicts left them.
        context: the review context with the hints of the debate.
        summary: the judge's answer; it names the evidence.
        terms: maps the judge's names to Stage1 terms.
        text: the text of the sample, in which evidence must occur.
        aspects: Stage1's aspects, for their spans.
        stage1_risks: an L3 risk at an aspect blocks its override if the thresholds say so.
        thresholds: how much agreement an override needs.
    """
    current = tuple(sentiments)
    decisions: list[OverrideDecision] = []
    for aspect in context.aspect_terms:
        hints = context.aspect_hints.get(aspect, ())
        score, evidence, span = _score(hints), _evidence(aspect, summary, terms), _span_of(aspect, aspects)
        matching = _matching(current, aspect)
        tests: list[tuple[OverrideSkip, bool]] = [
            ("max_one_override_per_sample", any(decision.decision == "APPLY" for decision in decisions)),
            ("neutral_only", not any(hint.weight > 0 and hint.polarity != "neutral" for hint in hints)),
            ("no_evidence_span", not evidence),
            ("evidence_span_not_in_text", not occurs(evidence, text)),
            ("evidence_span_missing_trigger", len(evidence) < _SHORTEST_EVIDENCE),
            ("low_signal", max(score.pos, score.neg) < thresholds.min_total),
            ("action_ambiguity", score.margin < thresholds.min_margin),
            ("l3_conservative", thresholds.l3_conservative and _l3_risk_touches(span, stage1_risks)),
            ("implicit_soft_only", any(item.is_implicit for item in matching)),
            # Of two contradicting sentiments one has the target polarity already; they still have to be settled.
            ("already_confident", bool(matching) and all(item.polarity == score.target for item in matching)),
        ]
        skip: OverrideSkip | Literal[""] = next((reason for reason, holds in tests if holds), "")
        decisions.append(
            OverrideDecision(
                aspect=aspect,
                pos=score.pos,
                neg=score.neg,
                total=round(score.pos + score.neg, 6),
                margin=score.margin,
                target=score.target,
                decision="SKIP" if skip else "APPLY",
                reason=skip,
                thresholds=thresholds,
            )
        )
        if not skip:
            current = _changed(current, aspect, score.target, span, thresholds)
    return OverrideOutcome(current, tuple(decisions))


class _Score(NamedTuple):
    pos: float
    neg: float

    @property
    def margin(self) -> float:
        return round(abs(self.pos - self.neg), 6)

    @property
    def target(self) -> Literal["positive", "negative"]:
        return "positive" if self.pos >= self.neg else "negative"


def _score(hints: Iterable[AspectHint]) -> _Score:
    """Return the weights for each polarity minus those against it, at least 0. A drop raises no other polarity."""
    sums: dict[Polarity, float] = {"positive": 0.0, "negative": 0.0, "neutral": 0.0}
    for hint in hints:
        sums[hint.polarity] += hint.weight
    return _Score(round(max(0.0, sums["positive"]), 6), round(max(0.0, sums["negative"]), 6))


def _evidence(aspect: str, summary: DebateSummary, terms: TermMap) -> str:
    quoted = (words for name, words in summary.aspect_evidence.items() if terms.find(name) == aspect)
    return next(quoted, next(iter(summary.sentence_evidence_spans), ""))


def _l3_risk_touches(span: Span | None, risks: Iterable[StructuralRisk]) -> bool:
    return any(
        risk.type in L3_RISKS and (risk.scope is None or (span is not None and overlaps(risk.scope, span)))
        for risk in risks
    )


def overlaps(a: Span, b: Span) -> bool:
    """Return whether two spans share a character."""
    return a.start < b.end and b.start < a.end


def _span_of(aspect: str, aspects: Iterable[AspectItem]) -> Span | None:
    return next((item.span for item in aspects if norm(item.aspect_term) == norm(aspect)), None)


def _matching(sentiments: Iterable[SentimentItem], aspect: str) -> list[SentimentItem]:
    """Return the sentiments of an aspect without its backfill."""
    return [item for item in sentiments if not item.is_backfilled and norm(item.aspect_term) == norm(aspect)]


def _changed(
    sentiments: Sequence[SentimentItem],
    aspect: str,
    target: Literal["positive", "negative"],
    span: Span | None,
    thresholds: OverrideThresholds,
) -> tuple[SentimentItem, ...]:
    other: Polarity = "negative" if target == "positive" else "positive"
    distribution: dict[Polarity, float] = {target: 0.8, other: 0.2}
    if not _matching(sentiments, aspect):
        added = SentimentItem(
            aspect_term=aspect,
            span=span,
            polarity=target,
            confidence=thresholds.min_target_conf,
            polarity_distribution=distribution,
        )
        kept = [item for item in sentiments if norm(item.aspect_term) != norm(aspect)]
        return (*kept, added)
    return tuple(
        item.model_copy(
            update={
                "polarity": target,
                "polarity_distribution": distribution,
                "confidence": max(item.confidence, thresholds.min_target_conf),
            }
        )
        if not item.is_backfilled and norm(item.aspect_term) == norm(aspect)
        else item
        for item in sentiments
    )
