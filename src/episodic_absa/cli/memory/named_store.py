"""The store that `--store` names, which must exist to be read; what `memory export` and `memory import` do with it."""

import logging
import os
import shlex
from pathlib import Path

from episodic_absa.errors import InputError, MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.postgres.location import is_postgres
from episodic_absa.serialization.durable_file import open_privately
from episodic_absa.store.dialects.jsonl_dialect import JsonlDialect, ScratchDialect
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect
from episodic_absa.store.exported_lines import ExportForm, opened_file, read_lines

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


def export_store(location: str, target: Path | None, form: ExportForm) -> str:
    """Write a store as JSON lines; return what to tell.

    Raises:
        InputError: no file is named, or it exists.
        MemoryStoreError: the store cannot be read, or the file cannot be written.
    """
    with existing_store(location, reads_only=target is not None) as store:
        if target is None:
            if not isinstance(store.dialect, JsonlDialect) or form != "1.3":
                raise InputError("name the new file with --to FILE", argument="to")
            store.dialect.export()
            return f"{store.shown}: written anew, {len(store.numbers()):,} episodes"
        if target.exists():
            raise InputError(f"{target} exists; name a new file with --to FILE", argument="to")
        try:
            with open_privately(target) as file:
                for line in store.exported_lines(form):
                    file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MemoryStoreError(f"cannot write {target}: {error.strerror}; choose another place") from error
        return f"{target}: {len(store.numbers()):,} episodes of {store.shown}"


def import_file(source: Path, location: str) -> str:
    """Add the lines of a file to a store; return what to tell.

    Raises:
        LeakageError: a line holds free text.
        MemoryStoreError: the file is no store, a line is bad, or the store cannot be written.
    """
    with MemoryStore(location) as store:
        taken = store.take_in(read_lines(opened_file(source), str(source)))
    return (
        f"{store.shown}: {taken.episode_n:,} episodes and {taken.verdict_n:,} verdicts added, "
        f"{taken.known_n:,} lines were known"
    )
