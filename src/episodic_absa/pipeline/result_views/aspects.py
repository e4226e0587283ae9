"""The aspects of a result as a caller reads them: term, polarity, confidence, evidence and place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from episodic_absa.final_tuples import predicted
from episodic_absa.language import norm, read_polarity
from episodic_absa.schemas.absa import DebateOutput, FinalTuple, Stage1Result
from episodic_absa.vocabulary import Polarity


@dataclass(frozen=True, slots=True)
class Aspect:
    """One aspect of a review and what the review says about it.

    Example:
        >>> from episodic_absa import analyze
        >>> room, breakfast = analyze("The room was clean, but the breakfast was cold.").aspects
        >>> room.term, room.polarity, room.evidence, room.span
        ('room', 'positive', 'was clean', (4, 8))
    """

    term: str
    """The words of the review that name the aspect; "" if the opinion names none."""
    polarity: Polarity
    confidence: float
    """0 to 1."""
    evidence: str
    """The words that support the polarity; "" if no agent quoted any."""
    span: tuple[int, int] | None
    """Start and end of the term in the text of the result; None for an opinion that names none."""

    def to_dict(self) -> dict[str, Any]:
        """Return the aspect as JSON values."""
        return {
            "term": self.term,
            "polarity": self.polarity,
            "confidence": self.confidence,
            "evidence": self.evidence,
            "span": None if self.span is None else list(self.span),
        }


def aspects_of(
    final_tuples: Sequence[FinalTuple], stage1: Stage1Result, debate: DebateOutput | None
) -> tuple[Aspect, ...]:
    """Return the aspects of the final tuples, in text order. Backfills are left out: nobody judged them."""
    return tuple(
        Aspect(
            term=final_tuple.aspect_term,
            polarity=final_tuple.polarity,
            confidence=final_tuple.confidence,
            evidence=quoted_evidence(final_tuple, stage1, debate),
            span=(final_tuple.span.start, final_tuple.span.end)
            if final_tuple.span and final_tuple.aspect_term
            else None,
        )
        for final_tuple in predicted(final_tuples)
    )


def quoted_evidence(final_tuple: FinalTuple, stage1: Stage1Result, debate: DebateOutput | None) -> str:
    """Return the words that support a final tuple, "" if no agent quoted any.

    If Stage1 gave the aspect this polarity, the words are Stage1's. Otherwise they are the judge's for the aspect, or
    a speaker's for this polarity, or those of Stage1's other polarity, in this order.
    """
    term = norm(final_tuple.aspect_term)
    same_aspect = [sentiment for sentiment in stage1.atsa.sentiments if norm(sentiment.aspect_term) == term]
    agreeing = [sentiment for sentiment in same_aspect if sentiment.polarity == final_tuple.polarity]
    # The tuple comes from the most confident of several equal sentiments.
    for sentiment in sorted(agreeing, key=lambda sentiment: -sentiment.confidence):
        if sentiment.evidence:
            return sentiment.evidence
    quoted = _quoted_in_debate(final_tuple, debate)
    return next(filter(None, [*quoted, *(sentiment.evidence for sentiment in same_aspect)]), "")


def _quoted_in_debate(final_tuple: FinalTuple, debate: DebateOutput | None) -> list[str]:
    if debate is None:
        return []
    term = norm(final_tuple.aspect_term)
    judge = [words for name, words in debate.summary.aspect_evidence.items() if norm(name) == term]
    speakers = [
        edit.evidence or ""
        for turn in debate.turns
        for edit in turn.proposed_edits
        if norm(edit.target.aspect_ref) == term and _is_polarity_of(final_tuple, edit.value or edit.target.polarity)
    ]
    return [*judge, *speakers]


def _is_polarity_of(final_tuple: FinalTuple, polarity: str | None) -> bool:
    return read_polarity(polarity).polarity == final_tuple.polarity
