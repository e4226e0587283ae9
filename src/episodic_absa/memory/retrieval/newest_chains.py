"""The newest episodes of each key, as links from an episode to the one before it: 8 bytes per episode and no list."""

from array import array
from typing import Final

from episodic_absa.memory.columns.column_file import Column, Columns, MappedColumns
from episodic_absa.memory.columns.number_column import NumberColumn

_NONE: Final = 0


class NewestChains:
    """For each key its episodes, newest first. Every episode belongs to one key. Keys are numbered from 0.

    Args:
        sources: the hash of each episode's source, by ordinal. Sources with equal hashes of 64 bits count as one.
    """

    def __init__(self, sources: NumberColumn) -> None:
        self._sources = sources
        # Links are ordinals plus 1: a store has fewer than 2**32 episodes.
        self._last = array("I")
        self._before = NumberColumn("I")
        self._before_of_other_source = NumberColumn("I")

    def new_key(self) -> int:
        """Return the number of a further key, which has no episode yet."""
        self._last.append(_NONE)
        return len(self._last) - 1

    def push(self, key: int, ordinal: int) -> None:
        """Add the next episode. Its source is known already."""
        last = self._last[key]
        self._before.append(last)
        if last and self._sources[last - 1] == self._sources[ordinal]:
            last = self._before_of_other_source[last - 1]
        self._before_of_other_source.append(last)
        self._last[key] = ordinal + 1

    def is_live(self, key: int, first_live: int) -> bool:
        """Return whether the newest episode of a key is not pruned."""
        return self._last[key] > first_live

    def newest(self, key: int, first_live: int, excluded: int | None, most: int) -> list[int]:
        """Return the ordinals of the newest episodes of a key, newest first.

        Args:
            key: its number.
            first_live: the ordinal of the oldest episode that counts.
            excluded: the hash of a source whose episodes do not count.
            most: how many are wanted.
        """
        ordinals: list[int] = []
        link = self._last[key]
        while link > first_live and len(ordinals) < most:
            if excluded is not None and self._sources[link - 1] == excluded:
                link = self._before_of_other_source[link - 1]
            else:
                ordinals.append(link - 1)
                link = self._before[link - 1]
        return ordinals

    def save(self, name: str, columns: Columns) -> None:
        """Put the links into the columns of a snapshot."""
        columns[f"{name}.last"] = Column("I", (memoryview(self._last),))
        columns[f"{name}.before"] = Column("I", self._before.parts)
        columns[f"{name}.before_of_other_source"] = Column("I", self._before_of_other_source.parts)

    def restore(self, name: str, columns: MappedColumns) -> None:
        """Load the links of a snapshot."""
        self._last = array("I", columns.numbers(f"{name}.last").tobytes())
        self._before = NumberColumn("I", columns.numbers(f"{name}.before"))
        self._before_of_other_source = NumberColumn("I", columns.numbers(f"{name}.before_of_other_source"))
