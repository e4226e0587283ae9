"""Columns of whole numbers: a few bytes per entry of a store in place of Python objects."""

from array import array
from collections.abc import Sequence
from typing import Final, Literal, overload

NO_NUMBERS: Final = memoryview(b"")
NumberCode = Literal["I", "Q"]
"""As in `array`: I for numbers below 2**32, Q for those below 2**64, B for bytes."""


class NumberColumn:
    """Numbers in the order of a store: those mapped from a snapshot, which never change, then those appended.

    Example:
        >>> column = NumberColumn("I", memoryview(array("I", [3, 5])))
        >>> column.append(8)
        >>> len(column), column[1], column[2]
        (3, 5, 8)
    """

    __slots__ = ("_appended", "_mapped", "_mapped_n", "append")

    def __init__(self, code: NumberCode, mapped: memoryview = NO_NUMBERS) -> None:
        self._mapped = mapped
        self._mapped_n = len(mapped)
        self._appended = array(code)
        self.append = self._appended.append
        """Takes the next number."""

    def __len__(self) -> int:
        return self._mapped_n + len(self._appended)

    def __getitem__(self, place: int) -> int:
        mapped_n = self._mapped_n
        number: int = self._mapped[place] if place < mapped_n else self._appended[place - mapped_n]
        return number

    @property
    def parts(self) -> tuple[memoryview, ...]:
        """All numbers, as the pieces that a file holds one behind the other."""
        return (self._mapped, memoryview(self._appended))


class ColumnTail(Sequence[int]):
    """The numbers of a column from a place on, as they are now; later ones are not seen."""

    def __init__(self, column: NumberColumn, first: int) -> None:
        self._column = column
        self._places = range(first, len(column))

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, position: int) -> int: ...
    @overload
    def __getitem__(self, position: slice) -> list[int]: ...
    def __getitem__(self, position: int | slice) -> int | list[int]:
        if isinstance(position, slice):
            return [self._column[place] for place in self._places[position]]
        return self._column[self._places[position]]
