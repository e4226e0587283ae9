"""An append-only file whose writes are on disk when they return, or are undone and reported.

The seam to the disk: tests replace `write_some` and `sync` to simulate a full or failing disk.
"""

import os
from pathlib import Path


class FsyncFailedError(OSError):
    """The disk did not confirm a write. It must not be tried again: the kernel may have dropped the data."""


class DurableFile:
    """One open file, written at its end and read anywhere."""

    def __init__(self, path: Path) -> None:
        existed = path.exists()
        make_private_directory(path.parent)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if not existed:
            sync_directory(path.parent)

    def append(self, data: bytes, *, at: int) -> None:
        """Write all of `data` at the end, which must be `at`, and wait until it is on disk."""
        try:
            written = 0
            while written < len(data):
                written += self.write_some(data[written:])
        except OSError:
            self._undo(at)
            raise
        try:
            self.sync()
        except OSError as error:
            self._undo(at)
            raise FsyncFailedError(error.errno, f"fsync failed: {error.strerror}") from error

    def cut(self, size: int) -> None:
        """Shorten the file durably."""
        os.ftruncate(self._descriptor, size)
        self.sync()

    def write_some(self, data: bytes) -> int:
        """Write a part of `data` and return its length."""
        return os.write(self._descriptor, data)

    def sync(self) -> None:
        """Wait until everything written is on disk."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _undo(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
        except OSError:
            # The disk refuses even this. An unterminated line remains, which readers ignore, or a whole line
            # that was never confirmed; the error that led here is the one to report.
            return


def make_private_directory(path: Path) -> None:
    """Make a directory, and those above it that are missing, for the owner only. One that exists stays as it is."""
    for directory in (*reversed(path.parents), path):
        if not directory.exists():
            directory.mkdir(mode=0o700, exist_ok=True)


def replace_durably(path: Path, content: bytes) -> None:
    """Replace a small file; at any moment the old or the new one is whole."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    writer = DurableFile(draft)
    try:
        writer.append(content, at=0)
    finally:
        writer.close()
    draft.replace(path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a created or renamed name in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
