"""A store in one SQLite file: write-ahead log, every commit synced to disk, one writer at a time."""

import logging
import os
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from episodic_absa.errors import InputError, MemoryStoreError
from episodic_absa.serialization.durable_file import make_private_directory, sync_directory
from episodic_absa.serialization.redaction import credential_in
from episodic_absa.store.dialects.dialect import Row, Writer
from episodic_absa.store.tables import VERSION, statements

logger = logging.getLogger("episodic_absa.memory")

APPLICATION_ID: Final = 0x65706973
"""`epis` in ASCII: stands in the header of every store."""
_TYPES: Final = {"integer": "integer", "bytes": "blob", "key": "integer PRIMARY KEY"}
_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_ID_PLACE: Final = slice(68, 72)
_PRIVATE: Final = 0o600
_LOOKS: Final = 20
_LOOK_AGAIN_S: Final = 0.02
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = re.compile(
    r"9p|afs|beegfs|ceph|cifs|fuse\.(glusterfs|s3fs|sshfs)|gfs2|glusterfs|gpfs|lustre|ncpfs|nfs4?|ocfs2|smb3|smbfs|virtiofs"
)
"""File systems without the shared memory that a write-ahead log needs, or whose locks cannot be relied on."""
# A child process must neither use nor close what its parent has open: closing would clear the parent's log away.
_LEFT_TO_PARENT: Final[list[sqlite3.Connection]] = []
# Closing any descriptor of a file gives up all locks that this process has on it, SQLite's too. So a file that is open
# as a store here is never opened in another way.
open_here: Final = Counter[Path]()
_opening: Final = threading.RLock()


