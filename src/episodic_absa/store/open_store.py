"""Which database a location means: a path, or the address of a server."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from episodic_absa.errors import ConfigError, InputError, MemoryStoreError
from episodic_absa.postgres.location import is_postgres
from episodic_absa.store.additions import Guard
from episodic_absa.store.dialects.dialect import Dialect
from episodic_absa.store.dialects.jsonl_dialect import JsonlDialect, ScratchDialect, database_beside
from episodic_absa.store.dialects.postgres_dialect import PostgresDialect
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect
from episodic_absa.store.episode_store import DEFAULT_BUSY_TIMEOUT_S
from episodic_absa.store.exported_lines import exported_lines, opened_file


def database_at(location: str | Path, *, guard: Guard, busy_timeout_s: float, reads_only: bool = False) -> Dialect:
    """Return the database of a location. Nothing is opened before it is needed, or created before an append.

    Args:
        location: a SQLite file; a file that ends in `.jsonl`, whose database stands beside it; or
            `postgresql://host/database?store=NAME` (extra `postgres`).
        guard: looks at everything before it is stored.
        busy_timeout_s: how long a write waits for another writer.
        reads_only: whether nothing will be written; then a `.jsonl` file gets no database beside it.

    Raises:
        InputError: the location is no path.
        MemoryStoreError: the path is a directory, or the address names no database or holds a password.
    """
    if not isinstance(location, str | os.PathLike):
        raise InputError(f"the store must be a path, got {type(location).__name__}", argument="store")
    if isinstance(location, str) and is_postgres(location):
        return PostgresDialect(location, busy_timeout_s=busy_timeout_s, guard=guard)
    path = Path(location)
    if path.is_dir():
        raise MemoryStoreError(f"{path} is a directory; a store is one .jsonl or .sqlite file, name it", path=path)
    if path.suffix.lower() != ".jsonl":
        return SqliteDialect(location, busy_timeout_s=busy_timeout_s)
    if reads_only and not database_beside(path.resolve()).exists():
        return ScratchDialect(path, guard=guard, copies=True)
    return JsonlDialect(path, busy_timeout_s=busy_timeout_s, guard=guard)


def raw_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file of JSON lines, as they stand, or those that a SQLite file would be exported as.

    Raises:
        MemoryStoreError: it is no store, or a row of it is not what was written.
    """
    if path.suffix.lower() == ".jsonl":
        yield from opened_file(path)
        return
    database = SqliteDialect(path, busy_timeout_s=DEFAULT_BUSY_TIMEOUT_S)
    try:
        yield from exported_lines(database)
    finally:
        database.close()


def store_sha256(path: Path) -> str:
    """Return the hash of a file of JSON lines; of a database, the hash of its exported lines.

    Raises:
        ConfigError: it cannot be read.
    """
    digest = hashlib.sha256()
    if path.suffix.lower() == ".jsonl" or not path.is_file():
        try:
            digest.update(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}", path=path) from error
    else:
        for line in raw_lines(path):
            digest.update(line)
    return digest.hexdigest()
