"""Cuts a range of days into days, weeks, months, quarters or years, so that a chart has at most about 40 bins."""

from datetime import date, timedelta
from typing import Final

from episodic_absa.reports.summary.summary import BinUnit

_LONGEST: Final[tuple[tuple[BinUnit, int], ...]] = (("day", 14), ("week", 182), ("month", 1110), ("quarter", 3660))
"""The longest range of days for each unit; a longer one is cut into years."""


def bin_unit(first: date, last: date) -> BinUnit:
    """Return the unit that fits a range of days.

    Example:
        >>> from datetime import date
        >>> from episodic_absa.reports.summary.time_bins import bin_unit
        >>> bin_unit(date(2026, 1, 1), date(2026, 12, 31))
        'month'
    """
    days = (last - first).days + 1
    return next((unit for unit, longest in _LONGEST if days <= longest), "year")


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
