"""How often each term of a language was counted, in the order in which terms first occurred."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from episodic_absa.memory.columns.number_column import NO_NUMBERS


class TermColumns(NamedTuple):
    """Terms sorted by their bytes."""

    text: memoryview
    starts: memoryview
    """Where each term begins in the text, and behind the last one its end."""
    counts: memoryview
    order: memoryview
    """The sorted place of the term that occurred first, second, and so on."""


NO_TERMS: Final = TermColumns(NO_NUMBERS, NO_NUMBERS, NO_NUMBERS, NO_NUMBERS)


class TermCounts:
    """Counts by term: those mapped from a snapshot, and what was counted since.

    Example:
        >>> counts = TermCounts()
        >>> for term in ("room", "bed", "room"):
        ...     counts.add(term)
        >>> counts.of("room"), counts.of("staff"), counts.term(1)
        (2, 0, 'bed')
    """

    def __init__(self, mapped: TermColumns = NO_TERMS) -> None:
        self._mapped = mapped
        self._counts: dict[str, int] = {}
        """Of terms that were added or asked for; the others have the mapped count."""
        self._new: list[str] = []

    def __len__(self) -> int:
        return len(self._mapped.order) + len(self._new)

    def add(self, term: str) -> None:
        """Count a term once more."""
        count = self.of(term)
        if not count:
            self._new.append(term)
        self._counts[term] = count + 1

    def of(self, term: str) -> int:
        """Return how often a term was counted."""
        count = self._counts.get(term)
        if count is None:
            count = self._mapped_count(term)
            if count:
                self._counts[term] = count
        return count or 0

    def term(self, place: int) -> str:
        """Return the term that occurred first at that place among all."""
        mapped_n = len(self._mapped.order)
        return self._new[place - mapped_n] if place >= mapped_n else self._sorted(self._mapped.order[place]).decode()

    def columns(self) -> TermColumns:
        """Return all terms, as a snapshot keeps them."""
        terms = [term.encode() for term in self._in_order()]
        by_bytes = sorted(range(len(terms)), key=terms.__getitem__)
        starts, counts, order = array("Q", [0]), array("Q"), array("I", bytes(4 * len(terms)))
        for sorted_place, place in enumerate(by_bytes):
            starts.append(starts[-1] + len(terms[place]))
            counts.append(self.of(terms[place].decode()))
            order[place] = sorted_place
        text = b"".join(terms[place] for place in by_bytes)
        return TermColumns(memoryview(text), memoryview(starts), memoryview(counts), memoryview(order))

    def _in_order(self) -> Iterator[str]:
        return map(self.term, range(len(self)))

    def _sorted(self, sorted_place: int) -> bytes:
        starts = self._mapped.starts
        return bytes(self._mapped.text[starts[sorted_place] : starts[sorted_place + 1]])

    def _mapped_count(self, term: str) -> int:
        mapped_n = len(self._mapped.order)
        if not mapped_n:
            return 0
        wanted = term.encode("utf-8", "surrogatepass")
        place = bisect_left(range(mapped_n), wanted, key=self._sorted)
        return self._mapped.counts[place] if place < mapped_n and self._sorted(place) == wanted else 0
