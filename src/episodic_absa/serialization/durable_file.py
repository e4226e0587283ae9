"""Files whose writes are on disk when they return or are undone, and files that are replaced as a whole.

The seam to the disk: tests replace `write_some` and `sync` to simulate a full or failing disk. What the program writes
only its user may read: review text stands in most of its files.
"""

import errno
import fcntl
import glob
import os
import weakref
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

PRIVATE_FILE: Final = 0o600
_PRIVATE_DIRECTORY: Final = 0o700


class FsyncFailedError(OSError):
    """The disk did not confirm a write. It must not be tried again: the kernel may have dropped the data."""


class DurableFile:
    """One open file, written at its end and read anywhere.

    Args:
        path: the file; with its directory it is made if it does not exist.
        is_private: only the user may read a new file; False leaves that to the umask, for a file that the user named.
    """

    def __init__(self, path: Path, *, is_private: bool = True) -> None:
        existed = path.exists()
        make_private_directory(path.parent)
        self._path = path
        mode = PRIVATE_FILE if is_private else 0o666
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, mode)
        # A file that nobody closed is closed when it is forgotten.
        self._close_file = weakref.finalize(self, os.close, self._descriptor)
        if not existed:
            sync_directory(path.parent)

    def lock(self) -> bool:
        """Keep other processes out until the file is closed; return whether none was first."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def append(self, data: bytes, *, at: int, waits: bool = True) -> None:
        """Write all of `data` at the end, which must be `at`.

        Args:
            data: what to write.
            at: the size of the file.
            waits: until it is on disk; else `sync` does.

        Raises:
            OSError: nothing was written; it names the file.
        """
        try:
            written = 0
            while written < len(data):
                written += self.write_some(data[written:])
        except OSError as error:
            self._undo(at)
            raise named(error, self._path) from error
        try:
            if waits:
                self.sync()
        except OSError as error:
            self._undo(at)
            raise FsyncFailedError(error.errno, f"fsync failed: {error.strerror}", str(self._path)) from error

    def cut(self, size: int) -> None:
        """Shorten the file durably."""
        try:
            os.ftruncate(self._descriptor, size)
            self.sync()
        except OSError as error:
            raise named(error, self._path) from error

    def write_some(self, data: bytes) -> int:
        """Write a part of `data` and return its length."""
        return os.write(self._descriptor, data)

    def sync(self) -> None:
        """Wait until everything written is on disk."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        self._close_file()

    def _undo(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
        except OSError:
            # The disk refuses even this. An unterminated line remains, which readers ignore, or a whole line
            # that was never confirmed; the error that led here is the one to report.
            return


def replace_durably(path: Path, content: bytes, *, is_private: bool = True) -> None:
    """Replace a small file; at any moment the old or the new one is whole.

    Args:
        path: the file.
        content: its new content.
        is_private: only the user may read it; False leaves that to the umask, for a file that the user named.

    Raises:
        OSError: the old file stands; the error names it, not the draft.
    """
    draft = path.with_name(f"{path.name}.new")
    try:
        draft.unlink(missing_ok=True)
        writer = DurableFile(draft, is_private=is_private)
        try:
            writer.append(content, at=0)
        finally:
            writer.close()
        draft.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise named(error, path) from error


def open_privately(path: Path) -> BinaryIO:
    """Open a file for writing from its start; if it is new, only the user may read it."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE), "wb")


def make_private_directory(path: Path) -> None:
    """Make a directory with those above it that are missing; only the user may enter what is made.

    A directory that exists keeps its mode.
    """
    if path.is_dir():
        return
    for folder in reversed([path, *path.parents]):
        if not folder.is_dir():
            # Another process may make the same directory at the same time.
            folder.mkdir(mode=_PRIVATE_DIRECTORY, exist_ok=True)


def named(error: OSError, path: Path) -> OSError:
    """Return an error of the operating system that names a file; a full disk alone names none."""
    if error.filename == str(path):
        return error
    return type(error)(error.errno, error.strerror, str(path))


def why_not_written(path: Path, error: OSError) -> str:
    """Return in words which file cannot be written, why, and what to do next."""
    # Not the error's own file name, which may be that of a draft.
    if path.is_dir():
        return f"cannot write {path}: a directory stands in its place; move it away"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what_next = "make the place writable, or work on a copy of the run"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        what_next = "make room on the disk and run the command again"
    else:
        what_next = "fix that and run the command again"
    return f"cannot write {path}: {error.strerror}; {what_next}"


def sync_directory(directory: Path) -> None:
    """Make a created or renamed name in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def draft_of(path: Path) -> Path:
    """Return where this process writes the draft of a file; drafts that killed processes left there are removed.

    A draft may hold reviews, so that none may stay behind when its file is written again.
    """
    for abandoned in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        writer = abandoned.name.split(".")[-2]
        if writer.isdecimal() and not _is_running(int(writer)):
            # Another process removes it at the same time, or the folder is read-only: writing will say so.
            with suppress(OSError):
                abandoned.unlink()
    return path.with_name(f".{path.name}.{os.getpid()}.new")


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
