"""The reviews that the page's search covers: all of them, or an evenly spaced subset if they are too many."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.reports.summary.mentions import Mentions, checked_polarity
from episodic_absa.reports.summary.shown_text import cleaned, on_one_line, words_at
from episodic_absa.reports.summary.summary import Mark, SearchedReview

MOST_SEARCHED: Final = 20_000
MOST_CHARACTERS: Final = 5_000_000
LONGEST_SEARCHED: Final = 600
_LONGEST_TERM: Final = 60
_MOST_MARKS: Final = 30


def searched_reviews(
    table: Sequence[AnalysedReview],
    mentions: Mentions,
    days: Sequence[date | None],
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
            label=table[number].label if table[number].aspects else "none",
            day=days[number],
            values=tuple(-1 if places[number] is None else places[number] or 0 for places in value_places),
            marks=_marks(table[number], mentions.places[number], number + 1, listed_n),
        )
        for number in _evenly_spaced(table)
    )


def _evenly_spaced(table: Sequence[AnalysedReview]) -> list[int]:
    characters_n = sum(min(len(review.text), LONGEST_SEARCHED) for review in table)
    most = min(MOST_SEARCHED, len(table))
    if characters_n > MOST_CHARACTERS:
        most = min(most, len(table) * MOST_CHARACTERS // characters_n)
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
