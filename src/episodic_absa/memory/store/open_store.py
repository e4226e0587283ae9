"""The one way to open a store: by its location, a path or the address of a database."""

from pathlib import Path

from episodic_absa.memory.store.episode_store import DEFAULT_KEEP_LAST_N, DEFAULT_LOCK_TIMEOUT_S, EpisodeStore
from episodic_absa.memory.store.memory_store import MemoryStore
from episodic_absa.memory.store.postgres.postgres_store import PostgresStore
from episodic_absa.postgres.location import is_postgres


def open_store(
    location: str | Path,
    *,
    keep_last_n: int = DEFAULT_KEEP_LAST_N,
    lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
) -> EpisodeStore:
    """Return the store at a location. Nothing is opened before it is needed.

    Args:
        location: a file, or `postgresql://host/database?store=NAME` (extra `postgres`).
        keep_last_n: how many of the newest episodes stay in use.
        lock_timeout_s: how long an append waits for another writer.

    Raises:
        InputError: the location is no path.
        ConfigError: `keep_last_n` is below 1.
        MemoryStoreError: the file is no store, or the address names no database or holds a password.

    Example:
        >>> from episodic_absa.memory import open_store
        >>> with open_store("not_written_yet.jsonl") as store:
        ...     len(store), store.exists()
        (0, False)
    """
    if isinstance(location, str) and is_postgres(location):
        return PostgresStore(location, keep_last_n=keep_last_n, lock_timeout_s=lock_timeout_s)
    return MemoryStore(location, keep_last_n=keep_last_n, lock_timeout_s=lock_timeout_s)
