"""Reads dates of a table: which column holds them, which day each cell names, and the bins that a range is cut into."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

from episodic_absa.reports.summary.summary import BinUnit

DayOrder = Literal["day_first", "month_first"]

_TIME: Final = (
    r"(?:\s*\(\w{1,9}\))?(?:(?:[T,]|\s)\s*(?:오전|오후|[AaPp][Mm])?\s*\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"
    r"\s*(?:[AaPp]\.?[Mm]\.?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
_YEAR_FIRST: Final = re.compile(r"(\d{4})(?:[-/.]|년)\s*(\d{1,2})(?:[-/.]|월)\s*(\d{1,2})[.일]?" + _TIME)
_COMPACT: Final = re.compile(r"((?:19|20)\d{2})([01]\d)([0-3]\d)")
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.])\s*(\d{1,2})\2\s*(\d{4})\.?" + _TIME)
_DAY_MONTH: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[ -]([A-Za-z]{3,9})\.?,?[ -](\d{4})" + _TIME)
_MONTH_DAY: Final = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})" + _TIME)
_MONTHS: Final = {
    name: place
    for place, names in enumerate(
        [
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ],
        start=1,
    )
    for name in names.split()
}
_NAME: Final = re.compile(r"date|time|day|created|posted|written|날짜|일자|일시|작성일|등록일|구매일|방문일|시간")
_YEARS: Final = range(1970, 2101)
_LONGEST_CELL: Final = 60
_FEWEST_READ: Final = 0.8
_LOOKED_AT_FIRST: Final = 200
_LONGEST_RANGES: Final[tuple[tuple[BinUnit, int], ...]] = (
    ("day", 14),
    ("week", 182),
    ("month", 1110),
    ("quarter", 3660),
)
"""The longest range of days for each unit; a longer one is cut into years."""


class DateColumn(NamedTuple):
    """A column of dates; None stands for a cell that is empty or no date."""

    name: str
    days: tuple[date | None, ...]


class FoundDates(NamedTuple):
    """The date column of a table, and the columns whose dates have two readings."""

    column: DateColumn | None
    unclear: tuple[str, ...]


def find_dates(columns: Mapping[str, Sequence[str]]) -> FoundDates:
    """Return the column of dates: four fifths of its filled cells are dates, of at least two days.

    A column whose name speaks of dates comes before others, then the one with more dates, then the first.
    """
    best: tuple[tuple[bool, int], DateColumn] | None = None
    unclear: list[str] = []
    for name, cells in columns.items():
        is_named = bool(_NAME.search(name.casefold()))
        if not _looks_like_dates(cells, is_named=is_named):
            continue
        order = day_order(cells)
        if order == "unclear":
            unclear.append(name)
            continue
        days = tuple(read_day(cell, order, compact=is_named) for cell in cells)
        rank = (is_named, sum(day is not None for day in days))
        if len(set(days) - {None}) > 1 and (best is None or rank > best[0]):
            best = rank, DateColumn(name, days)
    return FoundDates(best[1] if best else None, tuple(unclear))


def day_order(cells: Sequence[str]) -> DayOrder | Literal["unclear"]:
    """Return whether 3/4/2026 is in April or March; "unclear" if no cell decides it, or the cells disagree.

    Dates with dots (3.4.2026) have the day first.
    """
    orders: set[DayOrder] = set()
    is_undecided = False
    for cell in cells:
        parts = _YEAR_LAST.fullmatch(cell.strip()[:_LONGEST_CELL])
        if parts is None or parts[2] == ".":
            continue
        first, second = int(parts[1]), int(parts[3])
        if first > 12:
            orders.add("day_first")
        elif second > 12:
            orders.add("month_first")
        elif first != second:
            is_undecided = True
    if len(orders) > 1 or (is_undecided and not orders):
        return "unclear"
    return next(iter(orders), "day_first")


def read_day(cell: str, order: DayOrder = "day_first", *, compact: bool = False) -> date | None:
    """Return the day that a cell names, None if it names none. A time of day and its zone do not change the day.

    Args:
        cell: the content of the cell.
        order: what the first number of 3/4/2026 is.
        compact: whether eight digits such as 20260131 are a date.
    """
    cell = cell.strip()
    if not 6 <= len(cell) <= _LONGEST_CELL:
        return None
    if parts := _YEAR_FIRST.fullmatch(cell):
        return _day(parts[1], parts[2], parts[3])
    if compact and (parts := _COMPACT.fullmatch(cell)):
        return _day(parts[1], parts[2], parts[3])
    if parts := _YEAR_LAST.fullmatch(cell):
        if order == "month_first" and parts[2] != ".":
            return _day(parts[4], parts[1], parts[3])
        return _day(parts[4], parts[3], parts[1])
    if parts := _DAY_MONTH.fullmatch(cell):
        return _day(parts[3], _MONTHS.get(parts[2].lower(), 0), parts[1])
    if parts := _MONTH_DAY.fullmatch(cell):
        return _day(parts[3], _MONTHS.get(parts[1].lower(), 0), parts[2])
    return None


def bin_unit(first: date, last: date) -> BinUnit:
    """Return the unit that fits a range of days.

    Example:
        >>> from datetime import date
        >>> from episodic_absa.reports.summary.dates import bin_unit
        >>> bin_unit(date(2026, 1, 1), date(2026, 12, 31))
        'month'
    """
    days = (last - first).days + 1
    return next((unit for unit, longest in _LONGEST_RANGES if days <= longest), "year")


def bin_start(day: date, unit: BinUnit) -> date:
    """Return the first day of the bin that a day falls into; weeks begin on Monday."""
    match unit:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
        case "year":
            return date(day.year, 1, 1)


def bin_starts(first: date, last: date, unit: BinUnit) -> tuple[date, ...]:
    """Return the first days of all bins of a range, those without a review included."""
    starts = [bin_start(first, unit)]
    # 32 days after the first of a month lie in the next one; 95 after a quarter's and 370 after a year's likewise.
    steps = {"day": 1, "week": 7, "month": 32, "quarter": 95, "year": 370}
    while (following := bin_start(starts[-1] + timedelta(days=steps[unit]), unit)) <= last:
        starts.append(following)
    return tuple(starts)


def _looks_like_dates(cells: Sequence[str], *, is_named: bool) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    # A few cells settle most columns; only a column that may hold dates is read whole.
    return _share(filled[:_LOOKED_AT_FIRST], is_named) >= _FEWEST_READ / 2 and _share(filled, is_named) >= _FEWEST_READ


def _share(cells: Sequence[str], is_named: bool) -> float:  # noqa: FBT001 - private
    # A day such as 13/31 is a date in one of the two orders.
    orders: tuple[DayOrder, ...] = ("day_first", "month_first")
    dates_n = sum(any(read_day(cell, order, compact=is_named) for order in orders) for cell in cells)
    return dates_n / len(cells) if cells else 0.0


def _day(year: str, month: str | int, day: str) -> date | None:
    try:
        read = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return read if read.year in _YEARS else None
