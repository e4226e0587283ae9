"""The label under rules v2: it agrees with the pairs beside it, unless they are unsure and words of the text decide."""

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
_NO_PAIRS: Final = "no pair is left, and nobody labelled the text"


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


def agree_with_pairs(
    moderator: ModeratorOutput, final_tuples: Sequence[FinalTuple], whole_text: WholeTextLabel | None
) -> ModeratorOutput:
    """Return the moderator's output with a label that agrees with the final pairs.

    Rule P replaces a label that the pairs contradict, and by neutral a label that only dropped pairs support. Rule T
    gives the label of the whole text to a sample without pairs, and to one whose pairs are all unsure and take no
    second side, if words of the text can be shown for it.

    Args:
        moderator: the output of rules Z to E.
        final_tuples: the tuples of the final result; backfills are no pairs.
        whole_text: the label of the text as a whole, None if nobody gave one.
    """
    label = label_of_pairs(final_tuples)
    if whole_text is not None and (label is None or _decides(whole_text, label, final_tuples)):
        reason = f"{'without pairs' if label is None else 'no pair is sure'}, the label of the whole text"
        return _with_rule(moderator, "T", reason, whole_text.label, whole_text.confidence, whole_text.source)
    if label is None:
        is_stale = (moderator.final_label, moderator.confidence) != ("neutral", 0.0)
        return _with_rule(moderator, "P", _NO_PAIRS, "neutral", 0.0, "pairs") if is_stale else moderator
    if label == moderator.final_label:
        return moderator
    return _with_rule(moderator, "P", _REASONS[label], label, _confidence(label, final_tuples), "pairs")


def _decides(whole_text: WholeTextLabel, label: SentenceLabel, final_tuples: Sequence[FinalTuple]) -> bool:
    """Return whether the whole text may contradict the pairs: its words can be shown, and no pair is sure."""
    return whole_text.label != label and bool(whole_text.words) and not is_sure_of_label(final_tuples)


def _confidence(label: SentenceLabel, final_tuples: Sequence[FinalTuple]) -> float:
    """Return the confidence of the surest pair with this label; of the less sure side if the label is mixed."""
    sides = ("positive", "negative") if label == "mixed" else (label,)
    pairs = predicted(final_tuples)
    return min(max(pair.confidence for pair in pairs if pair.polarity == side) for side in sides)


def _with_rule(
    moderator: ModeratorOutput,
    rule: ModeratorRule,
    reason: str,
    label: SentenceLabel,
    confidence: float,
    source: Literal["judge", "validator", "pairs"],
) -> ModeratorOutput:
    return moderator.model_copy(
        update={
            "final_label": label,
            "confidence": confidence,
            "rationale": f"{moderator.rationale}; {rule}: {reason}",
            "label_source": source,
            "applied_rules": (*moderator.applied_rules, rule),
            "decision_reason": reason,
        }
    )
