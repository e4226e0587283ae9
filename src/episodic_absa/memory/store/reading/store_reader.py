"""The open file of a store, read at any offset. A line that is read alone is held against the line before it."""

import os
import weakref
from pathlib import Path
from typing import Final

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.reading.line_search import bad_line_at, checked_body
from episodic_absa.memory.store.store_file import refuse_other_file
from episodic_absa.serialization.sealed_lines import MAX_LINE_BYTES, SEAL_LENGTH

_MOST_LINES_ARE_SHORTER: Final = 4096


class StoreReader:
    """Reads one store file. It is opened when it is needed, and again after it was closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.end = 0
        """The offset at which the last known line ends."""
        self._descriptor: int | None = None
        self._identity: tuple[int, int] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the file was found to be a store, and is read from."""
        return self._descriptor is not None

    def next_offset(self) -> int:
        """Return where the line stands that follows the last known one."""
        return self.end

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            self._close_file()
            self._descriptor = None

    def ensure_open(self) -> int:
        """Open the file if it is not open; it may just have been created. Return its descriptor.

        Raises:
            MemoryStoreError: it is no store, cannot be read, or is another file than the one that was closed.
        """
        if self._descriptor is None:
            refuse_other_file(self.path)
            try:
                descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise self._unreadable(error) from error
            self._close_file = weakref.finalize(self, os.close, descriptor)
            self._descriptor = descriptor
            status = os.fstat(descriptor)
            if self._identity not in (None, (status.st_dev, status.st_ino)):
                self.close()
                raise MemoryStoreError(
                    f"{self.path} was replaced after it was closed; load the store again", path=self.path
                )
            self._identity = (status.st_dev, status.st_ino)
        return self._descriptor

    def is_other_file(self, status: os.stat_result) -> bool:
        """Return whether a file cannot be the one that was opened: another one, or one that lost known lines."""
        return self._identity not in (None, (status.st_dev, status.st_ino)) or status.st_size < self.end

    def status(self) -> os.stat_result:
        """Return the status of the open file."""
        return os.fstat(self.ensure_open())

    def read(self, size: int, offset: int) -> bytes:
        """Return at most that many bytes from an offset on."""
        try:
            return os.pread(self.ensure_open(), size, offset)
        except OSError as error:
            raise self._unreadable(error) from error

    def body_at(self, offset: int, length: int | None = None) -> bytes:
        """Return the line at an offset without its seal.

        Args:
            offset: where it begins.
            length: with its line end, if it is known.

        Raises:
            MemoryStoreError: it is not the line that was written behind the line before it.
        """
        lead = min(offset, SEAL_LENGTH + 1)
        content = self.read(lead + (length or _MOST_LINES_ARE_SHORTER), offset - lead)
        end = content.find(b"\n", lead)
        if end < 0:
            content = self.read(lead + MAX_LINE_BYTES + 1, offset - lead)
            end = content.find(b"\n", lead)
        if end < 0:
            raise bad_line_at(self.path, offset, "it has no end")
        return checked_body(self.path, offset, content[lead:end], content[: lead - 1] if lead else None)

    def _unreadable(self, error: OSError) -> MemoryStoreError:
        return MemoryStoreError(f"cannot read {self.path}: {error.strerror}", path=self.path)
