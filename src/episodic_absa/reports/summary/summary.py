"""Everything the summary of a table of reviews shows, as frozen values. Nothing here reads a file or renders a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from episodic_absa.vocabulary import Polarity

BinUnit = Literal["day", "week", "month", "quarter", "year"]


@dataclass(frozen=True, slots=True)
class Tally:
    """Mentions by polarity. A review counts once per aspect and polarity."""

    positive: int = 0
    negative: int = 0
    neutral: int = 0

    @property
    def mentions(self) -> int:
        """The number of mentions, whatever the polarity."""
        return self.positive + self.negative + self.neutral


@dataclass(frozen=True, slots=True)
class Quote:
    """An excerpt of a review around the words that support a polarity."""

    review: int
    """The number of the review, from 1, in the order of the table."""
    text: str
    start: int
    """The marked words within `text`, in code points; `start == end` if the review does not hold them."""
    end: int
    cut_before: bool
    cut_after: bool
    language: str
    day: date | None


@dataclass(frozen=True, slots=True)
class AspectGroup:
    """Near-equal terms that count as one aspect."""

    name: str
    """The commonest spelling; empty for opinions that name no aspect."""
    spellings: tuple[tuple[str, int], ...]
    """Every spelling with its number of mentions, the commonest first; long lists are cut."""
    spellings_n: int
    tally: Tally
    quotes: Mapping[Polarity, tuple[Quote, ...]]


@dataclass(frozen=True, slots=True)
class RestOfAspects:
    """The aspects that the page does not list."""

    groups_n: int = 0
    tally: Tally = Tally()


@dataclass(frozen=True, slots=True)
class Part:
    """The mentions of the reviews of one day, week, month, quarter or year, or of one value of a column."""

    name: str
    """The value, or the first day of the period."""
    reviews: int
    tallies: tuple[Tally, ...]
    """All aspects first, then the leading aspects in the order of `Summary.aspects`."""


@dataclass(frozen=True, slots=True)
class OverTime:
    """The mentions along a date column. Bins without a review are part of it."""

    column: str
    unit: BinUnit
    first: date
    last: date
    bins: tuple[Part, ...]
    unread_n: int
    """Reviews whose cell is empty or no date."""


@dataclass(frozen=True, slots=True)
class ColumnSplit:
    """The mentions by the values of a column, such as a product or a rating."""

    name: str
    values: tuple[Part, ...]
    empty_n: int
    """Reviews whose cell is empty."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The words of a searched review that support one of its aspects."""

    aspect: int
    """The place in `Summary.aspects`, -1 for an aspect that is not listed."""
    term: str
    polarity: Polarity
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SearchedReview:
    """A review that the search of the page covers."""

    review: int
    """The number of the review, from 1, in the order of the table."""
    text: str
    is_cut: bool
    language: str
    label: str
    """The label of the review; `none` for a review without an opinion."""
    day: date | None
    values: tuple[int, ...]
    """The place of its value in each of `Summary.columns`, -1 for an empty cell."""
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A table of analysed reviews, summed up. `summarise` builds it."""

    source: str
    """The name of the file, without its folder."""
    reviews_n: int
    """All rows with a text, failed ones included."""
    opinion_n: int
    """Reviews with at least one aspect."""
    failed_n: int
    empty_n: int
    """Rows without a text; no other number counts them."""
    languages: tuple[tuple[str, int], ...]
    labels: tuple[tuple[str, int], ...]
    """Analysed reviews by label, in a fixed order; `none` counts those without an opinion."""
    overall: Tally
    aspects: tuple[AspectGroup, ...]
    """By mentions, the commonest first."""
    rest: RestOfAspects
    leading_n: int
    """The number of aspects that time bins and columns are split by."""
    over_time: OverTime | None
    unclear_dates: tuple[str, ...]
    """Columns whose dates can be read as day/month or as month/day."""
    columns: tuple[ColumnSplit, ...]
    columns_left_out: tuple[str, ...]
    searched: tuple[SearchedReview, ...]
    unread_n: int
    """Reviews of an unknown language in which no opinion was found."""

    @property
    def analysed_n(self) -> int:
        """The reviews that were analysed."""
        return self.reviews_n - self.failed_n

    @property
    def rows_n(self) -> int:
        """All rows of the table."""
        return self.reviews_n + self.empty_n

    @property
    def is_korean(self) -> bool:
        """Whether most analysed reviews are Korean."""
        counts = dict(self.languages)
        return counts.get("ko", 0) * 2 > sum(counts.values())
