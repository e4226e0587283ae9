"""A store that is named by its exported file: the database stands beside the file, which is kept current."""

import atexit
import logging
import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from episodic_absa.errors import MemoryStoreError
from episodic_absa.serialization.durable_file import open_privately, sync_directory
from episodic_absa.store.additions import Guard
from episodic_absa.store.dialects.dialect import Writer
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect, open_here
from episodic_absa.store.exported_lines import exported_lines, opened_file, read_lines, take_in

logger = logging.getLogger("episodic_absa.memory")

EXPORTED_AT_MOST: Final = 100_000
"""Episodes of a store whose file is written anew without being asked for."""
_CHUNK: Final = 1 << 20
_WRITTEN: Final = "jsonl.sha256"
_NEXT: Final = "jsonl.next"
_STATUS: Final = "jsonl.status"


_WRITTEN_TO: Final = weakref.WeakSet["JsonlDialect"]()
"""Stores whose files are to be written anew, at the latest when the program ends."""


@atexit.register
def _write_files() -> None:
    for dialect in list(_WRITTEN_TO):
        try:
            dialect.close()
        except MemoryStoreError as error:
            logger.warning("%s", error)


def database_beside(path: Path) -> Path:
    """Return the database that stands beside an exported file.

    Example:
        >>> database_beside(Path("memory/episodic_store.jsonl")).as_posix()
        'memory/episodic_store.sqlite'
    """
    return path.with_suffix(".sqlite")


def remove_database_beside(path: Path) -> None:
    """Remove the database beside a file that is about to be written by somebody else."""
    _remove(database_beside(path))


class JsonlDialect(SqliteDialect):
    """The SQLite file beside a file of JSON lines.

    A file that is there before the database is imported once. When a store that was written to is closed, the file is
    written anew. A file that others changed meanwhile is refused.

    Args:
        path: the file, which ends in `.jsonl`.
        busy_timeout_s: how long a write waits for another writer.
        guard: raises LeakageError for what must not be stored.
        exported_at_most: episodes up to which the file is written without being asked for.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        busy_timeout_s: float,
        guard: Guard,
        exported_at_most: int = EXPORTED_AT_MOST,
    ) -> None:
        self.file = Path(path).resolve()
        super().__init__(database_beside(self.file), busy_timeout_s=busy_timeout_s)
        self._guard = guard
        self._exported_at_most = exported_at_most
        self._has_written = False

    @property
    def shown(self) -> str:
        """The path of the file, for messages."""
        return str(self.file)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.file.name

    def exists(self) -> bool:
        """Return whether the database is there; import the file if it is not, and refuse a file that others changed."""
        if super().exists():
            return True
        if not self.file.exists():
            return False
        if not self.file.is_file():
            raise self._error(f"stands for {self.file}, which is no regular file; it stays as it is", "name another")
        if self.file.stat().st_size == 0:
            return False
        self._import()
        return True

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Hold the writer's place for one transaction."""
        with super().writing() as writer:
            yield writer
        self._has_written = True
        _WRITTEN_TO.add(self)

    def close(self) -> None:
        """Write the file anew if the store was written to, and close the database."""
        has_written, self._has_written = self._has_written, False
        try:
            if has_written:
                self.export(at_most=self._exported_at_most)
        finally:
            super().close()

    def export(self, *, at_most: int | None = None) -> bool:
        """Write the file anew, atomically; return whether it was written.

        Args:
            at_most: the number of episodes above which it is not; None for any.

        Raises:
            MemoryStoreError: others changed the file, or it cannot be written. The database holds everything.
        """
        draft = self.file.with_name(f"{self.file.name}.{os.getpid()}.new")
        try:
            with super().writing() as writer:
                self._refuse_changed_file(writer)
                if at_most is not None and writer.rows("SELECT count(*) FROM episodes LIMIT 1")[0][0] > at_most:
                    logger.warning(
                        "%s is not written anew, as it would have over %d lines; "
                        "`episodic-absa memory export --store %s` writes it",
                        self.file,
                        at_most,
                        self.file,
                    )
                    return False
                digest = self._write_draft(draft)
                _put(writer, _NEXT, digest)
            with super().writing() as writer:
                # Another process that has drafted a newer file since then will put that one in place.
                if _facts(writer).get(_NEXT) == digest:
                    draft.replace(self.file)
                    sync_directory(self.file.parent)
                    _put(writer, _WRITTEN, digest)
                    _put(writer, _STATUS, _status(self.file))
        except OSError as error:
            raise MemoryStoreError(
                f"cannot write {self.file}: {error.strerror}; everything is in {self.path}; make the place writable "
                f"and run `episodic-absa memory export --store {self.file}`",
                path=self.file,
            ) from error
        finally:
            draft.unlink(missing_ok=True)
        return True

    def _connected(self) -> None:
        """Look at the file before the database is used."""
        if self.file.exists():
            self._refuse_changed_file(self)

    def _write_draft(self, draft: Path) -> str:
        digest = sha256()
        with open_privately(draft) as file:
            for line in exported_lines(self):
                digest.update(line)
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
        return digest.hexdigest()

    def _import(self) -> None:
        """Make the database from the file. It appears as a whole, or not at all."""
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        made = SqliteDialect(draft, busy_timeout_s=0)
        try:
            _remove(draft)
            status, digest = _status(self.file), _digest(self.file)
            with made.writing() as writer:
                lines = read_lines(opened_file(self.file), self.shown)
                taken = take_in(writer, lines, self._guard, self.shown)
                _put(writer, _WRITTEN, digest)
                _put(writer, _STATUS, status)
            made.close()
            _put_in_place(draft, self.path)
        except OSError as error:
            raise self._error(f"cannot be made from {self.file}: {error.strerror}", "check the folder") from error
        finally:
            made.close()
            _remove(draft)
        logger.info("%s: %d episodes and %d verdicts read", self.file, taken.episode_n, taken.verdict_n)

    def _refuse_changed_file(self, reader: "Writer | SqliteDialect") -> None:
        known: dict[str, str] | None = None
        while self.file.exists():
            facts = _facts(reader)
            if facts == known:
                raise MemoryStoreError(
                    f"{self.file} is not what {self.path} wrote last: somebody changed it. Move the file away to go on "
                    "with the database, which writes it anew; or move the database away to begin with the file",
                    path=self.file,
                )
            if facts.get(_STATUS) == _status(self.file):
                return
            if _WRITTEN not in facts and self.file.stat().st_size == 0:
                return  # somebody made an empty file, and the database has written none yet
            if _digest(self.file) in (facts.get(_WRITTEN), facts.get(_NEXT)):
                return
            # Another process may have put its file in place after the look at the facts: then they have changed, too.
            known = facts


