"""Finds the column that holds the reviews: by its name, or by the length of its texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from episodic_absa.errors import ConfigError

_NAMES: Final = frozenset(
    {
        *("text", "review", "reviews", "reviewtext", "reviewbody", "reviewcontent", "content", "contents", "comment"),
        *("comments", "body", "sentence", "feedback", "message", "opinion", "document"),
        *(
            "리뷰",
            "내용",
            "후기",
            "이용후기",
            "구매후기",
            "상품평",
            "본문",
            "댓글",
            "의견",
            "텍스트",
            "문장",
        ),
    }
)
_LEAST_CHARACTERS: Final = 10
"""On average: shorter cells are names, dates and numbers."""
_TIMES_LONGER: Final = 1.5
"""Than any other column: a column without a known name must stand out."""


@dataclass
class ColumnLengths:
    """How long the texts of each column are."""

    characters: dict[str, int] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)

    def add(self, column: str, cell: str) -> None:
        """Count a cell; one without text counts for nothing, nor does a number."""
        self.characters.setdefault(column, 0)
        self.cells.setdefault(column, 0)
        if any(map(str.isalpha, cell)):
            self.characters[column] += len(cell)
            self.cells[column] += 1

    def mean(self, column: str) -> float:
        """Return the mean length of the texts of a column."""
        return self.characters[column] / max(1, self.cells[column])


def choose_text_column(path: Path, columns: Sequence[str], lengths: ColumnLengths, wanted: str | None) -> str:
    """Return the column of the reviews.

    A column with a known name is chosen, of several the one with the longest texts; without one, the column whose texts
    are much longer than those of any other.

    Raises:
        ConfigError: the wanted column does not exist, or no column stands out; the message lists the columns.
    """
    listed = ", ".join(map(repr, columns)) or "none"
    if wanted is not None:
        if wanted in columns:
            return wanted
        raise ConfigError(f"{path} has no column {wanted!r}; choose one of: {listed}", path=path, key="text_column")
    by_length = sorted((column for column in columns if lengths.cells[column]), key=lengths.mean, reverse=True)
    named = [column for column in by_length if _plain(column) in _NAMES]
    if named:
        return named[0]
    if by_length and (len(columns) == 1 or _stands_out(by_length, lengths)):
        return by_length[0]
    raise ConfigError(
        f"{path}: which column holds the reviews? Say --text-column NAME with one of: {listed}",
        path=path,
        key="text_column",
    )


def _stands_out(by_length: Sequence[str], lengths: ColumnLengths) -> bool:
    first, *others = map(lengths.mean, by_length)
    return first >= _LEAST_CHARACTERS and all(first >= _TIMES_LONGER * other for other in others)


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
