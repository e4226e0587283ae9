"""The label of a review: that of its pairs; without pairs the likelier one of the model's and the reader's."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from episodic_absa.final_tuples import label_of_pairs, predicted
from episodic_absa.reader.readings import Reading
from episodic_absa.schemas.absa import DebateSummary, FinalTuple, ModeratorOutput, ValidatorOutput
from episodic_absa.vocabulary import ModeratorRule, ResultLabel, SentenceLabel

LabelSource = Literal["judge", "validator", "reader", "pairs"]
_REASONS: Final[dict[SentenceLabel, str]] = {
    "mixed": "the final pairs hold both polarities",
    "positive": "the final pairs hold positive and not negative",
    "negative": "the final pairs hold negative and not positive",
    "neutral": "the final pairs are all neutral",
}


class WholeTextLabel(NamedTuple):
    """A label of the whole text, and who gave it."""

    label: ResultLabel
    p: float
    source: LabelSource


def model_label(summary: DebateSummary, *validators: ValidatorOutput, p: float) -> WholeTextLabel | None:
    """Return the judge's label of the text, else the first that a validator suggests, else None.

    Of a text in which nobody finds a pair `neutral` says that it holds no opinion: models are offered no other word.
    """
    suggested = next((validator.suggested_label for validator in validators if validator.suggested_label), None)
    label = summary.sentence_polarity or suggested
    if label is None:
        return None
    return WholeTextLabel(
        "none" if label == "neutral" else label, p, "judge" if summary.sentence_polarity else "validator"
    )


def reader_label(reading: Reading) -> WholeTextLabel | None:
    """Return the reader's label of the text; None if it does not read the language."""
    return None if reading.label is None else WholeTextLabel(reading.label, reading.label_p, "reader")


def likelier(*labels: WholeTextLabel | None) -> WholeTextLabel | None:
    """Return the likeliest label; of equally likely ones the first."""
    given = [label for label in labels if label is not None]
    return max(given, key=lambda label: label.p, default=None)


def moderated_label(
    final_tuples: Sequence[FinalTuple], whole_text: WholeTextLabel | None, *, changed: bool, is_read: bool = True
) -> ModeratorOutput:
    """Return the label of a review by the first rule that holds.

    P: a review has the label of its pairs. T: without pairs it has the label of the whole text. Z: if nobody gives one,
    it holds no opinion; a text that nobody read has no label.

    Args:
        final_tuples: the tuples of the final result; backfills are no pairs.
        whole_text: the label of the text as a whole, None if nobody gave one.
        changed: whether the final pairs differ from Stage1's.
        is_read: whether anybody read the text.
    """
    label = label_of_pairs(final_tuples)
    if label is not None:
        return _output("P", _REASONS[label], WholeTextLabel(label, _p(label, final_tuples), "pairs"), changed=changed)
    if whole_text is not None:
        return _output("T", "without pairs, the label of the whole text", whole_text, changed=changed)
    if is_read:
        reason = "no pair is left, and nobody labelled the text"
        return _output("Z", reason, WholeTextLabel("none", 0.0, "pairs"), changed=changed)
    reason = "the language is neither Korean nor English, and no model was asked"
    return _output("Z", reason, WholeTextLabel("", 0.0, "pairs"), changed=changed)


def _p(label: SentenceLabel, final_tuples: Sequence[FinalTuple]) -> float:
    """Return the probability of the surest pair with this label; of the less sure side if the label is mixed."""
    sides = ("positive", "negative") if label == "mixed" else (label,)
    pairs = predicted(final_tuples)
    return min(max(pair.confidence for pair in pairs if pair.polarity == side) for side in sides)


def _output(rule: ModeratorRule, reason: str, label: WholeTextLabel, *, changed: bool) -> ModeratorOutput:
    return ModeratorOutput(
        final_label=label.label,
        confidence=label.p,
        rationale=f"{rule}: {reason}",
        selected_stage="stage2" if changed else "stage1",
        label_source=label.source,
        applied_rules=(rule,),
        decision_reason=reason,
    )