class SqliteDialect:
    """One SQLite file.

    Args:
        path: the file. A symbolic link is followed once.
        busy_timeout_s: how long a write waits for another writer.
        mounts: where the system lists its file systems.

    Raises:
        InputError: the path is empty or holds a password.
        MemoryStoreError: the path cannot be resolved, or names something else than a file.
    """

    def __init__(self, path: str | Path, *, busy_timeout_s: float, mounts: Path = _MOUNTS) -> None:
        if not str(path) or credential_in(str(path)):
            reason = "holds a password" if str(path) else "is empty"
            raise InputError(f"the path of the store {reason}; name a .sqlite or .jsonl file", argument="store")
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError) as error:
            raise MemoryStoreError(f"cannot resolve the store path {path}: {error}; check the path") from error
        self._busy_timeout_s = busy_timeout_s
        self._mounts = mounts
        self._threads = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._identity: tuple[int, int] | None = None
        self._data_version: object = None
        self._write_failed = False

    @property
    def shown(self) -> str:
        """The path, for messages."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def exists(self) -> bool:
        """Return whether the file holds a store, and refuse one of something else, which stays as it is."""
        with _opening:
            if open_here[self.path]:
                return True
            self._refuse_special_file()
            try:
                with open(self.path, "rb") as file:
                    header = file.read(_HEADER_BYTES)
            except FileNotFoundError:
                return False
            except OSError as error:
                raise self._error(f"cannot be read: {error.strerror}", "check the path and its permissions") from error
        # Zeros stand there if the machine stopped while the store was created; SQLite takes them for an empty file.
        if not header.strip(b"\0"):
            return False
        if not header.startswith(_MAGIC) or int.from_bytes(header[_ID_PLACE]) != APPLICATION_ID:
            raise self._error(
                "is no store of episodes; it stays as it is",
                "name another file; a store in JSON lines has a name that ends in .jsonl",
            )
        return True

    def _refuse_special_file(self) -> None:
        for _ in range(_LOOKS):
            if not self.path.exists():
                return
            if not self.path.is_file():
                raise self._error("is no regular file; it stays as it is", "name another file")
            if self.path.stat().st_nlink == 1:
                return
            # A store that is just being put in place has two names for a moment.
            time.sleep(_LOOK_AGAIN_S)
        raise self._error("has a second name (a hard link), and each name would get a log", "remove one of the names")

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run a query; a store that was not created has no rows."""
        with self._threads:
            connection = self._opened()
            return [] if connection is None else self._run(connection, statement, parameters)

    def has_changed(self) -> bool:
        """Return whether another connection has written since the last call."""
        version = self.rows("PRAGMA data_version")
        changed = version != self._data_version
        self._data_version = version
        return changed

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Hold the writer's place for one transaction."""
        with self._threads:
            if self._write_failed:
                raise self._error(
                    "was not written to: an earlier write failed on the disk, so nothing more is written",
                    "check the disk and start again; everything acknowledged is kept",
                )
            connection = self._opened() or self._created()
            self._refuse_writing()
            self._run(connection, "BEGIN IMMEDIATE")
            try:
                yield self
                if self._process == os.getpid():
                    self._run(connection, "COMMIT")
            except BaseException:
                # A full disk has rolled back already. A forked child leaves the block, and the parent goes on with it.
                if self._process == os.getpid() and connection.in_transaction:
                    connection.rollback()
                raise

    def own_damage(self) -> list[str]:
        """Return what SQLite's own check finds."""
        try:
            return [line for (line,) in self.rows("PRAGMA integrity_check") if line != "ok"]
        except MemoryStoreError as error:
            return [str(error.__cause__ or error)]

    def erase_traces(self) -> None:
        """Write the log into the file and empty it; the file's own free space is zeroed as it is freed.

        Raises:
            MemoryStoreError: another process reads an older state, so that the log stays.
        """
        if any(busy for busy, *_ in self.rows("PRAGMA wal_checkpoint(TRUNCATE)")):
            raise self._error(
                "is being read, so deleted content is still in its log",
                "end the processes that read it; the next one that opens and closes the store empties the log",
            )

    def size(self) -> int:
        """Return the bytes of the file and its log."""
        log = self.path.with_name(f"{self.path.name}-wal")
        return sum(file.stat().st_size for file in (self.path, log) if file.exists())

    def close(self) -> None:
        """Close the file."""
        with self._threads:
            self._leave_parents_connection()
            if self._connection is not None:
                with _opening:
                    self._connection.close()
                    open_here[self.path] -= 1
                self._connection = None
                self._data_version = None

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            # Not what a subclass does besides: another store of this thread may be in the middle of a write.
            SqliteDialect.close(self)

    def _opened(self) -> sqlite3.Connection | None:
        """Return the connection, None if there is no store yet."""
        self._leave_parents_connection()
        if self._connection is None:
            with _opening:
                if self.exists():
                    self._connect(create=False)
        return self._connection

    def _created(self) -> sqlite3.Connection:
        """Make the file, and return the connection."""
        with _opening:
            try:
                make_private_directory(self.path.parent)
                if not open_here[self.path]:
                    # Two processes may make it at once; SQLite lets one of them fill it.
                    os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _PRIVATE))
                    sync_directory(self.path.parent)
            except OSError as error:
                raise self._error(f"cannot be made: {error.strerror}", "choose a folder you may write to") from error
            return self._connect(create=True)

    def _connect(self, *, create: bool) -> sqlite3.Connection:
        is_readable_only = not create and not os.access(self.path, os.W_OK)
        has_log = self.path.with_name(f"{self.path.name}-wal").exists()
        # Without its log a file in a place that nobody writes to cannot change; SQLite would want to make the log.
        mode = "?mode=rw" if not is_readable_only else "?mode=ro" if has_log else "?mode=ro&immutable=1"
        connection = self._connection_to(f"{self.path.as_uri()}{mode}")
        self._connection, self._process, self._identity = connection, os.getpid(), self._found_identity()
        open_here[self.path] += 1
        try:
            if not is_readable_only:
                self._prepare(connection)
            self._check_version(connection)
            self._connected()
        except BaseException:
            self.close()
            raise
        return connection

    def _connection_to(self, address: str) -> sqlite3.Connection:
        timeout_s = self._busy_timeout_s
        try:
            return sqlite3.connect(address, uri=True, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._described(error) from error

    def _connected(self) -> None:
        """Do what comes before the first use of a connection."""

    def _found_identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)  # noqa: PTH116
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _refuse_writing(self) -> None:
        """Refuse to write into a file that its user has moved away or replaced: nobody would find it again."""
        if self._found_identity() != self._identity:
            raise self._error(
                "was moved, removed or replaced while it was open; nothing was written",
                "put it back or start again with the new file",
            )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the connection durable, and bring the tables up to date."""
        self._run(connection, "PRAGMA synchronous=FULL")
        self._run(connection, "PRAGMA secure_delete=ON")
        self._bring_up_to_date(connection)
        kind = network_file_system(self.path, self._mounts)
        wanted = "delete" if kind else "wal"
        if self._run(connection, "PRAGMA journal_mode") == [(wanted,)]:
            return
        if kind:
            logger.warning(
                "%s lies on a network file system (%s): it is written with a rollback journal, which is slower; "
                "processes of several machines need PostgreSQL",
                self.path,
                kind,
            )
        # Another process may be doing the same; then it is done.
        with suppress(MemoryStoreError):
            self._run(connection, f"PRAGMA journal_mode={wanted}")
        if self._run(connection, "PRAGMA journal_mode") != [(wanted,)]:
            raise self._error(f"cannot be used with the journal `{wanted}`", "end the processes that use it, try again")

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        if self._version(connection) < VERSION:
            # The first write is one with a rollback journal: at no moment is there half a store.
            self._run(connection, "BEGIN EXCLUSIVE")
            try:
                version = self._version(connection)
                for statement in statements(version, _TYPES) if version < VERSION else ():
                    self._run(connection, statement)
                self._run(connection, f"PRAGMA application_id={APPLICATION_ID}")
                self._run(connection, f"PRAGMA user_version={max(version, VERSION)}")
                self._run(connection, "COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.rollback()
                raise

    def _check_version(self, connection: sqlite3.Connection) -> None:
        version = self._version(connection)
        if version != VERSION:
            what_next = (
                "make it writable, so that it can be brought up to date"
                if version < VERSION
                else "update the package, or name another store"
            )
            raise self._error(f"has tables of version {version}, and this package writes {VERSION}", what_next)

    def _version(self, connection: sqlite3.Connection) -> int:
        return int(self._run(connection, "PRAGMA user_version")[0][0])

    def _leave_parents_connection(self) -> None:
        if self._connection is not None and self._process != os.getpid():
            _LEFT_TO_PARENT.append(self._connection)
            self._connection = None
            self._data_version = None

    def _run(self, connection: sqlite3.Connection, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        try:
            return connection.execute(statement, parameters).fetchall()
        except sqlite3.Error as error:
            raise self._described(error) from error

    def _described(self, error: sqlite3.Error) -> MemoryStoreError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # errors of the module itself have none
        kind = code & 0xFF
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return self._error(
                f"has been held by another writer for {self._busy_timeout_s:g} s",
                "wait until the run or command that writes to it has ended, then run again",
            )
        if kind == sqlite3.SQLITE_FULL:
            return self._error("was not written to: the disk is full; it is unchanged", "free space and run again")
        if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
            return self._error(
                f"cannot be written or opened ({error})", "check its permissions and those of its folder"
            )
        if kind == sqlite3.SQLITE_IOERR:
            # After a failed sync the kernel may take unwritten pages for written ones: a second try proves nothing.
            self._write_failed |= code in (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)
            return self._error(f"cannot be read or written ({error}); it is unchanged", "check the disk and run again")
        return self._error(
            f"is damaged or was changed by another program ({error})",
            "run `episodic-absa memory check` to see which episodes are affected",
        )

    def _error(self, what: str, what_next: str) -> MemoryStoreError:
        return MemoryStoreError(f"{self.path} {what}; {what_next}", path=self.path)


def network_file_system(path: Path, mounts: Path) -> str | None:
    """Return the kind of network file system that a path lies on; None for a local one or if nobody can tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    longest, kind = -1, ""
    for line in lines:
        _, mount, mounted_as, *_ = line.split(" ")
        folder = _ESCAPED.sub(lambda sign: chr(int(sign[1], 8)), mount)
        if len(folder) >= longest and path.is_relative_to(folder):
            longest, kind = len(folder), mounted_as
    return kind if _NETWORK.fullmatch(kind) else None
