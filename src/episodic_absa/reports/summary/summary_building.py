"""Sums up a table of analysed reviews: praise and blame by aspect, over time, by column, with quotes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.errors import ConfigError
from episodic_absa.reports.summary.dates import DateColumn, FoundDates, find_dates
from episodic_absa.reports.summary.mentions import Mentions, Pair, find_mentions, split_by, tallies_by_group, tally
from episodic_absa.reports.summary.searched_reviews import searched_reviews
from episodic_absa.reports.summary.shown_text import cleaned, excerpt, on_one_line, words_at
from episodic_absa.reports.summary.split_columns import FoundColumns, find_split_columns
from episodic_absa.reports.summary.summary import (
    AspectGroup,
    ColumnSplit,
    ColumnValue,
    OverTime,
    Quote,
    RestOfAspects,
    Summary,
    TimeBin,
)
from episodic_absa.reports.summary.time_bins import bin_start, bin_starts, bin_unit
from episodic_absa.reports.summary.typical_quotes import MOST_QUOTES, Candidate, typical
from episodic_absa.vocabulary import Polarity

MOST_ASPECTS: Final = 200
LEADING_ASPECTS: Final = 50
LONGEST_QUOTE: Final = 300
_MOST_SPELLINGS: Final = 12
_LONGEST_CELL: Final = 60
_LABELS: Final = ("positive", "mixed", "neutral", "negative", "none")


def summarise(
    reviews: Iterable[AnalysedReview],
    *,
    source: str = "",
    failed_n: int = 0,
    empty_n: int = 0,
    date_column: str | None = None,
) -> Summary:
    """Return the summary of a table of reviews.

    Args:
        reviews: the analysed reviews, in the order of the table.
        source: the name of the file, for the head of the page.
        failed_n: the number of reviews whose analysis failed; they are not among `reviews`.
        empty_n: the number of rows without a text; they are not among `reviews`.
        date_column: the name of the column with dates; None finds it by name and content.

    Raises:
        ConfigError: `date_column` does not exist or holds no readable dates.
        ValueError: a polarity is none of positive, negative and neutral.

    Example:
        >>> from episodic_absa.analysed_review import AnalysedAspect, AnalysedReview
        >>> from episodic_absa.reports.summary import summarise
        >>> aspect = AnalysedAspect("Rooms", "positive", 0.9, "spacious")
        >>> summary = summarise([AnalysedReview("Rooms are spacious.", {}, "en", "positive", (aspect,))])
        >>> [(aspect.name, aspect.tally.positive, aspect.tally.mentions) for aspect in summary.aspects]
        [('Rooms', 1, 1)]
    """
    table = tuple(reviews)
    mentions = find_mentions(table)
    cells = _cells_by_column(table)
    dates = find_dates(cells) if date_column is None else _named_dates(cells, date_column)
    days = dates.column.days if dates.column else (None,) * len(table)
    split_columns = find_split_columns(
        {name: cells[name] for name in cells if not dates.column or name != dates.column.name}
    )
    counts = Counter(pair for pairs in mentions.pairs for pair in pairs)
    listed_n = min(MOST_ASPECTS, len(mentions.groups))
    leading_n = min(LEADING_ASPECTS, listed_n)
    return Summary(
        source=on_one_line(source, _LONGEST_CELL),
        reviews_n=len(table) + failed_n,
        opinion_n=sum(bool(review.aspects) for review in table),
        failed_n=failed_n,
        empty_n=empty_n,
        languages=tuple(Counter(review.language for review in table).most_common()),
        labels=_labels(table),
        overall=tally(counts),
        aspects=_aspects(table, mentions, counts, days, listed_n),
        rest=_rest(mentions, counts, listed_n),
        leading_n=leading_n,
        over_time=_over_time(dates.column, mentions, leading_n) if dates.column else None,
        unclear_dates=tuple(on_one_line(name, _LONGEST_CELL) for name in dates.unclear),
        columns=_columns(split_columns, cells, mentions, leading_n),
        columns_left_out=tuple(on_one_line(name, _LONGEST_CELL) for name in split_columns.left_out),
        searched=searched_reviews(table, mentions, days, _value_places(split_columns, cells), listed_n),
        unread_n=sum(map(is_unread, table)),
    )


def _cells_by_column(table: Sequence[AnalysedReview]) -> dict[str, list[str]]:
    names = dict.fromkeys(name for review in table for name in review.columns)
    return {name: [str(review.columns.get(name) or "") for review in table] for name in names}


def _named_dates(cells: Mapping[str, Sequence[str]], name: str) -> FoundDates:
    if name not in cells:
        raise ConfigError(f"there is no column {name!r}; choose one of {', '.join(cells)}", key="date_column")
    dates = find_dates({name: cells[name]})
    if dates.column is None:
        reason = "day and month cannot be told apart" if dates.unclear else "most cells are no dates of different days"
        raise ConfigError(f"column {name!r}: {reason}; write dates as 2026-01-31", key="date_column")
    return dates


def label_of(review: AnalysedReview) -> str:
    """Return the label that a review counts for; `none` if it holds no opinion about an aspect."""
    return review.label if review.aspects else "none"


def is_unread(review: AnalysedReview) -> bool:
    """Return whether a review is of an unknown language and nothing was found in it."""
    return review.language == "other" and not review.aspects


def _labels(table: Sequence[AnalysedReview]) -> tuple[tuple[str, int], ...]:
    counts = Counter(map(label_of, table))
    return tuple((label, counts[label]) for label in _LABELS)


def _aspects(
    table: Sequence[AnalysedReview],
    mentions: Mentions,
    counts: Counter[Pair],
    days: Sequence[date | None],
    listed_n: int,
) -> tuple[AspectGroup, ...]:
    candidates = _candidates(table, mentions, listed_n)
    return tuple(
        AspectGroup(
            name=group.name,
            spellings=group.spellings[:_MOST_SPELLINGS],
            spellings_n=len(group.spellings),
            tally=group_tally,
            quotes={
                polarity: tuple(
                    _quote(table, candidate, days) for candidate in typical(candidates[place, polarity], most)
                )
                for polarity, most in MOST_QUOTES.items()
            },
        )
        for place, (group, group_tally) in enumerate(
            zip(mentions.groups, tallies_by_group(counts, listed_n), strict=False)
        )
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


def _quote(table: Sequence[AnalysedReview], candidate: Candidate, days: Sequence[date | None]) -> Quote:
    review = table[candidate.review]
    aspect = review.aspects[candidate.aspect]
    start, end = words_at(aspect.evidence, aspect.term, review.text)
    part = excerpt(cleaned(review.text), start, end, LONGEST_QUOTE)
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


def _rest(mentions: Mentions, counts: Counter[Pair], listed_n: int) -> RestOfAspects:
    unlisted: Counter[Polarity] = Counter()
    for (place, polarity), count in counts.items():
        if place >= listed_n:
            unlisted[polarity] += count
    return RestOfAspects(len(mentions.groups) - listed_n, tally(unlisted))


def _over_time(column: DateColumn, mentions: Mentions, leading_n: int) -> OverTime:
    read = [day for day in column.days if day is not None]
    first, last = min(read), max(read)
    unit = bin_unit(first, last)
    starts = bin_starts(first, last, unit)
    place_of = {start: place for place, start in enumerate(starts)}
    slots = [None if day is None else place_of[bin_start(day, unit)] for day in column.days]
    splits = split_by(mentions.pairs, slots, len(starts), leading_n)
    return OverTime(
        column=on_one_line(column.name, _LONGEST_CELL),
        unit=unit,
        first=first,
        last=last,
        bins=tuple(TimeBin(start, split.reviews_n, split.tallies) for start, split in zip(starts, splits, strict=True)),
        unread_n=len(column.days) - len(read),
    )


def _value_places(chosen: FoundColumns, cells: Mapping[str, Sequence[str]]) -> list[list[int | None]]:
    """Return per column the place of each review's value; None for an empty cell."""
    places: list[list[int | None]] = []
    for name, values in chosen.values.items():
        place_of = {value: place for place, value in enumerate(values)}
        places.append([place_of.get(cell.strip()) for cell in cells[name]])
    return places


def _columns(
    chosen: FoundColumns, cells: Mapping[str, Sequence[str]], mentions: Mentions, leading_n: int
) -> tuple[ColumnSplit, ...]:
    columns = []
    for (name, values), slots in zip(chosen.values.items(), _value_places(chosen, cells), strict=True):
        splits = split_by(mentions.pairs, slots, len(values), leading_n)
        shown = tuple(
            ColumnValue(on_one_line(value, _LONGEST_CELL), split.reviews_n, split.tallies)
            for value, split in zip(values, splits, strict=True)
        )
        columns.append(ColumnSplit(on_one_line(name, _LONGEST_CELL), shown, slots.count(None)))
    return tuple(columns)
