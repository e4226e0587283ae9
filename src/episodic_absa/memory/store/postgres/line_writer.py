"""Writes lines to the tables of a store within one transaction, under the writers' lock."""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.retrieval.known_samples import KnownSamples
from episodic_absa.memory.store.postgres.episode_groups import GROUP_COLUMNS, GroupKey
from episodic_absa.memory.store.postgres.rows_by_source import tallies_by_source, verdicts_by_source
from episodic_absa.memory.store.postgres.store_tables import (
    EPISODES,
    GROUPS,
    LANGUAGES,
    STORES,
    TALLIES,
    VERDICTS,
    StoreState,
    fetch_nothing,
    source_key,
)
from episodic_absa.postgres.connection import Connection
from episodic_absa.schemas.memory_v1_2 import AnyEpisode, TallyV1_2, VerdictV1_2

_ADD_EPISODES: Final = f"""
INSERT INTO {EPISODES} (store_id, token, number, line, group_id, source, body)
SELECT %s, %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bytea[])
"""  # noqa: S608 - constants
_ADD_TALLIES: Final = f"""
INSERT INTO {TALLIES} (store_id, token, line, source, counts, body)
SELECT %s, %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::boolean[], %s::bytea[])
"""  # noqa: S608 - constants
_ADD_VERDICT: Final = f"INSERT INTO {VERDICTS} (store_id, token, line, source, body) VALUES (%s, %s, %s, %s, %s)"  # noqa: S608
_WRITTEN_BY: Final = "SELECT token FROM {table} WHERE store_id = %s AND {column} = %s"
_ADD_GROUP: Final = f"""
INSERT INTO {GROUPS} (store_id, digest, {GROUP_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
RETURNING group_id
"""  # noqa: S608 - constants
_FIND_GROUP: Final = f"SELECT group_id FROM {GROUPS} WHERE store_id = %s AND digest = %s"  # noqa: S608
_COUNT_REVIEWS: Final = f"""
INSERT INTO {LANGUAGES} AS known (store_id, language, review_n) VALUES (%s, %s, %s)
ON CONFLICT (store_id, language) DO UPDATE SET review_n = known.review_n + excluded.review_n
"""  # noqa: S608 - constants
_ADVANCE: Final = f"""
UPDATE {STORES} SET last_number = %s, line_n = %s, verdict_n = verdict_n + %s, last_group = greatest(last_group, %s)
WHERE store_id = %s
"""  # noqa: S608 - constants


class Receipt(NamedTuple):
    """Names a line by what no other append writes."""

    generation: int
    table: str
    column: str
    key: int
    token: int


