"""A date column is found by name and content; a date with two readings is not guessed."""

from datetime import date

import pytest

from episodic_absa.reports.summary import bin_start, bin_starts, bin_unit, find_dates, find_split_columns, read_day

DAY = date(2026, 1, 31)


@pytest.mark.parametrize(
    "cell",
    [
        "2026-01-31",
        " 2026/01/31 ",
        "2026.1.31",
        "2026. 1. 31.",
        "2026년 1월 31일",
        "2026-01-31T23:59:59+09:00",
        "2026-01-31 08:15:00.123",
        "2026.01.31 오후 3:20",
        "2026.01.31(토) 15:20",
        "31.01.2026",
        "31/01/2026 9:05 PM",
        "31 January 2026",
        "Jan 31, 2026",
        "31-Jan-2026",
    ],
)
def test_these_are_dates(cell: str) -> None:
    assert read_day(cell) == DAY


@pytest.mark.parametrize(
    "cell", ["", "2026", "20260131", "2026-13-01", "2026-02-30", "4.5", "1.2.3", "1031-01-31", "31 Foo 2026", "9" * 99]
)
def test_these_are_none(cell: str) -> None:
    assert read_day(cell) is None


def test_eight_digits_are_a_date_in_a_column_named_so() -> None:
    cells = ["20260131", "20260201"]
    assert find_dates({"작성일": cells}).column is not None
    assert find_dates({"order": cells}).column is None


def test_the_named_column_comes_before_a_fuller_one() -> None:
    found = find_dates(
        {
            "birthday_x": ["1990-01-01"] * 9,
            "seen": ["2026-01-01", "2026-01-02"] * 5,
            "created_at": ["2026-02-01", "", "2026-03-01"] * 3 + [""],
        }
    )
    assert found.column is not None
    assert found.column.name == "created_at"
    assert found.column.days[:2] == (date(2026, 2, 1), None)


def test_one_cell_decides_the_order_of_day_and_month() -> None:
    found = find_dates({"date": ["03/04/2026", "03/25/2026"]})
    assert found.column is not None
    assert found.column.days[0] == date(2026, 3, 4)
    assert find_dates({"date": ["03/04/2026", "05/06/2026"]}) == (None, ("date",))
    assert find_dates({"date": ["13/04/2026", "03/25/2026"]}) == (None, ("date",))


def test_a_column_with_few_dates_is_no_date_column() -> None:
    assert find_dates({"date": ["2026-01-01", "2026-01-02", "soon", "later"]}).column is None


@pytest.mark.parametrize(
    ("last", "unit", "bins_n"),
    [
        (date(2026, 1, 7), "day", 7),
        (date(2026, 3, 1), "week", 9),
        (date(2026, 12, 31), "month", 12),
        (date(2030, 12, 31), "quarter", 20),
        (date(2040, 1, 1), "year", 15),
    ],
)
def test_the_unit_fits_the_range_and_no_bin_is_missing(last: date, unit: str, bins_n: int) -> None:
    first = date(2026, 1, 1)
    chosen = bin_unit(first, last)
    starts = bin_starts(first, last, chosen)
    assert (chosen, len(starts)) == (unit, bins_n)
    assert starts[0] == bin_start(first, chosen)
    assert starts[-1] == bin_start(last, chosen)


def test_columns_to_split_by_repeat_their_values() -> None:
    columns = {
        "id": [str(number) for number in range(12)],
        "country": ["KR", "US", "US"] * 4,
        "rating": ["10", "9", "9"] * 4,
        "product": ["b", "a", "a"] * 4,
        "note": ["same"] * 12,
    }
    found = find_split_columns(columns)
    assert dict(found.values) == {"product": ("a", "b"), "rating": ("9", "10"), "country": ("US", "KR")}
    assert list(found.values) == ["product", "rating", "country"]
    many = find_split_columns({f"column {number}": ["x", "y"] * 2 for number in range(10)})
    assert len(many.values) == 8
    assert many.left_out == ("column 8", "column 9")
