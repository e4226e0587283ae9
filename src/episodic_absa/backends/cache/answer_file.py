"""The SQLite file of a response cache: checked when opened, one transaction per batch."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from episodic_absa.backends.cache.kept_answers import Execute, KeptAnswers, ResultT
from episodic_absa.errors import ConfigError
from episodic_absa.serialization.durable_file import PRIVATE_FILE, make_private_directory

FORMAT_VERSION: Final = 1
_BUSY_TIMEOUT_S: Final = 60.0
_BUSY_PAUSE_S: Final = 0.02
_CREATE: Final = """
CREATE TABLE answers (
    key TEXT PRIMARY KEY,
    text BLOB NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost_usd REAL,
    model TEXT NOT NULL
)
"""


class AnswerFile(KeptAnswers):
    """The SQLite file: one connection reads in the event loop, the other writes in a thread of its own."""

    looks_up_at_once = True

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            make_private_directory(path.parent)
            if not path.exists():
                # SQLite would make a file that others may read; its log gets the mode of the file.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE))
            self._prepare()
            self._reader = self._connect()
            self._writer = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Close both connections; the last one of all processes folds the write-ahead log into the file."""
        self._reader.close()
        self._writer.close()

    def _read(self, work: Callable[[Execute], ResultT]) -> ResultT:
        try:
            return work(self._reader.execute)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _write(self, work: Callable[[Execute], ResultT]) -> ResultT:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            with self._writer:
                return work(self._writer.execute)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=8
        )
        # FULL: a commit returns when the log is on disk. NORMAL would leave the last answers to a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self) -> None:
        """Check that the file is ours, or make it so. Two processes may both be first."""
        deadline = time.monotonic() + _BUSY_TIMEOUT_S
        while True:
            try:
                with closing(self._connect()) as connection:
                    self._check_or_create(connection)
            except sqlite3.OperationalError as error:
                # SQLite does not wait for others while it switches to a write-ahead log.
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_BUSY_PAUSE_S)
            else:
                return

    def _check_or_create(self, connection: sqlite3.Connection) -> None:
        if not _tables(connection):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                if not _tables(connection):
                    connection.execute(_CREATE)
                    connection.execute("CREATE TABLE cache_format (version INTEGER NOT NULL)")
                    connection.execute("INSERT INTO cache_format VALUES (?)", (FORMAT_VERSION,))
        if not {"answers", "cache_format"} <= _tables(connection):
            raise self._refused("is a database of something else", "move it away or choose another cache.path")
        versions = connection.execute("SELECT version FROM cache_format").fetchall()
        if versions != [(FORMAT_VERSION,)]:
            known = ", ".join(str(version) for (version,) in versions) or "unknown"
            raise self._refused(
                f"has format {known} and this version writes format {FORMAT_VERSION}",
                "move it away or choose another cache.path",
            )

    def _unusable(self, error: OSError | sqlite3.Error) -> ConfigError:
        code = _code(error) if isinstance(error, sqlite3.Error) else None
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return self._refused(
                f"is damaged or no cache at all ({error})",
                "move it away, its answers will be asked for again, or choose another cache.path",
            )
        if code == sqlite3.SQLITE_BUSY:
            return self._refused(
                f"was held by another process for {_BUSY_TIMEOUT_S:g} s",
                "end that process or choose another cache.path",
            )
        return self._refused(
            f"cannot be used ({error})", "check space and permissions, choose another cache.path, or use --no-cache"
        )

    def _refused(self, what: str, what_next: str) -> ConfigError:
        return ConfigError(f"the response cache {self._path} {what}; {what_next}", path=self._path, key="cache.path")


def _code(error: sqlite3.Error) -> int | None:
    # Errors of the Python module itself carry no code; the low byte is the one without details.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}