class LineWriter:
    """Takes lines in their order; `flush` writes them. The caller commits.

    Args:
        connection: in a transaction that holds the writers' lock.
        state: the row of the store.
        groups: the ids of known groups by digest.
    """

    def __init__(self, connection: Connection, state: StoreState, groups: Mapping[bytes, int]) -> None:
        self._connection = connection
        self._state = state
        self._store_id = state.store_id
        self._token = secrets.randbits(63)
        self._groups = groups
        self._last_number = state.last_number
        self._line_n = state.line_n
        self.new_groups: dict[bytes, int] = {}
        """Groups that this transaction found or made. They count once it is committed."""
        # Most stores have no verdict, and every episode asks for those on its sample.
        self._samples = KnownSamples(
            tallies_by_source(self.fetch if state.line_n else fetch_nothing, self._store_id),
            verdicts_by_source(self.fetch if state.verdict_n else fetch_nothing, self._store_id),
        )
        self._begin()

    def _begin(self) -> None:
        self._episode_rows: list[tuple[int, int, int, int, bytes]] = []
        self._tally_rows: list[tuple[int, int, bool, bytes]] = []
        self._verdict_rows: list[tuple[int, int, bytes]] = []
        self._review_n = Counter[str]()

    def fetch(self, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a query within the transaction."""
        rows: list[tuple[Any, ...]] = self._connection.execute(query.encode(), parameters, binary=True).fetchall()
        return rows

    @property
    def next_number(self) -> int:
        """The number of the next episode."""
        return self._last_number + 1

    def stands(self, verdict: VerdictV1_2) -> bool:
        """Return whether the last verdict about a source and an aspect says the same."""
        return self._samples.verdicts_on(verdict.source_id).get(verdict.aspect) == verdict.verdict

    def add_episode(self, episode: AnyEpisode, body: bytes) -> None:
        """Take the episode of the next number."""
        source_id = episode.provenance.source_id
        self._last_number += 1
        self._line_n += 1
        row = (self._last_number, self._line_n, self._group_of(episode), source_key(source_id), body)
        self._episode_rows.append(row)

    def add_tally(self, tally: TallyV1_2, body: bytes) -> None:
        """Take a tally; it counts unless its source has one."""
        counts = not self._samples.is_tallied(tally.source_id)
        self._line_n += 1
        self._tally_rows.append((self._line_n, source_key(tally.source_id), counts, body))
        self._samples.add_tally(tally)
        if counts:
            self._review_n[tally.language] += 1

    def add_verdict(self, verdict: VerdictV1_2, body: bytes) -> None:
        """Take a verdict; it replaces an earlier one about the same source and aspect."""
        self._line_n += 1
        self._samples.add_verdict(verdict)
        self._verdict_rows.append((self._line_n, source_key(verdict.source_id), body))

    @property
    def receipt(self) -> "Receipt | None":
        """What shows later whether the lines that wait for `flush` were committed; None if there are none."""
        for table, column, rows in (
            (EPISODES, "number", self._episode_rows),
            (TALLIES, "line", self._tally_rows),
            (VERDICTS, "line", self._verdict_rows),
        ):
            if rows:
                return Receipt(self._state.generation, table, column, rows[-1][0], self._token)
        return None

    def is_kept(self, receipt: "Receipt") -> bool:
        """Return whether an earlier transaction was committed.

        Raises:
            MemoryStoreError: nobody can know: the store was compacted since.
        """
        query = _WRITTEN_BY.format(table=receipt.table, column=receipt.column)
        found = self.fetch(query, (self._store_id, receipt.key))
        if not found and self._state.generation != receipt.generation:
            raise MemoryStoreError(
                "the connection to the database broke during an append, and the store was compacted before it came "
                "back; whether the append was stored is not known; look with `episodic-absa memory list`"
            )
        return found == [(receipt.token,)]

    def flush(self) -> None:
        """Write what was taken since the last call."""
        store_id, token, execute = self._store_id, self._token, self._connection.execute
        # The statements travel together and are answered together.
        with self._connection.pipeline():
            if self._episode_rows:
                execute(_ADD_EPISODES, (store_id, token, *map(list, zip(*self._episode_rows, strict=True))))
            if self._tally_rows:
                execute(_ADD_TALLIES, (store_id, token, *map(list, zip(*self._tally_rows, strict=True))))
            for line, source, body in self._verdict_rows:
                execute(_ADD_VERDICT, (store_id, token, line, source, body))
            self._count_reviews()
            last_group = max(self.new_groups.values(), default=0)
            execute(_ADVANCE, (self._last_number, self._line_n, len(self._verdict_rows), last_group, store_id))
        self._begin()

    def _count_reviews(self) -> None:
        for language, review_n in self._review_n.items():
            self._connection.execute(_COUNT_REVIEWS, (self._store_id, language, review_n))

    def _group_of(self, episode: AnyEpisode) -> int:
        key = GroupKey.of(episode)
        digest = key.digest
        group_id = self._groups.get(digest) or self.new_groups.get(digest)
        if group_id is None:
            group_id = self.new_groups[digest] = group_in(self._connection, self._store_id, key, digest)
        return group_id


def group_in(connection: Connection, store_id: int, key: GroupKey, digest: bytes) -> int:
    """Return the id of a group, which is made if there is none. The caller holds the writers' lock."""
    rows = connection.execute(_FIND_GROUP, (store_id, digest)).fetchall()
    rows = rows or connection.execute(_ADD_GROUP, (store_id, digest, *key)).fetchall()
    ((group_id,),) = rows
    return int(group_id)
