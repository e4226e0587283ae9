"""The store that `--store` names: it must exist, and reading it creates nothing."""

import logging
import shlex
from pathlib import Path

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.postgres.location import is_postgres
from episodic_absa.store.dialects.jsonl_dialect import ScratchDialect
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect

logger = logging.getLogger("episodic_absa.cli")


def existing_store(location: str, *, reads_only: bool = True) -> MemoryStore:
    """Return the store at a path or an address.

    Raises:
        MemoryStoreError: there is none, it is no store, or it cannot be reached.
    """
    store = MemoryStore(location, reads_only=reads_only)
    # An empty file is a store without episodes, such as that of a cell that stored none.
    if not store.exists() and (is_postgres(location) or not Path(location).is_file()):
        store.close()
        raise MemoryStoreError(
            f"there is no store at {location}; name one with --store PATH (the first stored episode creates it)"
        )
    logger.info("reading %s", store.shown)
    return store


def repairable(store: MemoryStore) -> SqliteDialect | None:
    """Return the database of a store if it can be repaired; a server has backups, a lone file of lines an editor."""
    dialect = store.dialect
    return dialect if isinstance(dialect, SqliteDialect) and not isinstance(dialect, ScratchDialect) else None


def repair_command(store: MemoryStore, location: str) -> str | None:
    """Return the command that repairs a store; None if none does."""
    return f"episodic-absa memory repair --store {shlex.quote(location)}" if repairable(store) else None
