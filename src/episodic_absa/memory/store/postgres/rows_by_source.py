"""The tallies and verdicts of single samples, asked of the database."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, Generic, TypeVar

from episodic_absa.memory.store.postgres.store_tables import TALLIES, VERDICTS, Fetch, bad_row, source_key
from episodic_absa.memory.store.store_line import parse_line
from episodic_absa.schemas.memory_v1_2 import StoreLine, TallyV1_2, VerdictV1_2

ValueT = TypeVar("ValueT", bound=Hashable)

_OF_SOURCE: Final = "SELECT body FROM {table} WHERE store_id = %s AND source = %s ORDER BY line"
_ALL: Final = "SELECT body FROM {table} WHERE store_id = %s ORDER BY line"


class RowsBySource(Generic[ValueT]):
    """The values of each sample in one table. Each sample is asked for once; what is added is not written here.

    Args:
        fetch: runs a query.
        store_id: of the store.
        table: with `source`, `line` and `body`.
        value_of: the uid and the value of a line; None for a line that has none.
    """

    def __init__(
        self, fetch: Fetch, store_id: int, table: str, value_of: Callable[[StoreLine], tuple[str, ValueT] | None]
    ) -> None:
        self._fetch = fetch
        self._store_id = store_id
        self._table = table
        self._value_of = value_of
        self._stored: dict[str, list[ValueT]] = {}
        self._added: dict[str, list[ValueT]] = {}

    def add(self, source: str, value: ValueT) -> None:
        """Take a value that is about to be written."""
        self._added.setdefault(source, []).append(value)

    def of(self, source: str) -> Sequence[ValueT]:
        """Return the values of a sample, oldest first."""
        return [*self._of_rows(source), *self._added.get(source, ())]

    def __iter__(self) -> Iterator[str]:
        bodies = self._fetch(_ALL.format(table=self._table), (self._store_id,))
        values = (self._value_of(parse_line(body, bad_row)) for (body,) in bodies)
        return (value[0] for value in values if value is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _of_rows(self, source: str) -> list[ValueT]:
        values = self._stored.get(source)
        if values is None:
            bodies = self._fetch(_OF_SOURCE.format(table=self._table), (self._store_id, source_key(source)))
            found = (self._value_of(parse_line(body, bad_row)) for (body,) in bodies)
            # Two uids may share a hash.
            values = self._stored[source] = [value[1] for value in found if value is not None and value[0] == source]
        return values


def verdicts_by_source(fetch: Fetch, store_id: int) -> RowsBySource[VerdictV1_2]:
    """Return the verdicts of persons."""
    return RowsBySource(fetch, store_id, VERDICTS, _verdict)


def tallies_by_source(fetch: Fetch, store_id: int) -> RowsBySource[TallyV1_2]:
    """Return the tallies of samples; of several of one sample the first counts."""
    return RowsBySource(fetch, store_id, TALLIES, _tally)


def _verdict(line: StoreLine) -> tuple[str, VerdictV1_2] | None:
    return (line.source_id, line) if isinstance(line, VerdictV1_2) else None


def _tally(line: StoreLine) -> tuple[str, TallyV1_2] | None:
    return (line.source_id, line) if isinstance(line, TallyV1_2) else None
