"""What a store knows about single samples: held in memory, or read again from the store's lines."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, Generic, Protocol, TypeVar

from episodic_absa.memory.columns.source_table import NO_COLUMNS, SourceTable, TableColumns, source_hash

ValueT = TypeVar("ValueT", bound=Hashable)

_MOST_REMEMBERED: Final = 256


class ValuesBySource(Protocol[ValueT]):
    """The values of each sample, by its uid."""

    def add(self, source: str, value: ValueT) -> None:
        """Add the next value in store order."""
        ...

    def of(self, source: str) -> Sequence[ValueT]:
        """Return the values of a sample, oldest first."""
        ...

    def __iter__(self) -> Iterator[str]:
        """Yield the uid of every value, in store order."""
        ...

    def __len__(self) -> int: ...


class HeldValues(Generic[ValueT]):
    """Values in memory, for lines that stand in no open store. Equal values share one object."""

    def __init__(self) -> None:
        self._values: dict[str, list[ValueT]] = {}
        self._sources: list[str] = []
        self._distinct: dict[ValueT, ValueT] = {}

    def add(self, source: str, value: ValueT) -> None:
        """Add the next value."""
        self._values.setdefault(source, []).append(self._distinct.setdefault(value, value))
        self._sources.append(source)

    def of(self, source: str) -> Sequence[ValueT]:
        """Return the values of a sample."""
        return self._values.get(source, ())

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


class FiledValues(Generic[ValueT]):
    """Values that stay in the lines of a store. Memory holds where the lines of a uid stand; few questions need them.

    Args:
        read: returns the uid and the value of the line at an offset.
        offset: returns where the line stands whose value is being added.
        mapped: what a snapshot knows.
    """

    def __init__(
        self, read: Callable[[int], tuple[str, ValueT]], offset: Callable[[], int], mapped: TableColumns = NO_COLUMNS
    ) -> None:
        self._read = read
        self._offset = offset
        self._table = SourceTable(mapped)
        # A sample asks several times about itself, and a person may judge one sample again and again.
        self._remembered: dict[str, list[ValueT]] = {}

    def add(self, source: str, value: ValueT) -> None:
        """Add the value of the line that is being read or was just written."""
        self._table.add(source_hash(source), self._offset())
        remembered = self._remembered.get(source)
        if remembered is not None:
            remembered.append(value)

    def of(self, source: str) -> Sequence[ValueT]:
        """Return the values of a sample, read from the store."""
        values = self._remembered.get(source)
        if values is None:
            offsets = self._table.positions(source_hash(source))
            if not offsets:
                return ()
            values = [value for uid, value in map(self._read, offsets) if uid == source]
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[source] = values
        return values

    def __iter__(self) -> Iterator[str]:
        return (self._read(offset)[0] for offset in self._table)

    def __len__(self) -> int:
        return len(self._table)

    def columns(self) -> TableColumns:
        """Return where the lines stand, as a snapshot keeps it."""
        return self._table.columns()
