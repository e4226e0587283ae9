"""Stage1's result of one text, with what later steps read out of it, each derived once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from episodic_absa.final_tuples import asked_targets, extract_tuples
from episodic_absa.language import NOTHING_READ, PolarityCounts, nearest_occurrence, norm, norm_key
from episodic_absa.pipeline.shown_values import shown_pairs
from episodic_absa.pipeline.stage1.named_terms import TermMap
from episodic_absa.schemas.absa import FinalTuple, SentimentItem, Span, Stage1Result
from episodic_absa.vocabulary import Language, Polarity


@dataclass(frozen=True)
class FirstAnalysis:
    """The first analysis of a text."""

    text: str
    """NFC-normalised."""
    language: Language
    result: Stage1Result
    unmatched_terms: tuple[str, ...] = ()
    """Terms of judgements that neither match a target nor occur in the text."""
    polarity_counts: PolarityCounts = NOTHING_READ
    is_readers_own: bool = False
    """Whether no model was asked: the pairs are the reader's."""

    @cached_property
    def pairs(self) -> tuple[SentimentItem, ...]:
        """The sentiments that are pairs. Backfills are none."""
        return tuple(item for item in self.result.atsa.sentiments if is_pair(item))

    @cached_property
    def terms(self) -> TermMap:
        """The map from names to all terms, those without a pair included."""
        named = [item.aspect_term for item in self.result.ate.aspects]
        named += [item.aspect_term for item in self.result.atsa.sentiments]
        return TermMap(list(dict.fromkeys(named)), self.text)

    @cached_property
    def tuples(self) -> tuple[FinalTuple, ...]:
        """The pairs as tuples of a result."""
        return extract_tuples(self.result.atsa.sentiments)

    @cached_property
    def shown_pairs(self) -> list[str]:
        """The pairs as prompts show them."""
        return shown_pairs(self.result.atsa.sentiments)

    @cached_property
    def shown_targets(self) -> list[str]:
        """The targets as prompts show them; one with two polarities is named once, since it is one question."""
        return asked_targets(self.result.atsa.sentiments)

    def polarities(self, term: str) -> tuple[Polarity, ...]:
        """Return the polarities of a term, each once, in Stage1's order."""
        held = (item.polarity for item in self.pairs if norm(item.aspect_term) == norm(term))
        return tuple(dict.fromkeys(polarity for polarity in held if polarity is not None))

    def span(self, term: str) -> Span | None:
        """Return the place of a term: the span that Stage1 gives it, else its first occurrence in the text."""
        items: tuple[Sequence[SentimentItem], ...] = (self.pairs, self.result.atsa.sentiments)
        spans = [item.span for group in items for item in group if norm(item.aspect_term) == norm(term)]
        spans += [aspect.span for aspect in self.result.ate.aspects if norm(aspect.aspect_term) == norm(term)]
        return next((span for span in spans if span is not None), None) or first_place(term, self.text)


def is_pair(item: SentimentItem) -> bool:
    """Return whether a sentiment is a judgement: it has a polarity and is no backfill."""
    return item.polarity is not None and not item.is_backfilled


def first_place(name: str, text: str) -> Span | None:
    """Return the first occurrence of a name, without a trailing particle, in the text."""
    place = nearest_occurrence(norm_key(name, text), text, 0) if norm(name) else None
    return Span(start=place[0], end=place[1]) if place else None
