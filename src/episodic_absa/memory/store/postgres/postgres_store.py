"""A store of episodes in PostgreSQL: the protocol of the store file, for writers on several machines."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from episodic_absa.errors import ConfigError, DatabaseError, MemoryStoreError
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.store.checked_lines import checked_draft, count_body, numbered_episode, refuse_open_count
from episodic_absa.memory.store.episode_store import DEFAULT_KEEP_LAST_N, DEFAULT_LOCK_TIMEOUT_S
from episodic_absa.memory.store.forked_child import call_in_forked_child
from episodic_absa.memory.store.postgres.line_writer import LineWriter, Receipt
from episodic_absa.memory.store.postgres.store_tables import (
    LOCK_CLASS,
    STATE,
    STORES,
    TABLES,
    StoreState,
    lock_key,
)
from episodic_absa.memory.store.postgres.stored_rows import PostgresEpisodes, StoredRows
from episodic_absa.memory.store.postgres.table_maintenance import check_rows, compact_rows, compute_row_statistics
from episodic_absa.memory.store.store_report import Compacted, Repaired, StoreReport, StoreStatistics
from episodic_absa.postgres.connection import Connection, database_errors
from episodic_absa.postgres.lasting_connection import LastingConnection
from episodic_absa.postgres.location import PostgresLocation
from episodic_absa.postgres.migrations import check_tables, migrate
from episodic_absa.schemas.memory_v1_2 import AnyDraft, AnyEpisode, StoreLine, TallyV1_2, VerdictV1_2
from episodic_absa.serialization.sealed_lines import MAX_LINE_BYTES

ResultT = TypeVar("ResultT")

_LOCK: Final = "SELECT pg_advisory_lock(%s, %s)"
_UNLOCK: Final = "SELECT pg_advisory_unlock(%s, %s)"
_LOCK_HERE: Final = "SELECT pg_advisory_xact_lock(%s, %s)"
_CREATE: Final = f"INSERT INTO {STORES} (name) VALUES (%s)"  # noqa: S608 - a constant


class PostgresStore:
    """The episodes of one store of a database. Nothing is opened before it is needed.

    One connection reads; another one, opened by the first append, writes. An append whose commit was not answered is
    looked up on a new connection, so that it is neither lost nor written twice.

    Args:
        address: `postgresql://host/database?store=NAME`.
        keep_last_n: how many of the newest episodes stay in use.
        catalogue: the principles that episodes may name; by default the shipped ones.
        lock_timeout_s: how long an append waits for another writer.

    Raises:
        ConfigError: `keep_last_n` is below 1.
        MemoryStoreError: the address names no database or holds a password; the database cannot be used.
        MissingExtraError: psycopg is not installed.
    """

    def __init__(
        self,
        address: str,
        *,
        keep_last_n: int = DEFAULT_KEEP_LAST_N,
        catalogue: PrincipleCatalogue | None = None,
        lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
    ) -> None:
        if keep_last_n < 1:
            raise ConfigError(f"keep_last_n must be at least 1, got {keep_last_n}", key="episodic_memory.keep_last_n")
        with _store_errors():
            self._location = PostgresLocation.parse(address)
        self._keep_last_n = keep_last_n
        self._catalogue = catalogue
        self._lock_timeout_s = lock_timeout_s
        self._begin()
        call_in_forked_child(self, PostgresStore._reopen_in_child)

    def _begin(self) -> None:
        # The writers' lock comes before the readers' lock, always: two threads must not wait for each other.
        self._writers, self._readers = threading.RLock(), threading.RLock()
        self._reader: LastingConnection | None = None
        self._writer: LastingConnection | None = None
        self._checked_reader: Connection | None = None
        self._checked_writer: Connection | None = None
        self._locked_on: Connection | None = None
        self._lock_depth = 0
        self._rows = StoredRows(self._fetch, StoreState())
        self._groups: dict[bytes, int] = {}
        self._groups_of = 0

    @property
    def shown(self) -> str:
        """The address, for messages."""
        return self._location.shown

    @property
    def name(self) -> str:
        """The name of the store."""
        return self._location.name

    def exists(self) -> bool:
        """Return whether an append has created the store."""
        return self._state().store_id != 0

    def load(self) -> PostgresEpisodes:
        """Return the live episodes, oldest first, as the store is now."""
        with self._readers:
            state = self._state()
            if (state.store_id, state.generation) != (self._rows.state.store_id, self._rows.state.generation):
                self._rows = StoredRows(self._fetch, state)
            self._rows.read_on(state)
            return PostgresEpisodes(self._rows, state, self._keep_last_n)

    def __len__(self) -> int:
        state = self._state()
        return state.last_number - state.first_live(self._keep_last_n) + 1

    def get(self, episode_id: str) -> AnyEpisode | None:
        """Return the episode with that id, pruned ones included; None if there is none."""
        digits = episode_id.removeprefix("epi_")
        return self.find_episode(int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None

    def find_episode(self, number: int) -> AnyEpisode | None:
        """Return the episode with that number as it was stored; None if there is none."""
        state = self._state()
        if not state.first_number <= number <= state.last_number:
            return None
        return StoredRows(self._fetch, state).stored([number]).get(number)

    def append(self, draft: AnyDraft | Mapping[str, Any], *, tally: TallyV1_2 | None = None) -> AnyEpisode:
        """Write an episode and return it, with its id, once it is on the server's disk.

        Args:
            draft: an episode without id; an id in a mapping is ignored.
            tally: the tally of the same sample, written in the same transaction.

        Raises:
            LeakageError: the episode or the tally holds a forbidden key or free text.
            MemoryStoreError: it breaks the schema, another writer holds the lock, or the database refuses. The store
                is unchanged and no id is used up.
        """
        if self._catalogue is None:
            self._catalogue = load_catalogue()
        checked = checked_draft(draft, self._catalogue)
        tally_body = None if tally is None else _checked_count(tally)

        def write(writer: LineWriter) -> AnyEpisode:
            entry, body = numbered_episode(checked, writer.next_number)
            _refuse_long(body, "episode")
            writer.add_episode(entry, body)
            if tally is not None and tally_body is not None:
                writer.add_tally(tally, tally_body)
            return entry

        return self._append(write)

    def append_tally(self, tally: TallyV1_2) -> None:
        """Write the tally of a sample; return once it is on the server's disk."""
        body = _checked_count(tally)
        self._append(lambda writer: writer.add_tally(tally, body))

    def append_verdict(self, verdict: VerdictV1_2) -> bool:
        """Write what a person said about a result, unless it stands already; return whether it is new."""
        body = _checked_count(verdict)

        def write(writer: LineWriter) -> bool:
            if writer.stands(verdict):
                return False
            writer.add_verdict(verdict, body)
            return True

        return self._append(write)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writers' lock around several appends; each is durable when it returns.

        Raises:
            MemoryStoreError: another writer holds the lock longer than `lock_timeout_s`.
        """
        writers = self._writers
        writers.acquire()
        try:
            if self._lock_depth == 0:
                with _store_errors():
                    self._locked_on = self._opened_writer().run(self._take_lock)
            self._lock_depth += 1
        except BaseException:
            writers.release()
            raise
        try:
            yield
        finally:
            # A forked child leaves a block that its parent entered, without the lock.
            if writers is self._writers:
                self._leave_lock()
                writers.release()

    def lines_of(self, source_id: str) -> Iterator[StoreLine]:
        """Yield the lines of one sample, in their order."""
        state = self._state()
        return StoredRows(self._fetch, state).lines_of(source_id)

    def newest_episodes(self) -> Iterator[AnyEpisode]:
        """Yield all episodes, newest first, as persons judged them, some at a time."""
        state = self._state()
        return PostgresEpisodes(StoredRows(self._fetch, state), state, state.last_number).newest_first()

    def verdicts_on(self, source_id: str) -> tuple[VerdictV1_2, ...]:
        """Return the last verdict per aspect on the result of a sample, in the order in which they were given."""
        last: dict[str | None, VerdictV1_2] = {}
        for line in self.lines_of(source_id):
            if isinstance(line, VerdictV1_2):
                last.pop(line.aspect, None)
                last[line.aspect] = line
        return tuple(last.values())

    def statistics(self) -> StoreStatistics:
        """Count what the store holds; of the episodes only live ones are parsed."""
        with _store_errors(), self._readers:
            state = self._state()
            live = PostgresEpisodes(StoredRows(self._fetch, state), state, DEFAULT_KEEP_LAST_N).newest_first()
            return compute_row_statistics(self._fetch, state, live, (LOCK_CLASS, lock_key(self.name)))

    def check(self) -> StoreReport:
        """Return every row that is bad, and counts that are not those of the rows. Changes nothing."""
        with _store_errors(), self._readers:
            state = self._state()
            if not state.store_id:
                return StoreReport(0, 0, 0, (), (), 0)
            return self._opened_reader().run(lambda connection: check_rows(connection, self.name))

    def repair(self) -> Repaired:
        """Refuse: only somebody who changes rows, or a broken disk, makes them bad.

        Raises:
            MemoryStoreError: always; it says what to do.
        """
        raise MemoryStoreError(
            f"{self.shown} is a store in PostgreSQL, which has no torn lines to repair; if `episodic-absa memory "
            "check` finds bad rows, restore the database from a backup"
        )

    def compact(self, keep_last_n: int, *, upgrade: bool = False) -> Compacted:
        """Remove all but the last `keep_last_n` episodes, in one transaction."""
        if keep_last_n < 1:
            raise MemoryStoreError(f"keep at least one episode, got {keep_last_n}")
        if not self.exists():
            return Compacted(0, 0, 0, 0)

        def attempt(connection: Connection) -> Compacted:
            self._ensure_tables(connection)
            with connection.transaction():
                self._begun(connection)
                return compact_rows(connection, self.name, keep_last_n, upgrade=upgrade)

        with _store_errors(), self._writers:
            return self._opened_writer().run(attempt)

    def close(self) -> None:
        """Close the connections. A later call opens them again."""
        for line in (self._reader, self._writer):
            if line is not None:
                line.close()
        self._reader = self._writer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, work: Callable[[LineWriter], ResultT]) -> ResultT:
        """Do some work in a transaction; return its result once it is committed on disk."""
        unanswered: list[tuple[Receipt, ResultT]] = []

        def attempt(connection: Connection) -> ResultT:
            if self._lock_depth and connection is not self._locked_on:
                raise MemoryStoreError(
                    f"the connection to {self.shown} broke while this process held the writers' lock, and another "
                    "writer may have written since; everything acknowledged is kept; run again"
                )
            self._ensure_tables(connection)
            with connection.transaction():
                writer = LineWriter(connection, self._begun(connection), self._groups)
                if unanswered:
                    receipt, result = unanswered[0]
                    if writer.is_kept(receipt):
                        return result
                    unanswered.clear()
                result = work(writer)
                if writer.receipt is not None:
                    unanswered.append((writer.receipt, result))
                writer.flush()
            self._groups |= writer.new_groups
            return result

        with _store_errors(), self._writers:
            try:
                return self._opened_writer().run(attempt)
            except DatabaseError:
                self._checked_writer = None
                raise

    def _begun(self, connection: Connection) -> StoreState:
        """Take the writers' lock within a transaction; return the row of the store, which is created if need be."""
        connection.execute(_LOCK_HERE, (LOCK_CLASS, lock_key(self.name)))
        rows = connection.execute(STATE, (self.name,)).fetchall()
        if not rows:
            connection.execute(_CREATE, (self.name,))
            rows = connection.execute(STATE, (self.name,)).fetchall()
        state = StoreState(*rows[0])
        if state.store_id != self._groups_of:
            self._groups, self._groups_of = {}, state.store_id
        return state

    def _take_lock(self, connection: Connection) -> Connection:
        connection.execute(_LOCK, (LOCK_CLASS, lock_key(self.name)))
        return connection

    def _leave_lock(self) -> None:
        self._lock_depth -= 1
        connection = self._locked_on
        if self._lock_depth or connection is None:
            return
        self._locked_on = None
        # A connection that broke has given its lock back.
        if not connection.closed:
            with _store_errors(), database_errors(self._location):
                connection.execute(_UNLOCK, (LOCK_CLASS, lock_key(self.name)))

    def _state(self) -> StoreState:
        with _store_errors(), self._readers:
            is_checked = self._checked_reader is not None
            try:
                return self._opened_reader().run(self._read_state)
            except DatabaseError:
                if not is_checked:
                    raise
                # The tables may have been dropped since.
                self._checked_reader = None
                return self._opened_reader().run(self._read_state)

    def _read_state(self, connection: Connection) -> StoreState:
        if self._checked_reader is not connection:
            version = check_tables(connection, self._location, TABLES)
            if not version:
                return StoreState()
            if version < TABLES.version:
                migrate(connection, self._location, TABLES)
            self._checked_reader = connection
        row = connection.execute(STATE, (self.name,)).fetchone()
        return StoreState() if row is None else StoreState(*row)

    def _fetch(self, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        with _store_errors(), self._readers:
            return self._opened_reader().run(
                lambda connection: connection.execute(query.encode(), parameters, binary=True).fetchall()
            )

    def _ensure_tables(self, connection: Connection) -> None:
        if self._checked_writer is not connection:
            migrate(connection, self._location, TABLES)
            self._checked_writer = connection

    def _opened_reader(self) -> LastingConnection:
        if self._reader is None:
            self._reader = LastingConnection(self._location)
        return self._reader

    def _opened_writer(self) -> LastingConnection:
        if self._writer is None:
            self._writer = LastingConnection(self._location, lock_timeout_s=self._lock_timeout_s)
        return self._writer

    def _reopen_in_child(self) -> None:
        """Leave the connections to the parent; the child opens its own."""
        for line in (self._reader, self._writer):
            if line is not None:
                line.leave_to_parent()
        self._begin()


def _checked_count(value: TallyV1_2 | VerdictV1_2) -> bytes:
    refuse_open_count(value)
    body = count_body(value)
    _refuse_long(body, value.kind)
    return body


def _refuse_long(body: bytes, noun: str) -> None:
    if len(body) > MAX_LINE_BYTES:
        raise MemoryStoreError(f"the {noun} is longer than {MAX_LINE_BYTES:,} bytes; nothing is stored")


@contextmanager
def _store_errors() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise MemoryStoreError(str(error)) from error
