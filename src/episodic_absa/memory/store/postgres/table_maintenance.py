"""Counts, checks and compacts a store in PostgreSQL."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.memory.store.checked_lines import remarks_on, upgraded_body
from episodic_absa.memory.store.postgres.episode_groups import GROUP_COLUMNS, GroupKey
from episodic_absa.memory.store.postgres.line_writer import group_in
from episodic_absa.memory.store.postgres.store_tables import (
    EPISODES,
    GROUPS,
    LANGUAGES,
    STORES,
    TALLIES,
    VERDICTS,
    Fetch,
    StoreState,
    bad_row,
    read_state,
    source_key,
)
from episodic_absa.memory.store.postgres.stored_rows import source_of
from episodic_absa.memory.store.store_line import parse_line
from episodic_absa.memory.store.store_lock import LockState
from episodic_absa.memory.store.store_report import (
    Compacted,
    Finding,
    StoreReport,
    StoreSize,
    StoreStatistics,
    store_statistics,
)
from episodic_absa.postgres.connection import Connection
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1
from episodic_absa.schemas.memory_v1_2 import AnyEpisode, StoreLine, TallyV1_2, VerdictV1_2

_PAGE: Final = 1000
_SNAPSHOT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_SIZE: Final = " UNION ALL ".join(
    f"SELECT coalesce(sum(pg_column_size(line.*)), 0)::bigint FROM {table} AS line WHERE store_id = %(store_id)s"  # noqa: S608
    for table in (EPISODES, TALLIES, VERDICTS)
)
_IS_HELD: Final = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND classid = %s::bigint::oid AND objid = (%s::bigint & 4294967295)::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_REVIEWS: Final = f"SELECT language, review_n FROM {LANGUAGES} WHERE store_id = %s"  # noqa: S608
_VERDICTS: Final = f"SELECT line, source, body FROM {VERDICTS} WHERE store_id = %s ORDER BY line"  # noqa: S608
_EPISODE_PAGE: Final = f"""
SELECT number, line, group_id, source, body FROM {EPISODES}
WHERE store_id = %s AND number > %s ORDER BY number LIMIT {_PAGE}
"""  # noqa: S608 - constants
_TALLY_PAGE: Final = f"""
SELECT line, source, counts, body FROM {TALLIES} WHERE store_id = %s AND line > %s ORDER BY line LIMIT {_PAGE}
"""  # noqa: S608 - constants
_GROUPS: Final = f"SELECT group_id, {GROUP_COLUMNS} FROM {GROUPS} WHERE store_id = %s"  # noqa: S608
_DROP_EPISODES: Final = f"DELETE FROM {EPISODES} WHERE store_id = %s AND number < %s"  # noqa: S608
_DROP_TALLIES: Final = f"DELETE FROM {TALLIES} WHERE store_id = %s AND NOT counts"  # noqa: S608
_DROP_VERDICTS: Final = f"DELETE FROM {VERDICTS} WHERE store_id = %s AND line = ANY(%s::bigint[])"  # noqa: S608
_REWRITE: Final = f"UPDATE {EPISODES} SET body = %s, group_id = %s WHERE store_id = %s AND number = %s"  # noqa: S608
_NEXT_GENERATION: Final = f"""
UPDATE {STORES} SET generation = generation + 1, first_number = %s, last_group = greatest(last_group, %s)
WHERE store_id = %s
"""  # noqa: S608 - constants


class _Row(NamedTuple):
    """A line as its row holds it."""

    line: int
    source: int
    body: bytes
    number: int = 0
    group_id: int = 0
    counts: bool = True


def compute_row_statistics(
    fetch: Fetch, state: StoreState, live: Iterable[AnyEpisode], lock: tuple[int, int]
) -> StoreStatistics:
    """Return the statistics of a store.

    Args:
        fetch: runs a query.
        state: the row of the store.
        live: the live episodes, newest first.
        lock: class and number of the writers' lock.
    """
    if not state.store_id:
        return store_statistics(StoreSize(0, 0, None, "none"), (), {}, {})
    wanted: Any = {"store_id": state.store_id}
    episode_n = state.last_number - state.first_number + 1
    ((holder_n,),) = fetch(_IS_HELD, lock)
    held: LockState = "held" if holder_n else "free"
    size = StoreSize(
        episode_n=episode_n,
        bytes_on_disk=sum(bytes_n for (bytes_n,) in fetch(_SIZE, wanted)),
        first_id=f"epi_{state.first_number:06d}" if episode_n else None,
        lock=held,
    )
    standing: dict[tuple[str, str | None], str] = {}
    for _, _, body in fetch(_VERDICTS, (state.store_id,)):
        verdict = parse_line(body, bad_row)
        if isinstance(verdict, VerdictV1_2):
            standing[verdict.source_id, verdict.aspect] = verdict.verdict
    reviews: dict[str, int] = dict(fetch(_REVIEWS, (state.store_id,)))
    return store_statistics(size, live, reviews, Counter(standing.values()))


def check_rows(connection: Connection, name: str) -> StoreReport:
    """Return everything that is wrong with a store, from one snapshot of the database."""
    with connection.transaction():
        connection.execute(_SNAPSHOT)
        fetch = partial(_fetch, connection)
        return _Check(fetch, read_state(fetch, name)).report()


class _Check:
    """Reads every row, and counts again what the tables count."""

    def __init__(self, fetch: Fetch, state: StoreState) -> None:
        self._fetch = fetch
        self._state = state
        self._catalogue = load_catalogue()
        self._groups = {row[0]: GroupKey(*row[1:]) for row in fetch(_GROUPS, (state.store_id,))}
        self._bad: list[Finding] = []
        self._remarks: list[Finding] = []
        self._lines = Counter[str]()
        self._reviews = Counter[str]()
        self._tally_sources: set[str] = set()

    def report(self) -> StoreReport:
        """Return what is wrong."""
        expected = self._state.first_number
        for row in _episodes(self._fetch, self._state.store_id):
            if row.number != expected:
                self._bad.append(Finding(row.line, f"the episodes from epi_{expected:06d} on to here are missing"))
            expected = row.number + 1
            self._examine(row)
        if expected != self._state.last_number + 1:
            self._bad.append(Finding(self._state.line_n, f"the episodes from epi_{expected:06d} on are missing"))
        for row in _tallies(self._fetch, self._state.store_id):
            self._examine(row)
        for row in _verdicts(self._fetch, self._state.store_id):
            self._examine(row)
        return StoreReport(
            episode_n=self._lines["episode"],
            tally_n=self._lines["tally"],
            verdict_n=self._lines["verdict"],
            bad_lines=tuple(sorted(self._bad)),
            remarks=tuple(sorted(self._remarks)),
            torn_bytes=0,
            damage=() if self._bad else tuple(self._wrong_counts()),
        )

    def _examine(self, row: _Row) -> None:
        try:
            line = parse_line(row.body, MemoryStoreError)
        except MemoryStoreError as error:
            self._bad.append(Finding(row.line, str(error)))
            return
        if problem := self._problem(row, line):
            self._bad.append(Finding(row.line, problem))
            return
        self._remarks += (Finding(row.line, remark) for remark in remarks_on(line, row.body, self._catalogue))
        self._count(row, line)

    def _problem(self, row: _Row, line: StoreLine) -> str:
        if source_key(source_of(line)) != row.source:
            return "the row has the source of another line"
        is_episode = not isinstance(line, TallyV1_2 | VerdictV1_2)
        if is_episode != bool(row.number):
            return "the row is in the table of another kind"
        if isinstance(line, TallyV1_2 | VerdictV1_2):
            return ""
        if line.episode_id != f"epi_{row.number:06d}":
            return f"{line.episode_id} stands in the row of epi_{row.number:06d}"
        return "" if self._groups.get(row.group_id) == GroupKey.of(line) else "the row has the group of another episode"

    def _count(self, row: _Row, line: StoreLine) -> None:
        if isinstance(line, VerdictV1_2):
            self._lines["verdict"] += 1
        elif isinstance(line, TallyV1_2):
            self._lines["tally"] += 1
            if (line.source_id not in self._tally_sources) != row.counts:
                self._bad.append(Finding(row.line, "of several tallies of a source another one counts than the first"))
            elif row.counts:
                self._tally_sources.add(line.source_id)
                self._reviews[line.language] += 1
        else:
            self._lines["episode"] += 1

    def _wrong_counts(self) -> Iterator[str]:
        if dict(self._fetch(_REVIEWS, (self._state.store_id,))) != dict(self._reviews):
            yield "the table tally_languages does not count what the tallies hold"


def compact_rows(connection: Connection, name: str, keep_last_n: int, *, upgrade: bool) -> Compacted:
    """Remove old episodes and everything that does not count; the caller holds the writers' lock and commits."""
    fetch = partial(_fetch, connection)
    state = read_state(fetch, name)
    store_id, first = state.store_id, state.first_live(keep_last_n)
    wanted: Any = {"store_id": store_id}
    bytes_before = sum(bytes_n for (bytes_n,) in fetch(_SIZE, wanted))
    connection.execute(_DROP_EPISODES, (store_id, first))
    connection.execute(_DROP_TALLIES, (store_id,))
    last: dict[tuple[str, str | None], int] = {}
    replaced = []
    for row in _verdicts(fetch, store_id):
        verdict = parse_line(row.body, bad_row)
        if isinstance(verdict, VerdictV1_2):
            if (earlier := last.get((verdict.source_id, verdict.aspect))) is not None:
                replaced.append(earlier)
            last[verdict.source_id, verdict.aspect] = row.line
    connection.execute(_DROP_VERDICTS, (store_id, replaced))
    last_group = 0
    for row in _episodes(fetch, store_id) if upgrade else ():
        episode = parse_line(row.body, bad_row)
        if isinstance(episode, EpisodicMemoryEntryV1_1):
            body = upgraded_body(episode)
            episode = parse_line(body, bad_row)
            if isinstance(episode, TallyV1_2 | VerdictV1_2):
                raise bad_row("an episode is of another kind")
            key = GroupKey.of(episode)
            group_id = group_in(connection, store_id, key, key.digest)
            connection.execute(_REWRITE, (body, group_id, store_id, row.number))
            last_group = max(last_group, group_id)
    connection.execute(_NEXT_GENERATION, (first, last_group, store_id))
    return Compacted(
        kept_n=state.last_number - first + 1,
        dropped_n=first - state.first_number,
        bytes_before=bytes_before,
        bytes_after=sum(bytes_n for (bytes_n,) in fetch(_SIZE, wanted)),
    )


def _episodes(fetch: Fetch, store_id: int) -> Iterator[_Row]:
    number = 0
    while page := fetch(_EPISODE_PAGE, (store_id, number)):
        for number, line, group_id, source, body in page:
            yield _Row(line, source, body, number, group_id)


def _tallies(fetch: Fetch, store_id: int) -> Iterator[_Row]:
    line = 0
    while page := fetch(_TALLY_PAGE, (store_id, line)):
        for line, source, counts, body in page:
            yield _Row(line, source, body, counts=counts)


def _verdicts(fetch: Fetch, store_id: int) -> Iterator[_Row]:
    return (_Row(line, source, body) for line, source, body in fetch(_VERDICTS, (store_id,)))


def _fetch(connection: Connection, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = connection.execute(query.encode(), parameters, binary=True).fetchall()
    return rows
