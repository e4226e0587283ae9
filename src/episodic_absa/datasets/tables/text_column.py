"""Finds the column that holds the reviews: by its name, or by the length of its texts."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from episodic_absa.datasets.dataset_file import listed_names
from episodic_absa.errors import ConfigError
from episodic_absa.serialization.quoted_value import quoted

_KNOWN: Final = (
    "text review reviews reviewtext reviewbody reviewcontent content contents comment comments body sentence "
    "feedback message opinion document 리뷰 내용 후기 이용후기 구매후기 상품평 본문 댓글 의견 텍스트 문장"
)
_NAMES: Final = frozenset(_KNOWN.split())
_LEAST_CHARACTERS: Final = 10
"""On average: shorter cells are names, dates and numbers."""
_LEAST_WORDS: Final = 4
"""In a sentence without a full stop: the names of columns are shorter."""
_TIMES_LONGER: Final = 1.5
"""Than any other column: a column without a known name must stand out."""


class ColumnLengths:
    """How long the texts of each column are, in the order of the columns."""

    def __init__(self) -> None:
        self.characters: Counter[str] = Counter()
        self.cells: Counter[str] = Counter()

    def add(self, column: str, cell: str) -> None:
        """Count a cell; one without text counts for nothing, nor does a number."""
        is_text = any(map(str.isalpha, cell))
        self.characters[column] += len(cell) if is_text else 0
        self.cells[column] += is_text

    def mean(self, column: str) -> float:
        """Return the mean length of the texts of a column."""
        return self.characters[column] / max(1, self.cells[column])


def choose_text_column(path: Path, columns: Sequence[str], lengths: ColumnLengths, wanted: str | None) -> str:
    """Return the column of the reviews.

    A column with a known name is chosen, of several the one with the longest texts, also if none has a text; without
    one, the column whose texts are much longer than those of any other.

    Raises:
        ConfigError: the wanted column does not exist, or no column stands out; the message lists the columns.
    """
    listed = listed_names(columns)
    if wanted is not None:
        if wanted in columns:
            return wanted
        raise ConfigError(
            f"{path} has no column {quoted(wanted)}; choose one of: {listed}", path=path, key="text_column"
        )
    by_length = sorted((column for column in columns if lengths.cells[column]), key=lengths.mean, reverse=True)
    named = [column for column in (*by_length, *columns) if _plain(column) in _NAMES]
    if named:
        return named[0]
    if by_length and (len(columns) == 1 or _stands_out(by_length, lengths)):
        return by_length[0]
    raise ConfigError(
        f"{path}: which column holds the reviews? Say --text-column NAME with one of: {listed}",
        path=path,
        key="text_column",
    )


def is_review(column: str, columns: Sequence[str], lengths: ColumnLengths) -> bool:
    """Return whether the name of a column is clearly a review, so that the table has no header.

    A survey may have a question as the name of a column. A word above a column of numbers shows that it is a header.
    """
    if any(not lengths.cells[other] and any(map(str.isalpha, other)) for other in columns):
        return False
    words = column.split()
    is_sentence = len(words) >= _LEAST_WORDS or (len(words) >= 2 and column.endswith((".", "!")))
    return is_sentence and len(column) >= _LEAST_CHARACTERS and not column.endswith(("?", ":"))


def _stands_out(by_length: Sequence[str], lengths: ColumnLengths) -> bool:
    first, *others = map(lengths.mean, by_length)
    return first >= _LEAST_CHARACTERS and all(first >= _TIMES_LONGER * other for other in others)


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
