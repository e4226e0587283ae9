"""Remembers beside a file of lines how far its writers got, so that lost last lines are noticed.

The lock file of a writer keeps it. After an append it is written and not synced: it may be older than the file, never
newer. Before a file is cut or replaced it is removed for good.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.serialization.sealed_lines import NO_CHECKSUM, checksum_of, opened, seal

_RECORD_BYTES: Final = 128


class AcknowledgedEnd(NamedTuple):
    """The last line that a writer acknowledged."""

    line_n: int
    checksum: bytes
    last_id: int
    """The highest number that was given to an entry of the file, so that a lost one is not given again."""

    def missing_in(self, line_n: int, checksum: bytes) -> str:
        """Return what a file lacks of what was acknowledged; empty for nothing.

        Args:
            line_n: how many lines the file has.
            checksum: the one that the file has after `self.line_n` lines, if it has so many.
        """
        if line_n < self.line_n:
            return f"it has {line_n} lines, and {self.line_n} were written: lines at the end are lost"
        if checksum != self.checksum:
            return f"its line {self.line_n} is not the one that was written there"
        return ""


def lock_path(store: Path) -> Path:
    """Return the file that writers of a store lock, and that keeps the end."""
    return store.with_name(store.name + ".lock")


def write_end(descriptor: int, end: AcknowledgedEnd) -> None:
    """Write the end into an open lock file. An error is no harm: the end that stands there is older."""
    body = b'{"checksum":"%b","last_id":%d,"line_n":%d}' % (end.checksum, end.last_id, end.line_n)
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, seal(body, NO_CHECKSUM).line.ljust(_RECORD_BYTES - 1) + b"\n", 0)


def read_end(store: Path) -> AcknowledgedEnd | None:
    """Return the end that the writers of a store acknowledged; None if none is recorded in readable form."""
    try:
        with open(lock_path(store), "rb") as file:
            record = file.read(_RECORD_BYTES)
    except OSError:
        return None
    body, stated = opened(record.rstrip())
    if not stated or stated != checksum_of(body):
        return None
    value = json.loads(body)
    return AcknowledgedEnd(value["line_n"], value["checksum"].encode(), value["last_id"])


def forget_end(store: Path) -> None:
    """Remove what is recorded about the end durably, before a file is cut or replaced on purpose."""
    try:
        descriptor = os.open(lock_path(store), os.O_WRONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        # Cutting the file and writing it again would make ext4 write it out at once.
        if os.fstat(descriptor).st_size:
            os.pwrite(descriptor, b" " * _RECORD_BYTES, 0)
            # Without power the old end would come back beside the new file, and its last lines would seem lost.
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
