"""The working copy of Stage1 that the steps of the patch change, and the edits that several steps share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from episodic_absa.language import nearest_occurrence, norm
from episodic_absa.schemas.absa import AspectItem, SentimentItem, Span, Stage1Result
from episodic_absa.schemas.run_files.adoption import PatchLogEntry
from episodic_absa.vocabulary import Polarity

INVERSE_POLARITY: Final[dict[Polarity, Polarity]] = {"positive": "negative", "negative": "positive"}
REVISED_CONFIDENCE: Final = 0.9
"""The least confidence of a sentiment whose polarity a proposal or a verdict sets."""

PatchStep = Literal["proposal", "ate_review", "atsa_review", "judge_drop", "anchor_guard", "placeholder", "reduction"]
"""The persisted names of the steps; a verdict's step keeps the name that the log format gives it."""


@dataclass
class PatchDraft:
    """Copies of Stage1's aspects and sentiments, and the log of what the steps did to them.

    Edits return the reason why they were not applied, or "".
    """

    text: str
    aspects: list[AspectItem]
    sentiments: list[SentimentItem]
    log: list[PatchLogEntry] = field(default_factory=list)
    verdict_polarities: set[tuple[str, Polarity]] = field(default_factory=set)
    """(normalised aspect, polarity) of every ATSA verdict that set a polarity."""
    revised_spans: dict[str, Span] = field(default_factory=dict)
    """Normalised term -> its new span. Applied after the debate's steps, which name aspects by their Stage1 terms."""

    @classmethod
    def of(cls, stage1: Stage1Result, text: str) -> "PatchDraft":
        """Return a draft that equals Stage1."""
        return cls(text, list(stage1.ate.aspects), list(stage1.atsa.sentiments))

    def record(
        self,
        step: PatchStep,
        what: str,
        aspect_term: str,
        reason: str = "",
        *,
        change_id: str | None = None,
        polarity: Polarity | None = None,
    ) -> None:
        """Add a line to the log; a reason says why the edit was not applied."""
        self.log.append(
            PatchLogEntry(
                step=step,
                what=what,
                change_id=change_id,
                aspect_term=aspect_term,
                applied=not reason,
                reason=reason,
                polarity=polarity,
            )
        )

    def find_aspect(self, term: str) -> int | None:
        """Return the position of the aspect with that term."""
        return next(iter(_positions(self.aspects, term)), None)

    def find_sentiment(self, term: str) -> int | None:
        """Return the position of the first sentiment with that term, a backfill included."""
        return next(iter(_positions(self.sentiments, term)), None)

    def find_judgement(self, term: str) -> int | None:
        """Return the position of the first sentiment with that term; a backfill only if there is nothing else."""
        positions = _positions(self.sentiments, term)
        return min(positions, key=lambda position: (self.sentiments[position].is_backfilled, position), default=None)

    def set_polarity(self, position: int, polarity: Polarity) -> None:
        """Give a sentiment a polarity that a proposal or a verdict demands; it is no backfill any longer."""
        sentiment = self.sentiments[position]
        inverse = INVERSE_POLARITY.get(polarity)
        self.sentiments[position] = sentiment.model_copy(
            update={
                "polarity": polarity,
                "confidence": max(sentiment.confidence, REVISED_CONFIDENCE),
                "polarity_distribution": {polarity: 0.9, inverse: 0.1} if inverse else {polarity: 0.9},
                "is_backfilled": False,
                "neutral_reason": None,
            }
        )

    def drop_sentiments(self, term: str) -> int:
        """Remove the sentiments of a term and return how many there were."""
        before_n = len(self.sentiments)
        self.sentiments = [item for item in self.sentiments if norm(item.aspect_term) != norm(term)]
        return before_n - len(self.sentiments)

    def drop_aspect(self, term: str) -> str:
        """Remove an aspect and its sentiments."""
        kept = [item for item in self.aspects if norm(item.aspect_term) != norm(term)]
        dropped_n = len(self.aspects) - len(kept) + self.drop_sentiments(term)
        self.aspects = kept
        return "" if dropped_n else "no_matching_aspect"

    def revise_span(self, term: str, span: Span | None) -> str:
        """Note the new span of an aspect; `apply_revised_spans` applies it."""
        if self.find_aspect(term) is None:
            return "no_matching_aspect"
        if span is None:
            return "missing_revised_span"
        if not norm(self.text[span.start : span.end]):
            return "empty_span"
        self.revised_spans[norm(term)] = span
        return ""

    def repair_span(self, term: str) -> str:
        """Move the span of an aspect to the nearest occurrence of its term."""
        position = self.find_aspect(term)
        if position is None:
            return "no_matching_aspect"
        aspect = self.aspects[position]
        place = nearest_occurrence(aspect.aspect_term, self.text, aspect.span.start if aspect.span else 0)
        if place is None:
            return "term_not_in_text"
        span = Span(start=place[0], end=place[1])
        if span == aspect.span:
            return "span_already_right"
        self.aspects[position] = aspect.model_copy(update={"span": span})
        return ""

    def apply_revised_spans(self) -> dict[str, str]:
        """Give aspects and sentiments their revised spans and the words that stand there.

        Returns:
            The new term of each renamed aspect, by its normalised Stage1 term.
        """
        renamed = {term: self.text[span.start : span.end] for term, span in self.revised_spans.items()}

        def update(item: AspectItem | SentimentItem) -> dict[str, Any] | None:
            term = norm(item.aspect_term)
            return {"aspect_term": renamed[term], "span": self.revised_spans[term]} if term in renamed else None

        self.aspects = [item.model_copy(update=update(item)) for item in self.aspects]
        self.sentiments = [item.model_copy(update=update(item)) for item in self.sentiments]
        return renamed


def _positions(items: Sequence[AspectItem | SentimentItem], term: str) -> list[int]:
    return [position for position, item in enumerate(items) if norm(item.aspect_term) == norm(term)]
