"""The hash of a file that grows sample by sample: what was hashed is not read again."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from episodic_absa.schemas.run_files.journal_line import FileState

_CHUNK: Final = 1 << 20
_SHOWN: Final = 16


class GrowingHash:
    """The size and the hash of a file's beginning."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self.size = 0

    @property
    def state(self) -> FileState:
        """The state of the file up to here."""
        return FileState(bytes=self.size, sha256=self._sha256.hexdigest()[:_SHOWN])

    def add(self, data: bytes) -> None:
        """Hash the bytes that follow."""
        self._sha256.update(data)
        self.size += len(data)

    def read(self, file: BinaryIO, end: int) -> None:
        """Hash an open file from where its last read ended up to an offset; it may hold less."""
        while self.size < end and (data := file.read(min(_CHUNK, end - self.size))):
            self.add(data)

    def read_on(self, path: Path, end: int) -> None:
        """Hash a file from here up to an offset."""
        if path.exists():
            with open(path, "rb") as file:
                file.seek(self.size)
                self.read(file, end)


def hash_of(path: Path, end: int | None = None) -> GrowingHash:
    """Return the hash of a file up to an offset, of a missing file that of nothing."""
    growing = GrowingHash()
    size = path.stat().st_size if path.exists() else 0
    growing.read_on(path, size if end is None else end)
    return growing


def first_difference(path: Path, states: Sequence[FileState]) -> int | None:
    """Return the place of the first state that a file has not gone through; None if it has gone through all.

    The file is read once.

    Args:
        path: the file; a missing one is empty.
        states: in the order in which the file grew.
    """
    growing = GrowingHash()
    if not path.exists():
        return next((place for place, state in enumerate(states) if state != growing.state), None)
    with open(path, "rb") as file:
        for place, state in enumerate(states):
            growing.read(file, state.bytes)
            if growing.state != state:
                return place
    return None
