"""The moderator decides the sentence label by rules. It changes no tuple and calls no model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from episodic_absa.schemas.absa import (
    ArbiterFlags,
    DebateSummary,
    FinalTuple,
    ModeratorOutput,
    SentimentItem,
    Span,
    ValidatorOutput,
)
from episodic_absa.vocabulary import L3_RISKS, ModeratorRule, SentenceLabel

_DROP_GUARD_MARGIN: Final = 0.2
_SAME_SPAN_IOU: Final = 0.8
_TIE_MARGIN: Final = 0.1
_JUDGE_BELOW: Final = 0.55

LabelSource = Literal["stage1", "stage2", "validator", "judge", "merged"]


class StageLabel(NamedTuple):
    """The label of a stage, with the confidence and the span of the sentiment it comes from."""

    label: SentenceLabel
    confidence: float
    span: Span | None


@dataclass(frozen=True)
class _State:
    """The label between two rules, and the rules that fired so far."""

    label: SentenceLabel
    confidence: float
    source: LabelSource
    rules: tuple[ModeratorRule, ...] = ()
    reasons: tuple[str, ...] = ()
    flags: ArbiterFlags = field(default_factory=ArbiterFlags)

    def fired(self, rule: ModeratorRule, reason: str, **changes: object) -> "_State":
        return replace(self, rules=(*self.rules, rule), reasons=(*self.reasons, reason), **changes)  # type: ignore[arg-type]


def stage_label(sentiments: Sequence[SentimentItem]) -> StageLabel:
    """Return the polarity of a stage's most confident sentiment; the earliest one wins a tie.

    Backfills and missing polarities do not count; without any other sentiment the label is neutral, with confidence 0.
    The scorecard's `label_s1` and `label_s2` are read with this function, too.
    """
    judged = [item for item in sentiments if item.polarity is not None and not item.is_backfilled]
    if not judged:
        return StageLabel("neutral", 0.0, None)
    best = max(judged, key=lambda item: item.confidence)
    return StageLabel(best.polarity or "neutral", best.confidence, best.span)


def moderate(
    stage1_sentiments: Sequence[SentimentItem],
    stage2_sentiments: Sequence[SentimentItem] | None,
    final_tuples: Sequence[FinalTuple],
    validator: ValidatorOutput,
    summary: DebateSummary,
) -> ModeratorOutput:
    """Return the label of a sample after the rules Z, B, M, C, A, D, E, in this order.

    Args:
        stage1_sentiments: the sentiments of the first analysis.
        stage2_sentiments: the sentiments of the patched result, None unless it was adopted.
        final_tuples: the tuples of the final result.
        validator: Validator2's output if the patched result was adopted, else the validator's.
        summary: the judge's answer.
    """
    adopted = stage2_sentiments is not None
    stage1 = stage_label(stage1_sentiments)
    stage2 = stage_label(stage2_sentiments) if stage2_sentiments is not None else None
    if stage1.confidence == 0 and (stage2 is None or stage2.confidence == 0):
        state = _State("neutral", 0.0, "stage2" if adopted else "stage1").fired("Z", "nothing was judged")
        return _output(state, adopted=adopted)
    state = _rule_b(stage1, stage2)
    state = _rule_m(state, stage1, stage2, final_tuples)
    state = _rule_c(state, validator)
    state = _rule_a(state, stage1, stage2)
    state = _rule_d(state, stage2 or stage1, adopted=adopted)
    state = _rule_e(state, summary)
    return _output(state, adopted=adopted)


def _rule_b(stage1: StageLabel, stage2: StageLabel | None) -> _State:
    if stage2 is None:
        return _State(stage1.label, stage1.confidence, "stage1").fired("B", "Stage2 was not adopted")
    margin = round(stage1.confidence - stage2.confidence, 6)
    if margin >= _DROP_GUARD_MARGIN:
        flags = ArbiterFlags(drop_guard=True, confidence_margin_used=margin)
        return _State(stage1.label, stage1.confidence, "stage1", flags=flags).fired("B", "Stage1 is far more confident")
    return _State(stage2.label, stage2.confidence, "stage2").fired("B", "Stage2 was adopted")


def _rule_m(state: _State, stage1: StageLabel, stage2: StageLabel | None, final_tuples: Sequence[FinalTuple]) -> _State:
    held = {item.polarity for item in final_tuples if not item.is_backfilled}
    if stage2 is None or stage1.label == stage2.label or not {"positive", "negative"} <= held:
        return state
    confidence = max(stage1.confidence, stage2.confidence)
    return state.fired("M", "both polarities are held", label="mixed", confidence=confidence, source="merged")


def _rule_c(state: _State, validator: ValidatorOutput) -> _State:
    label = validator.suggested_label
    if label is None or label == state.label:
        return state
    risks = validator.structural_risks
    grave = any(risk.type in L3_RISKS or risk.severity == "high" for risk in risks)
    if not grave and validator.confidence < state.confidence:
        return state
    return state.fired(
        "C",
        "the validator suggests another label",
        label=label,
        confidence=validator.confidence,
        source="validator",
        flags=state.flags.model_copy(update={"validator_override_applied": True}),
    )


def _rule_a(state: _State, stage1: StageLabel, stage2: StageLabel | None) -> _State:
    if state.flags.drop_guard or stage2 is None or not stage1.label == stage2.label == state.label:
        return state
    if _iou(stage1.span, stage2.span) < _SAME_SPAN_IOU:
        return state
    mean = round((stage1.confidence + stage2.confidence) / 2, 6)
    return state.fired("A", "both stages agree on label and place", confidence=mean)


def _rule_d(state: _State, selected: StageLabel, *, adopted: bool) -> _State:
    if state.label == "mixed" or selected.label == state.label:
        return state
    if abs(round(state.confidence - selected.confidence, 6)) < _TIE_MARGIN or state.confidence > selected.confidence:
        return state.fired("D", "the label is kept against the selected stage")
    return state.fired(
        "D",
        "the selected stage is more confident",
        label=selected.label,
        confidence=selected.confidence,
        source="stage2" if adopted else "stage1",
    )


def _rule_e(state: _State, summary: DebateSummary) -> _State:
    inferred = _inferred(summary)
    blocked: Literal["label_unchanged", "confidence_too_high", "inferred_empty"]
    if inferred is None:
        blocked = "inferred_empty"
    elif inferred == state.label:
        blocked = "label_unchanged"
    elif state.confidence >= _JUDGE_BELOW and state.label != "mixed":
        blocked = "confidence_too_high"
    else:
        flags = state.flags.model_copy(update={"rule_e_fired": True})
        return state.fired("E", "the judge settles it", label=inferred, source="judge", flags=flags)
    return replace(state, flags=state.flags.model_copy(update={"rule_e_block_reason": blocked}))


def _inferred(summary: DebateSummary) -> SentenceLabel | None:
    if summary.sentence_polarity is not None:
        return summary.sentence_polarity
    polarities = {judge_tuple.polarity for judge_tuple in summary.final_tuples}
    if not polarities:
        return None
    return next(iter(polarities)) if len(polarities) == 1 else "mixed"


def _iou(a: Span | None, b: Span | None) -> float:
    if a is None or b is None:
        return 0.0
    shared = max(0, min(a.end, b.end) - max(a.start, b.start))
    return shared / (a.end - a.start + b.end - b.start - shared)


def _output(state: _State, *, adopted: bool) -> ModeratorOutput:
    return ModeratorOutput(
        final_label=state.label,
        confidence=state.confidence,
        rationale="; ".join(f"{rule}: {reason}" for rule, reason in zip(state.rules, state.reasons, strict=True)),
        selected_stage="stage2" if adopted else "stage1",
        label_source=state.source,
        applied_rules=state.rules,
        decision_reason=state.reasons[-1],
        arbiter_flags=state.flags,
    )
