"""Writes lines to the tables of a store within one transaction, under the writers' lock."""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.retrieval.experience_counts import ExperienceCounts
from episodic_absa.memory.retrieval.familiarity_counts import CountedTally
from episodic_absa.memory.store.postgres.episode_groups import GROUP_COLUMNS, GroupKey, joined
from episodic_absa.memory.store.postgres.past_rows import ANY_LENGTH, ANY_NUMBER
from episodic_absa.memory.store.postgres.rows_by_source import (
    cases_by_source,
    tallies_by_source,
    verdicts_by_source,
)
from episodic_absa.memory.store.postgres.store_tables import (
    EPISODES,
    EXPERIENCE,
    GROUPS,
    LANGUAGES,
    STORES,
    TALLIES,
    TERMS,
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
_COUNT: Final = f"""
INSERT INTO {EXPERIENCE} AS known
SELECT %s, * FROM unnest(
    %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[]
)
ON CONFLICT (store_id, language, structures, length_bucket, num_aspects, kind) DO UPDATE SET
    confirmed = known.confirmed + excluded.confirmed,
    contradicted = known.contradicted + excluded.contradicted,
    still_open = known.still_open + excluded.still_open
"""  # noqa: S608 - constants
_ADD_LANGUAGE: Final = f"INSERT INTO {LANGUAGES} (store_id, language) VALUES (%s, %s) ON CONFLICT DO NOTHING"  # noqa: S608
# Terms keep the place of their first occurrence.
_COUNT_TERMS: Final = f"""
WITH arrived AS (
    SELECT * FROM unnest(%(terms)s::bytea[], %(counts)s::bigint[]) WITH ORDINALITY AS arrived (term, n, place)
), known AS (
    UPDATE {TERMS} AS known SET seen_in = known.seen_in + arrived.n FROM arrived
    WHERE known.store_id = %(store_id)s AND known.language = %(language)s AND known.term = arrived.term
    RETURNING known.term
), added AS (
    INSERT INTO {TERMS} (store_id, language, term, place, seen_in)
    SELECT %(store_id)s, %(language)s, arrived.term,
        language.term_n + row_number() OVER (ORDER BY arrived.place) - 1, arrived.n
    FROM arrived, {LANGUAGES} AS language
    WHERE arrived.term NOT IN (SELECT term FROM known)
        AND language.store_id = %(store_id)s AND language.language = %(language)s
    RETURNING 1
)
UPDATE {LANGUAGES} SET review_n = review_n + %(review_n)s, term_n = term_n + (SELECT count(*) FROM added)
WHERE store_id = %(store_id)s AND language = %(language)s
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
        self._verdicts = verdicts_by_source(self.fetch if state.verdict_n else fetch_nothing, self._store_id)
        lines = self.fetch if state.line_n else fetch_nothing
        self._cases, self._tallies = cases_by_source(lines, self._store_id), tallies_by_source(lines, self._store_id)
        self._begin()

    def _begin(self) -> None:
        # Counts from nothing: what `flush` adds to the rows.
        self._experience = ExperienceCounts(self._cases, self._verdicts)
        self._episode_rows: list[tuple[int, int, int, int, bytes]] = []
        self._tally_rows: list[tuple[int, int, bool, bytes]] = []
        self._verdict_rows: list[tuple[int, int, bytes]] = []
        self._terms: dict[str, Counter[str]] = {}
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
        return dict(self._verdicts.of(verdict.source_id)).get(verdict.aspect) == verdict.verdict

    def add_episode(self, episode: AnyEpisode, body: bytes) -> None:
        """Take the episode of the next number."""
        source_id = episode.provenance.source_id
        self._last_number += 1
        self._line_n += 1
        row = (self._last_number, self._line_n, self._group_of(episode), source_key(source_id), body)
        self._experience.add(episode)
        self._episode_rows.append(row)

    def add_tally(self, tally: TallyV1_2, body: bytes) -> None:
        """Take a tally; it counts unless its source has one."""
        counts = not self._tallies.of(tally.source_id)
        self._line_n += 1
        self._tally_rows.append((self._line_n, source_key(tally.source_id), counts, body))
        counted = CountedTally.of(tally)
        self._tallies.add(tally.source_id, counted)
        if counts:
            self._review_n[counted.language] += 1
            self._terms.setdefault(counted.language, Counter()).update(counted.terms)

    def add_verdict(self, verdict: VerdictV1_2, body: bytes) -> None:
        """Take a verdict; it replaces an earlier one about the same source and aspect."""
        self._line_n += 1
        self._experience.add_verdict(verdict)
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
            self._count_terms()
            count_experience(self._connection, store_id, self._experience)
            last_group = max(self.new_groups.values(), default=0)
            execute(_ADVANCE, (self._last_number, self._line_n, len(self._verdict_rows), last_group, store_id))
        self._begin()

    def _count_terms(self) -> None:
        for language, review_n in self._review_n.items():
            terms = self._terms.get(language, Counter())
            self._connection.execute(_ADD_LANGUAGE, (self._store_id, language))
            self._connection.execute(
                _COUNT_TERMS,
                {
                    "store_id": self._store_id,
                    "language": language,
                    "terms": [term.encode() for term in terms],
                    "counts": list(terms.values()),
                    "review_n": review_n,
                },
            )

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


def count_experience(connection: Connection, store_id: int, counts: ExperienceCounts) -> None:
    """Add counts to the rows of a store."""
    rows = list(experience_rows(counts))
    if rows:
        connection.execute(_COUNT, (store_id, *map(list, zip(*rows, strict=True))))


def experience_rows(counts: ExperienceCounts) -> Iterator[tuple[Any, ...]]:
    """Yield counts as the columns of a row."""
    for cell, by_kind in counts.state().cells:
        length = cell.length_bucket or ANY_LENGTH
        aspects = ANY_NUMBER if cell.num_aspects is None else cell.num_aspects
        for kind, held in by_kind.items():
            yield (cell.language, joined(cell.structures), length, aspects, kind, *held)
