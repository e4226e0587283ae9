"""A store of episodes, tallies and verdicts: one JSON line each, appended durably.

This module never rewrites the file: the index hides all but the last `keep_last_n` episodes, and
`store_maintenance` compacts or repairs the file.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from episodic_absa.errors import ConfigError, InputError, MemoryStoreError
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.store.bad_line import torn_path
from episodic_absa.memory.store.checked_lines import checked_draft, count_body, numbered_episode, refuse_open_count
from episodic_absa.memory.store.episode_store import DEFAULT_KEEP_LAST_N, DEFAULT_LOCK_TIMEOUT_S
from episodic_absa.memory.store.forked_child import call_in_forked_child
from episodic_absa.memory.store.index_snapshot import SNAPSHOT_AFTER
from episodic_absa.memory.store.reading.newest_episodes import (
    find_episode,
    lines_of_sample,
    newest_episodes,
    verdicts_on,
)
from episodic_absa.memory.store.store_file import refuse_other_file, refuse_special_file
from episodic_absa.memory.store.store_lock import StoreLock
from episodic_absa.memory.store.store_maintenance import check_store, compact_store, repair_store
from episodic_absa.memory.store.store_report import Compacted, Repaired, StoreReport, StoreStatistics
from episodic_absa.memory.store.store_statistics import compute_store_statistics
from episodic_absa.memory.store.store_tail import StoredEpisodes, StoreTail
from episodic_absa.postgres.location import is_postgres
from episodic_absa.schemas.memory_v1_2 import AnyDraft, AnyEpisode, StoreLine, TallyV1_2, VerdictV1_2
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.durable_file import DurableFile, FsyncFailedError
from episodic_absa.serialization.redaction import credential_in
from episodic_absa.serialization.sealed_lines import MAX_LINE_BYTES

logger = logging.getLogger("episodic_absa.memory")


class MemoryStore:
    """The episodes of one JSONL file. Nothing is opened before it is needed; nothing is created before an append.

    Args:
        path: the file.
        keep_last_n: how many of the newest episodes stay in use. The file keeps all of them.
        catalogue: the principles that episodes may name; by default the shipped ones.
        lock_timeout_s: how long an append waits for another writer.
        open_file: opens the file for appending; tests put a failing disk here.
        snapshot_after: how many lines the store has beyond its snapshot before one is written; 0 uses none.

    Raises:
        InputError: `path` is no path.
        ConfigError: `keep_last_n` is below 1.
        MemoryStoreError: the file cannot be read or written safely.

    Example:
        >>> from episodic_absa import MemoryStore, analyze
        >>> result = analyze("The room was clean, but the breakfast was cold.", condition="C2", store="memory.jsonl")
        >>> with MemoryStore("memory.jsonl") as store:
        ...     [episode.episode_id for episode in store.load()]
        ['epi_000001']
    """

    def __init__(
        self,
        path: str | Path,
        *,
        keep_last_n: int = DEFAULT_KEEP_LAST_N,
        catalogue: PrincipleCatalogue | None = None,
        lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
        open_file: Callable[[Path], DurableFile] = DurableFile,
        snapshot_after: int = SNAPSHOT_AFTER,
    ) -> None:
        if keep_last_n < 1:
            raise ConfigError(f"keep_last_n must be at least 1, got {keep_last_n}", key="episodic_memory.keep_last_n")
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"the store must be a path, got {type(path).__name__}", argument="store")
        if not str(path):
            raise InputError("the path of the store is empty; name a .jsonl file", argument="store")
        if is_postgres(path):
            raise InputError(
                "a MemoryStore is a file; open_store(...) opens a store in PostgreSQL, too", argument="store"
            )
        if credential_in(str(path)):
            raise InputError("the path of the store holds a password; name a .jsonl file", argument="store")
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError) as error:
            raise MemoryStoreError(
                f"cannot resolve the store path {path}: {error}; check the path", path=Path(path)
            ) from error
        refuse_special_file(self.path)
        # Threads may share a store for single calls. Only one thread at a time may iterate over episodes.
        self._threads = threading.RLock()
        self._catalogue = catalogue
        self._open_file = open_file
        self._lock_timeout_s = lock_timeout_s
        self._lock = StoreLock(self.path, timeout_s=lock_timeout_s)
        self._writer: DurableFile | None = None
        self._fsync_failed = False
        self._keep_last_n = keep_last_n
        self._snapshot_after = snapshot_after
        self._tail = StoreTail(self.path, keep_last_n, snapshot_after)
        call_in_forked_child(self, MemoryStore._reopen_in_child)

    @property
    def shown(self) -> str:
        """The path, for messages."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def exists(self) -> bool:
        """Return whether there is a file, and refuse one that is no store."""
        if not self.path.exists():
            return False
        refuse_other_file(self.path)
        return True

    def load(self) -> StoredEpisodes:
        """Return the live episodes, oldest first. The first call reads the file, later calls what was appended since.

        Raises:
            MemoryStoreError: the file cannot be read, or a line is no episode. The message names the line.
        """
        with self._threads:
            self._follow()
            return StoredEpisodes(self._tail)

    def __len__(self) -> int:
        return len(self.load())

    def get(self, episode_id: str) -> AnyEpisode | None:
        """Return the episode with that id, pruned ones included; None if there is none."""
        with self._threads:
            self._follow()
            return self._tail.find(episode_id)

    def append(self, draft: AnyDraft | Mapping[str, Any], *, tally: TallyV1_2 | None = None) -> AnyEpisode:
        """Write an episode and return it, with its id, once it is on disk.

        Args:
            draft: an episode without id; an id in a mapping is ignored.
            tally: the tally of the same sample, written in the same append.

        Raises:
            LeakageError: the episode or the tally holds a forbidden key or free text.
            MemoryStoreError: it breaks the schema, another writer holds the lock, or the disk failed. In each case
                the store is unchanged and no id is used up.
        """
        if self._catalogue is None:
            self._catalogue = load_catalogue()
        checked = checked_draft(draft, self._catalogue, self.path)
        if tally is not None:
            refuse_open_count(tally)
        with self._appending("episode"):
            entry, body = numbered_episode(checked, self._tail.next_id, self.path)
            if tally is None:
                self._write([entry], [body], "episode")
            else:
                self._write([entry, tally], [body, count_body(tally, self.path)], "episode")
            return entry

    def append_tally(self, tally: TallyV1_2) -> None:
        """Write the tally of a sample; return once it is on disk. Of several of one source only the first counts.

        Raises:
            LeakageError: a term is not one that `stored_term` gives.
            MemoryStoreError: another writer holds the lock, or the disk failed. The store is unchanged.
        """
        refuse_open_count(tally)
        with self._appending("tally"):
            self._write([tally], [count_body(tally, self.path)], "tally")

    def append_verdict(self, verdict: VerdictV1_2) -> bool:
        """Write what a person said about a result; return whether it is new, once it is on disk.

        A verdict that already stands for its source and aspect is not written again. Whether the store knows the
        source is not checked.

        Raises:
            LeakageError: the aspect is not a term that `stored_term` gives.
            MemoryStoreError: another writer holds the lock, or the disk failed. The store is unchanged.
        """
        refuse_open_count(verdict)
        with self._appending("verdict"):
            standing = self._tail.index.samples.verdicts_on(verdict.source_id)
            if standing.get(verdict.aspect) == verdict.verdict:
                return False
            self._write([verdict], [count_body(verdict, self.path)], "verdict")
            return True

    @contextmanager
    def _appending(self, noun: str) -> Iterator[None]:
        """Hold both locks around one append, and set a torn line aside before it."""
        # The writers' lock comes before the threads' lock, always: two threads must not wait for each other.
        self._begin_writing()
        try:
            with self._threads:
                self._set_torn_line_aside(noun)
                yield
        finally:
            self._end_writing()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writers' lock around several appends, such as a whole run.

        Raises:
            MemoryStoreError: another writer holds the lock longer than `lock_timeout_s`.
        """
        self._begin_writing()
        try:
            yield
        finally:
            self._end_writing()

    def _begin_writing(self) -> None:
        if not self._tail.is_open:
            # A lock file beside a file that is no store would be left there.
            refuse_other_file(self.path)
        self._lock.acquire()
        try:
            with self._threads:
                self._follow()
        except BaseException:
            self._lock.release()
            raise

    def _end_writing(self) -> None:
        self._lock.release()

    def lines_of(self, source_id: str) -> Iterator[StoreLine]:
        """Yield the lines of one sample. The others are searched, not parsed."""
        return lines_of_sample(self.path, source_id)

    def newest_episodes(self) -> Iterator[AnyEpisode]:
        """Yield all episodes, newest first, as persons judged them. Only the part that is consumed is read."""
        return newest_episodes(self.path)

    def find_episode(self, number: int) -> AnyEpisode | None:
        """Return the episode with that number, without parsing the other lines."""
        return find_episode(self.path, number)

    def verdicts_on(self, source_id: str) -> tuple[VerdictV1_2, ...]:
        """Return the last verdict per aspect on the result of a sample, in the order of the file."""
        return verdicts_on(self.path, source_id)

    def statistics(self) -> StoreStatistics:
        """Count what the file holds; of the episodes only live ones are parsed."""
        return compute_store_statistics(self.path)

    def check(self) -> StoreReport:
        """Return everything that is wrong with the file. Changes nothing."""
        return check_store(self.path)

    def repair(self) -> Repaired:
        """Move bad lines to `<store>.rejected.jsonl` and an unfinished end to `<store>.torn`."""
        return repair_store(self.path, lock_timeout_s=self._lock_timeout_s)

    def compact(self, keep_last_n: int, *, upgrade: bool = False) -> Compacted:
        """Rewrite the file with its last `keep_last_n` episodes, sealed."""
        return compact_store(self.path, keep_last_n, upgrade=upgrade, lock_timeout_s=self._lock_timeout_s)

    def close(self) -> None:
        """Close the files. A later call opens them again. A large store that grew much gets a new snapshot."""
        with self._threads:
            self._tail.save_snapshot_if_due()
        self._drop_writer()
        self._tail.close()
        self._lock.close()

    def _reopen_in_child(self) -> None:
        """Open the store anew in a forked child: it has a lock, a writer and an index of its own."""
        self._threads = threading.RLock()
        self._drop_writer()
        # Another thread of the parent may have been in the middle of reading.
        self._tail = StoreTail(self.path, self._keep_last_n, self._snapshot_after)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _follow(self) -> None:
        if self._tail.follow():
            self._drop_writer()

    def _write(self, values: Sequence[StoreLine], bodies: Sequence[bytes], noun: str) -> None:
        """Write the lines of values in one append, then register the values."""
        if self._fsync_failed:
            raise MemoryStoreError(
                f"{self.path}: an earlier write of this run failed, so nothing more is written. "
                "The episodes returned by append are on disk. Check the disk and start a new run",
                path=self.path,
            )
        lines = self._tail.lines_of(bodies)
        if any(len(line) > MAX_LINE_BYTES for line in lines):
            raise MemoryStoreError(
                f"the {noun} is longer than {MAX_LINE_BYTES:,} bytes; nothing is stored", path=self.path
            )
        try:
            if not self._tail.end:
                # What was acknowledged of a file that was here before says nothing about the new one.
                forget_end(self.path)
            self._opened_writer().append(b"".join(lines), at=self._tail.end)
        except OSError as error:
            # After a failed fsync the kernel may mark dirty pages as clean, so a second try proves nothing.
            self._fsync_failed = isinstance(error, FsyncFailedError)
            raise self._not_stored(error, noun) from error
        self._tail.add(values, lines)
        self._lock.acknowledge(self._tail.acknowledged_end)

    def _set_torn_line_aside(self, noun: str) -> None:
        """Move an unfinished last line to `<store>.torn`. The caller holds the writers' lock."""
        torn = self._tail.torn_bytes()
        if not torn:
            return
        aside = torn_path(self.path)
        try:
            keeper = self._open_file(aside)
            try:
                keeper.append(torn + b"\n", at=aside.stat().st_size)
            finally:
                keeper.close()
            self._opened_writer().cut(self._tail.end)
        except OSError as error:
            raise self._not_stored(error, noun) from error
        logger.warning(
            "%s ended in an unfinished line of %d bytes, left by a writer that was killed; moved to %s",
            self.path,
            len(torn),
            aside,
        )

    def _opened_writer(self) -> DurableFile:
        if self._writer is None:
            self._writer = self._open_file(self.path)
            self._tail.ensure_open()
        return self._writer

    def _not_stored(self, error: OSError, noun: str) -> MemoryStoreError:
        return MemoryStoreError(
            f"the {noun} was not stored in {self.path}: {error.strerror or error}; "
            "the store is unchanged. Free disk space or check the disk, then run again",
            path=self.path,
        )

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