class ScratchDialect(SqliteDialect):
    """A database in memory, for what a file of JSON lines holds or is going to hold. Closing it forgets it.

    Args:
        file: the file of JSON lines.
        guard: raises LeakageError for what must not be stored.
        copies: whether the file is read when the database is first used, which then refuses to be written.
    """

    def __init__(self, file: Path, *, guard: Guard, copies: bool = False) -> None:
        super().__init__(file, busy_timeout_s=0)
        self._guard = guard
        self._copies = copies
        self._is_copying = False

    def exists(self) -> bool:
        """Return whether there is anything, and copy the file."""
        with self._threads:
            self._leave_parents_connection()
            if self._connection is None and self._copies and self.path.exists() and self.path.stat().st_size:
                self._copy()
            return self._connection is not None

    def size(self) -> int:
        """Return the bytes of the file."""
        return self.path.stat().st_size if self.path.exists() else 0

    def _opened(self) -> sqlite3.Connection | None:
        return self._connection if self.exists() else None

    def _copy(self) -> None:
        self._created()
        self._is_copying = True
        try:
            with self.writing() as writer:
                take_in(writer, read_lines(opened_file(self.path), self.shown), self._guard, self.shown)
        except BaseException:
            self.close()
            raise
        finally:
            self._is_copying = False

    def _created(self) -> sqlite3.Connection:
        connection = self._connection_to("file::memory:")
        self._bring_up_to_date(connection)
        self._connection, self._process = connection, os.getpid()
        open_here[self.path] += 1
        return connection

    def _refuse_writing(self) -> None:
        if self._copies and not self._is_copying:
            # Nobody would find it again.
            raise MemoryStoreError(f"{self.path} is open for reading alone", path=self.path)


def _put_in_place(draft: Path, path: Path) -> None:
    """Give a finished database its name, unless another process was first."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a file system without second names
        if not path.exists():
            draft.rename(path)
    sync_directory(path.parent)


def _remove(database: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        database.with_name(database.name + end).unlink(missing_ok=True)


def _facts(reader: "Writer | SqliteDialect") -> dict[str, str]:
    return dict(reader.rows("SELECT name, value FROM facts"))


def _put(writer: Writer, name: str, value: str) -> None:
    writer.rows(
        "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def _status(path: Path) -> str:
    status = path.stat()
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def _digest(path: Path) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
