"""What `memory export` and `memory import` do, and what they say."""

import os
from pathlib import Path

from episodic_absa.cli.memory.store_argument import existing_store
from episodic_absa.errors import InputError, MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.serialization.durable_file import open_privately
from episodic_absa.store.dialects.jsonl_dialect import JsonlDialect
from episodic_absa.store.exported_lines import ExportForm, opened_file, read_lines


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
