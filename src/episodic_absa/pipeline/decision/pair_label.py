"""The label of a review: it agrees with the final pairs, unless they are unsure and words of the text decide."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from episodic_absa.final_tuples import is_sure_of_label, label_of_pairs, predicted
from episodic_absa.schemas.absa import DebateSummary, FinalTuple, ModeratorOutput, ValidatorOutput
from episodic_absa.vocabulary import ModeratorRule, SentenceLabel

_REASONS: Final[dict[SentenceLabel, str]] = {
    "mixed": "the final pairs hold both polarities",
    "positive": "the final pairs hold positive and not negative",
    "negative": "the final pairs hold negative and not positive",
    "neutral": "the final pairs are all neutral",
}


class WholeTextLabel(NamedTuple):
    """A label of the whole text, and who gave it."""

    label: SentenceLabel
    confidence: float
    source: Literal["judge", "validator"]
    words: tuple[str, ...] = ()
    """Words of the text that decide it."""


def whole_text_label(summary: DebateSummary, *validators: ValidatorOutput) -> WholeTextLabel | None:
    """Return the judge's label of the text, else the first that a validator suggests, else None."""
    suggesting = next((validator for validator in validators if validator.suggested_label is not None), None)
    confidence = suggesting.confidence if suggesting is not None else ValidatorOutput().confidence
    if summary.sentence_polarity is not None:
        return WholeTextLabel(
            summary.sentence_polarity, confidence, "judge", tuple(filter(None, summary.sentence_evidence_spans))
        )
    if suggesting is not None and suggesting.suggested_label is not None:
        return WholeTextLabel(suggesting.suggested_label, confidence, "validator")
    return None


def moderated_label(
    final_tuples: Sequence[FinalTuple], whole_text: WholeTextLabel | None, *, adopted: bool
) -> ModeratorOutput:
    """Return the label of a review by the first rule that holds.

    T: a review without pairs, or one whose pairs are all unsure and take no second side while words of the text decide,
    has the label of the whole text. P: any other review has the label of its pairs. Z: without either it is neutral.

    Args:
        final_tuples: the tuples of the final result; backfills are no pairs.
        whole_text: the label of the text as a whole, None if nobody gave one.
        adopted: whether a change of Stage1's pairs was adopted.
    """
    label = label_of_pairs(final_tuples)
    if whole_text is not None and (label is None or _decides(whole_text, label, final_tuples)):
        reason = f"{'without pairs' if label is None else 'no pair is sure'}, the label of the whole text"
        return _output("T", reason, whole_text.label, whole_text.confidence, whole_text.source, adopted=adopted)
    if label is None:
        return _output("Z", "no pair is left, and nobody labelled the text", "neutral", 0.0, "pairs", adopted=adopted)
    return _output("P", _REASONS[label], label, _confidence(label, final_tuples), "pairs", adopted=adopted)


def _decides(whole_text: WholeTextLabel, label: SentenceLabel, final_tuples: Sequence[FinalTuple]) -> bool:
    """Return whether the whole text may contradict the pairs: its words can be shown, and no pair is sure."""
    return whole_text.label != label and bool(whole_text.words) and not is_sure_of_label(final_tuples)


def _confidence(label: SentenceLabel, final_tuples: Sequence[FinalTuple]) -> float:
    """Return the confidence of the surest pair with this label; of the less sure side if the label is mixed."""
    sides = ("positive", "negative") if label == "mixed" else (label,)
    pairs = predicted(final_tuples)
    return min(max(pair.confidence for pair in pairs if pair.polarity == side) for side in sides)


def _output(
    rule: ModeratorRule,
    reason: str,
    label: SentenceLabel,
    confidence: float,
    source: Literal["judge", "validator", "pairs"],
    *,
    adopted: bool,
) -> ModeratorOutput:
    return ModeratorOutput(
        final_label=label,
        confidence=confidence,
        rationale=f"{rule}: {reason}",
        selected_stage="stage2" if adopted else "stage1",
        label_source=source,
        applied_rules=(rule,),
        decision_reason=reason,
    )
