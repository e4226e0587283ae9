"""Finds the columns that reviews can be split by, such as a product or a rating."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

FEWEST_VALUES: Final = 2
MOST_VALUES: Final = 20
MOST_COLUMNS: Final = 8
_RATING: Final = re.compile(r"rating|score|stars?\b|grade|별점|평점|점수|등급")
_PRODUCT: Final = re.compile(
    r"product|item|model|brand|store|branch|shop|hotel|restaurant|categor|channel|제품|상품|모델|브랜드|매장|지점|분류|카테고리"
)


class FoundColumns(NamedTuple):
    """The columns to split by, each with its values in order, and the columns that are one too many."""

    values: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...]


def find_split_columns(columns: Mapping[str, Sequence[str]]) -> FoundColumns:
    """Return the columns with 2 to 20 different values that repeat: products first, then ratings, then the others."""
    values_by_name = {name: values for name, cells in columns.items() if (values := _values(cells))}
    names = sorted(values_by_name, key=lambda name: _rank(name.casefold()))
    return FoundColumns({name: values_by_name[name] for name in names[:MOST_COLUMNS]}, tuple(names[MOST_COLUMNS:]))


def _values(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the values in order: numbers ascending, words by how often they occur; none if the column does not fit."""
    counts = Counter(cell.strip() for cell in cells if cell.strip())
    # A column of ids has few values in a small table, but they do not repeat.
    if not FEWEST_VALUES <= len(counts) <= MOST_VALUES or counts.total() < 2 * len(counts):
        return ()
    numbers = {value: _number(value) for value in counts}
    if None not in numbers.values():
        return tuple(sorted(counts, key=lambda value: (numbers[value], value)))
    return tuple(sorted(counts, key=lambda value: (-counts[value], value)))


def _number(value: str) -> float | None:
    return float(value) if re.fullmatch(r"-?\d{1,9}(?:\.\d{1,9})?", value) else None


def _rank(name: str) -> int:
    if _PRODUCT.search(name):
        return 0
    return 1 if _RATING.search(name) else 2
