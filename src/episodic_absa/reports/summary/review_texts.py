"""The texts of the page: typical quotes of each aspect, and the reviews that its search covers.

Equal reviews give equal quotes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from statistics import median_low
from typing import Final, NamedTuple

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.reports.summary.mentions import Mentions, checked_polarity
from episodic_absa.reports.summary.shown_text import cleaned, excerpt, on_one_line, words_at
from episodic_absa.reports.summary.summary import Mark, Quote, SearchedReview
from episodic_absa.vocabulary import Polarity

LONGEST_SEARCHED: Final = 600
_MOST_QUOTES: Final[dict[Polarity, int]] = {"positive": 20, "negative": 20, "neutral": 10}
"""Per aspect; together at most 50."""
_LONGEST_QUOTE: Final = 300
_MOST_SEARCHED: Final = 20_000
_MOST_CHARACTERS: Final = 5_000_000
_LONGEST_TERM: Final = 60
_MOST_MARKS: Final = 30
Days = Sequence[date | None]
"""The day of each review."""


class Candidate(NamedTuple):
    """A mention that may be quoted."""

    review: int
    """The place of its review in the table."""
    aspect: int
    """The place of the aspect in its review."""
    confidence: float
    length: int
    """Of the review, in characters."""
    text: str


def label_of(review: AnalysedReview) -> str:
    """Return the label that a review counts for; `none` if it holds no opinion about an aspect."""
    return review.label if review.aspects else "none"


def quotes_of(
    table: Sequence[AnalysedReview], mentions: Mentions, days: Days, listed_n: int
) -> list[Mapping[Polarity, tuple[Quote, ...]]]:
    """Return the typical quotes of each of the first groups, by polarity."""
    candidates = _candidates(table, mentions, listed_n)
    return [
        {
            polarity: tuple(_quote(table, candidate, days) for candidate in typical(candidates[place, polarity], most))
            for polarity, most in _MOST_QUOTES.items()
        }
        for place in range(listed_n)
    ]


def typical(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return at most `most` candidates of different texts, the most typical first.

    The less confident half is left out if enough others remain. The rest is ordered by how far the length of the
    review is from the median length, then by confidence, then by the order of the table.
    """
    different = list({candidate.text: candidate for candidate in reversed(candidates)}.values())
    different.sort(key=lambda candidate: (-candidate.confidence, candidate.review))
    confident = different[: max(most, (len(different) + 1) // 2)]
    if not confident:
        return []
    middle = median_low([candidate.length for candidate in confident])
    confident.sort(key=lambda candidate: (abs(candidate.length - middle), -candidate.confidence, candidate.review))
    return confident[:most]


def searched_reviews(
    table: Sequence[AnalysedReview],
    mentions: Mentions,
    days: Days,
    value_places: Sequence[Sequence[int | None]],
    listed_n: int,
) -> tuple[SearchedReview, ...]:
    """Return the reviews to search, in the order of the table."""
    return tuple(
        SearchedReview(
            review=number + 1,
            text=cleaned(table[number].text[:LONGEST_SEARCHED]),
            is_cut=len(table[number].text) > LONGEST_SEARCHED,
            language=table[number].language,
            label=label_of(table[number]),
            day=days[number],
            values=tuple(-1 if places[number] is None else places[number] or 0 for places in value_places),
            marks=_marks(table[number], mentions.places[number], number + 1, listed_n),
        )
        for number in _evenly_spaced(table)
    )


def _candidates(
    table: Sequence[AnalysedReview], mentions: Mentions, listed_n: int
) -> defaultdict[tuple[int, str], list[Candidate]]:
    candidates: defaultdict[tuple[int, str], list[Candidate]] = defaultdict(list)
    for number, (review, places) in enumerate(zip(table, mentions.places, strict=True)):
        for order, (aspect, place) in enumerate(zip(review.aspects, places, strict=True)):
            if place < listed_n:
                candidate = Candidate(number, order, aspect.confidence, len(review.text), review.text)
                candidates[place, aspect.polarity].append(candidate)
    return candidates


def _quote(table: Sequence[AnalysedReview], candidate: Candidate, days: Days) -> Quote:
    review = table[candidate.review]
    aspect = review.aspects[candidate.aspect]
    start, end = words_at(aspect.evidence, aspect.term, review.text)
    part = excerpt(cleaned(review.text), start, end, _LONGEST_QUOTE)
    return Quote(
        review=candidate.review + 1,
        text=part.text,
        start=part.start,
        end=part.end,
        cut_before=part.cut_before,
        cut_after=part.cut_after,
        language=review.language,
        day=days[candidate.review],
    )


def _evenly_spaced(table: Sequence[AnalysedReview]) -> list[int]:
    characters_n = sum(min(len(review.text), LONGEST_SEARCHED) for review in table)
    most = min(_MOST_SEARCHED, len(table))
    if characters_n > _MOST_CHARACTERS:
        most = min(most, len(table) * _MOST_CHARACTERS // characters_n)
    return [place * len(table) // most for place in range(most)]


def _marks(review: AnalysedReview, places: Sequence[int], number: int, listed_n: int) -> tuple[Mark, ...]:
    marks = []
    for aspect, place in list(zip(review.aspects, places, strict=True))[:_MOST_MARKS]:
        start, end = words_at(aspect.evidence, aspect.term, review.text)
        # Words behind the cut are not part of the shown text.
        start, end = (start, min(end, LONGEST_SEARCHED)) if start < LONGEST_SEARCHED else (0, 0)
        polarity = checked_polarity(aspect.polarity, number)
        term = on_one_line(aspect.term, _LONGEST_TERM)
        marks.append(Mark(place if place < listed_n else -1, term, polarity, start, end))
    return tuple(marks)
