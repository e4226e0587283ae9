"""The index of a large store, kept beside it in `<store>.index`: opening reads only the lines that came later.

The store stays the only truth: a snapshot that does not fit it is passed over and made anew. It holds hashes of uids
and offsets; no text that the store does not hold.
"""

import logging
import os
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, ValidationError

from episodic_absa.memory.columns.column_file import (
    ColumnFile,
    ColumnFileError,
    Columns,
    MappedColumns,
    write_columns,
)
from episodic_absa.memory.retrieval.episode_index import IndexState
from episodic_absa.memory.store.reading.store_reader import StoreReader
from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.schemas.memory_v1_2 import STORE_HEADER
from episodic_absa.serialization.acknowledged_end import AcknowledgedEnd
from episodic_absa.serialization.sealed_lines import MAX_LINE_BYTES, opened, seal

SNAPSHOT_AFTER: Final = 20_000
"""Lines that a store has beyond its snapshot before one is written. Reading so many takes a fraction of a second."""
_FORMAT: Final = "episodic_absa.index 1"
_HEADER_LINE: Final = seal(STORE_HEADER, b"").line + b"\n"
# A run's directory holds what its manifest names and nothing else; `.lock` is there from its first moment on.
_FILES_OF_A_RUN: Final = ("manifest.json", "journal.jsonl", ".lock")

logger = logging.getLogger("episodic_absa.memory")


class StoreState(FrozenModel):
    """What is known of a store after its last line, besides the columns."""

    end: Count
    line_n: Count
    last_id: Count
    checksum: str
    last_line_n: Annotated[int, Field(ge=1, le=MAX_LINE_BYTES + 1)]
    """The bytes of the last line."""
    last_line_sha256: str
    index: IndexState


class SnapshotHead(FrozenModel):
    """What a snapshot states about its store and about itself."""

    format: Literal["episodic_absa.index 1"]
    code: str
    byte_order: str
    header_line: str
    modified_ns: int | None
    """When the store was last changed, if it ended where the snapshot ends."""
    store: StoreState


class LoadedSnapshot(NamedTuple):
    """A snapshot that fits the store."""

    state: StoreState
    columns: MappedColumns
    last_line: bytes


def snapshot_path(store: Path) -> Path:
    """Return the file that keeps the index of a store."""
    return store.with_name(store.name + ".index")


def load_snapshot(reader: StoreReader, acknowledged: AcknowledgedEnd | None) -> LoadedSnapshot | None:
    """Return the snapshot of a store; None if there is none that fits, so that the store is read as a whole.

    Args:
        reader: of the store.
        acknowledged: the end that the writers of the store noted, if it is known.
    """
    path = snapshot_path(reader.path)
    try:
        with ColumnFile(path) as file:
            _refuse_owner(file.status, reader.status())
            head = SnapshotHead.model_validate_json(file.head)
            last_line = _fitting_last_line(head, reader, acknowledged)
            return LoadedSnapshot(head.store, file.checked_columns(), last_line)
    except FileNotFoundError:
        return None
    except ValidationError:
        reason = "another version wrote it"
    except (ColumnFileError, OSError) as error:
        reason = str(error) if isinstance(error, ColumnFileError) else (error.strerror or type(error).__name__)
    logger.info("%s is not used (%s); the store is read as a whole", path, reason)
    return None


def save_snapshot(reader: StoreReader, state: StoreState, columns: Columns) -> None:
    """Write the snapshot of a store, if this user may and it is of use. An error only leaves the store without one."""
    path = snapshot_path(reader.path)
    try:
        status = reader.path.stat()
        if reader.is_other_file(status) or status.st_uid != os.geteuid() or _is_beside_a_run(path):
            return
        head = SnapshotHead(
            format=_FORMAT,
            code=_code_hash(),
            byte_order=sys.byteorder,
            header_line=_HEADER_LINE.decode(),
            modified_ns=status.st_mtime_ns if status.st_size == state.end else None,
            store=state,
        )
        write_columns(path, head.model_dump_json().encode(), columns)
    except OSError as error:
        logger.info("%s was not written: %s", path, error.strerror or error)


def remove_snapshot(store: Path) -> None:
    """Remove the snapshot of a store that is about to be replaced. One that stays is noticed when it is read."""
    try:
        snapshot_path(store).unlink(missing_ok=True)
    except OSError as error:
        logger.info("%s was not removed: %s", snapshot_path(store), error.strerror or error)


def _refuse_owner(snapshot: os.stat_result, store: os.stat_result) -> None:
    if snapshot.st_uid != store.st_uid:
        raise ColumnFileError("it belongs to another user than the store")


def _fitting_last_line(head: SnapshotHead, reader: StoreReader, acknowledged: AcknowledgedEnd | None) -> bytes:
    """Return the last line that a snapshot knows, as it stands in the store.

    Raises:
        ColumnFileError: the snapshot was made by other code, or the store is not the one that it was made of.
    """
    state, status = head.store, reader.status()
    if head.code != _code_hash() or head.byte_order != sys.byteorder:
        raise ColumnFileError("another version wrote it")
    if reader.read(len(_HEADER_LINE), 0) != head.header_line.encode() or status.st_size < state.end:
        raise ColumnFileError("the store is another one")
    if head.modified_ns is not None and status.st_size == state.end and status.st_mtime_ns != head.modified_ns:
        raise ColumnFileError("the store was changed or copied since")
    # The last checksum depends on all lines before it, so a store that was edited and sealed again has another one.
    line = reader.read(state.last_line_n, max(0, state.end - state.last_line_n))
    if sha256(line).hexdigest() != state.last_line_sha256 or opened(line).checksum != state.checksum.encode():
        raise ColumnFileError("the store is another one")
    if acknowledged is not None:
        has_same_end = acknowledged.line_n == state.line_n and acknowledged.checksum == state.checksum.encode()
        if acknowledged.line_n <= state.line_n and not has_same_end:
            raise ColumnFileError("the lock file of the store states another end")
    return line


def _is_beside_a_run(path: Path) -> bool:
    return any(path.with_name(name).exists() for name in _FILES_OF_A_RUN)


@cache
def _code_hash() -> str:
    """Return the hash of the modules that decide what a snapshot means."""
    memory, hashed = Path(__file__).parents[1], sha256()
    modules = (*memory.glob("columns/*.py"), *memory.glob("retrieval/*.py"), memory / "store" / "store_tail.py")
    for module in sorted(modules):
        hashed.update(module.read_bytes() if module.exists() else b"")
    return hashed.hexdigest()
