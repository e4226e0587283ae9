"""Sums up a table of analysed reviews: praise and blame by aspect, over time, by column, with quotes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.errors import ConfigError
from episodic_absa.reports.summary.dates import DateColumn, FoundDates, bin_start, bin_starts, bin_unit, find_dates
from episodic_absa.reports.summary.mentions import Mentions, Pair, find_mentions, split_by, tallies_by_group, tally
from episodic_absa.reports.summary.review_texts import label_of, quotes_of, searched_reviews
from episodic_absa.reports.summary.shown_text import on_one_line
from episodic_absa.reports.summary.split_columns import FoundColumns, find_split_columns
from episodic_absa.reports.summary.summary import AspectGroup, ColumnSplit, OverTime, Quote, RestOfAspects, Summary
from episodic_absa.vocabulary import Polarity

MOST_ASPECTS: Final = 200
LEADING_ASPECTS: Final = 50
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
        aspects=_aspects(mentions, counts, quotes_of(table, mentions, days, listed_n)),
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


def is_unread(review: AnalysedReview) -> bool:
    """Return whether a review is of an unknown language and nothing was found in it."""
    return review.language == "other" and not review.aspects


def _labels(table: Sequence[AnalysedReview]) -> tuple[tuple[str, int], ...]:
    counts = Counter(map(label_of, table))
    return tuple((label, counts[label]) for label in _LABELS)


def _aspects(
    mentions: Mentions, counts: Counter[Pair], quotes: Sequence[Mapping[Polarity, tuple[Quote, ...]]]
) -> tuple[AspectGroup, ...]:
    tallies = tallies_by_group(counts, len(quotes))
    return tuple(
        AspectGroup(group.name, group.spellings[:_MOST_SPELLINGS], len(group.spellings), group_tally, group_quotes)
        for group, group_tally, group_quotes in zip(mentions.groups, tallies, quotes, strict=False)
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
    return OverTime(
        column=on_one_line(column.name, _LONGEST_CELL),
        unit=unit,
        first=first,
        last=last,
        bins=split_by(mentions.pairs, slots, [start.isoformat() for start in starts], leading_n),
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
        shown = split_by(mentions.pairs, slots, [on_one_line(value, _LONGEST_CELL) for value in values], leading_n)
        columns.append(ColumnSplit(on_one_line(name, _LONGEST_CELL), shown, slots.count(None)))
    return tuple(columns)
