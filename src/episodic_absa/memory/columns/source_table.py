"""Where the lines of a sample stand in a store, by the hash of its uid: about 25 bytes per line, no object."""

from array import array
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Final, NamedTuple, Protocol

from episodic_absa.memory.columns.number_column import NO_NUMBERS

_FIRST_SLOT_N: Final = 8


# The episode and the tally of a sample stand side by side, and each asks about its uid more than once.
@lru_cache(maxsize=64)
def source_hash(source: str) -> int:
    """Return 64 bits that stand for a uid, the same in every process.

    Example:
        >>> source_hash("review-1")
        3667581170250473073
    """
    # A uid that a caller asks about may hold half a surrogate pair; no stored one does.
    return int.from_bytes(blake2b(source.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class TableColumns(NamedTuple):
    """The entries of a table in the order in which they were added, and the slots that find them."""

    hashes: memoryview
    positions: memoryview
    earlier: memoryview
    """The number of the entry before with the same hash; 0 for none. Entries are numbered from 1."""
    slots: memoryview
    """The number of the last entry of a hash, at the hash or at the next free slot; 0 for a free slot."""


NO_COLUMNS: Final = TableColumns(NO_NUMBERS, NO_NUMBERS, NO_NUMBERS, NO_NUMBERS)


class SourceTable:
    """Positions by hash: those mapped from a snapshot, which never change, and those added since.

    Two uids may share a hash, so a caller compares the uid at a position with the one that it looks for.

    Example:
        >>> table = SourceTable()
        >>> for position, uid in enumerate(("r1", "r2", "r1")):
        ...     table.add(source_hash(uid), position)
        >>> table.positions(source_hash("r1")), table.positions(source_hash("r3"))
        ([0, 2], [])
    """

    def __init__(self, mapped: TableColumns = NO_COLUMNS) -> None:
        self._mapped = mapped
        self._hashes, self._positions, self._earlier = array("Q"), array("Q"), array("I")
        self._slots = array("I", bytes(4 * _FIRST_SLOT_N))

    def __len__(self) -> int:
        return len(self._mapped.positions) + len(self._positions)

    def add(self, hashed: int, position: int) -> None:
        """Add an entry; positions ascend."""
        slot = _slot_of(self._slots, self._hashes, hashed)
        self._earlier.append(self._slots[slot])
        self._hashes.append(hashed)
        self._positions.append(position)
        self._slots[slot] = len(self._hashes)
        if 3 * len(self._hashes) > 2 * len(self._slots):
            self._double()

    def positions(self, hashed: int) -> list[int]:
        """Return the positions of a hash, ascending."""
        positions: list[int] = []
        if self._hashes:
            positions = _positions(self._slots, self._hashes, self._positions, self._earlier, hashed)
        if len(self._mapped.hashes):
            mapped = self._mapped
            positions += _positions(mapped.slots, mapped.hashes, mapped.positions, mapped.earlier, hashed)
        positions.reverse()
        return positions

    def __iter__(self) -> Iterator[int]:
        return chain(self._mapped.positions, self._positions)

    def columns(self) -> TableColumns:
        """Return the whole table as one, as a snapshot keeps it."""
        whole = self
        if len(self._mapped.hashes):
            whole = SourceTable()
            for own, mapped in zip((whole._hashes, whole._positions, whole._earlier), self._mapped[:3], strict=True):
                own.frombytes(mapped.cast("B"))
            whole._slots = array("I", self._mapped.slots.tobytes())
            for hashed, position in zip(self._hashes, self._positions, strict=True):
                whole.add(hashed, position)
        return TableColumns(
            memoryview(whole._hashes),
            memoryview(whole._positions),
            memoryview(whole._earlier),
            memoryview(whole._slots),
        )

    def _double(self) -> None:
        slots = array("I", bytes(8 * len(self._slots)))
        for number in self._slots:
            # Only the last entry of a hash stands in a slot: the earlier ones are found through it.
            if number:
                slots[_slot_of(slots, self._hashes, self._hashes[number - 1])] = number
        self._slots = slots


class _Numbers(Protocol):
    """An array or a mapped column."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> int: ...


def _slot_of(slots: _Numbers, hashes: _Numbers, hashed: int) -> int:
    """Return the slot of a hash, or the free one where it belongs. A third of the slots is free."""
    mask = len(slots) - 1
    slot = hashed & mask
    while (number := slots[slot]) and hashes[number - 1] != hashed:
        slot = (slot + 1) & mask
    return slot


def _positions(slots: _Numbers, hashes: _Numbers, positions: _Numbers, earlier: _Numbers, hashed: int) -> list[int]:
    """Return the positions of a hash in one part of a table, the last first."""
    number = slots[_slot_of(slots, hashes, hashed)]
    listed = []
    while number:
        listed.append(positions[number - 1])
        number = earlier[number - 1]
    return listed
