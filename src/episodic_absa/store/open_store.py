"""The one way to open a store: by its location, a path or the address of a database."""

import os
from pathlib import Path

from episodic_absa.errors import InputError
from episodic_absa.postgres.location import is_postgres
from episodic_absa.schemas.stored.memory_v1_3 import DEFAULT_NAMESPACE
from episodic_absa.store.additions import Guard
from episodic_absa.store.dialects.dialect import Dialect
from episodic_absa.store.dialects.jsonl_dialect import CopiedJsonl, JsonlDialect
from episodic_absa.store.dialects.postgres_dialect import PostgresDialect
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect
from episodic_absa.store.episode_store import DEFAULT_BUSY_TIMEOUT_S, DEFAULT_KEEP_LAST_N, EpisodeStore


def open_episode_store(
    location: str | Path,
    *,
    guard: Guard,
    namespace: str = DEFAULT_NAMESPACE,
    keep_last_n: int = DEFAULT_KEEP_LAST_N,
    busy_timeout_s: float = DEFAULT_BUSY_TIMEOUT_S,
    reads_only: bool = False,
) -> EpisodeStore:
    """Return the store at a location. Nothing is opened before it is needed, or created before an append.

    Args:
        location: a SQLite file; a file that ends in `.jsonl`, whose database stands beside it; or
            `postgresql://host/database?store=NAME` (extra `postgres`).
        guard: looks at everything before it is stored.
        namespace: whose rows are read and written.
        keep_last_n: how many of the newest episodes a search looks at.
        busy_timeout_s: how long a write waits for another writer.
        reads_only: leave no database beside a `.jsonl` file.

    Raises:
        InputError: the location is no path.
        ConfigError: `keep_last_n` is below 1.
        MemoryStoreError: the address names no database or holds a password.
    """
    dialect = _dialect(location, guard, busy_timeout_s, reads_only=reads_only)
    return EpisodeStore(dialect, guard=guard, namespace=namespace, keep_last_n=keep_last_n)


def _dialect(location: str | Path, guard: Guard, busy_timeout_s: float, *, reads_only: bool) -> Dialect:
    if not isinstance(location, str | os.PathLike):
        raise InputError(f"the store must be a path, got {type(location).__name__}", argument="store")
    if isinstance(location, str) and is_postgres(location):
        return PostgresDialect(location, busy_timeout_s=busy_timeout_s, guard=guard)
    if not str(location).lower().endswith(".jsonl"):
        return SqliteDialect(location, busy_timeout_s=busy_timeout_s)
    if reads_only:
        return CopiedJsonl(location, guard=guard)
    return JsonlDialect(location, busy_timeout_s=busy_timeout_s, guard=guard)
