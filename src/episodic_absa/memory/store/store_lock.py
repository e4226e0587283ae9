"""Lets one writer at a time append to a store: an exclusive flock on `<store>.lock`.

The lock file is not the store, because compacting replaces the store. It also keeps the end of the store that was
acknowledged last.
"""

import fcntl
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.forked_child import call_in_forked_child
from episodic_absa.serialization.acknowledged_end import AcknowledgedEnd, lock_path, write_end
from episodic_absa.serialization.durable_file import make_private_directory

_FIRST_WAIT_S: Final = 0.0002
_LONGEST_WAIT_S: Final = 0.01

LockState = Literal["none", "free", "held"]
"""none: nobody has written to the store yet. The lock file of a finished writer stays, and is free."""


class StoreLock:
    """The writers' lock of a store. One object may take it several times; objects and processes exclude each other."""

    def __init__(self, store_path: Path, *, timeout_s: float) -> None:
        self.path = lock_path(store_path)
        self._store_path = store_path
        self._timeout_s = timeout_s
        self._name = str(self.path)
        self._descriptor: int | None = None
        self._identity = (0, 0)
        self._depth = 0
        # flock does not exclude threads that share a descriptor.
        self._threads = threading.RLock()
        call_in_forked_child(self, StoreLock._reopen_in_child)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock within a `with` block.

        Raises:
            MemoryStoreError: another writer holds the lock longer than the timeout, or the folder is not writable.
        """
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def acquire(self) -> None:
        """Take the lock, or count one more use if this object holds it."""
        self._threads.acquire()
        try:
            if self._depth == 0:
                self._acquire()
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        """Undo one `acquire`."""
        if not self._depth:
            return  # a forked child leaves a block that its parent entered
        self._depth -= 1
        if self._depth == 0 and self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self._threads.release()

    def acknowledge(self, end: AcknowledgedEnd) -> None:
        """Record in the lock file how far the store was written. The caller holds the lock."""
        if self._descriptor is not None:
            write_end(self._descriptor, end)

    def _reopen_in_child(self) -> None:
        """Give up the lock of the parent in a forked child. Closing the child's copy leaves the parent its lock."""
        self._threads = threading.RLock()
        self.close()

    def close(self) -> None:
        """Close the lock file, which releases the lock."""
        self._close_descriptor()
        self._depth = 0

    def _close_descriptor(self) -> None:
        if self._descriptor is not None:
            self._close_file()
            self._descriptor = None

    def _acquire(self) -> None:
        deadline = time.monotonic() + self._timeout_s
        while True:
            self._acquire_opened(deadline)
            if self._is_still_the_lock_file():
                return
            # The lock file was removed meanwhile; another writer would lock the new one.
            self._close_descriptor()

    def _is_still_the_lock_file(self) -> bool:
        try:
            current = os.stat(self._name)  # noqa: PTH116 - called for every append; Path.stat is slower
        except FileNotFoundError:
            return False
        return self._identity == (current.st_dev, current.st_ino)

    def _acquire_opened(self, deadline: float) -> None:
        descriptor = self._opened()
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise MemoryStoreError(
                        f"another writer has held {self.path} for {self._timeout_s:g} s; "
                        f"wait until the run or command that writes to {self._store_path} has ended, then run again",
                        path=self._store_path,
                    ) from None
                time.sleep(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            else:
                return

    def _opened(self) -> int:
        if self._descriptor is None:
            try:
                make_private_directory(self.path.parent)
                self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                # A store that nobody closed gives its descriptors back when it is forgotten.
                self._close_file = weakref.finalize(self, os.close, self._descriptor)
                status = os.fstat(self._descriptor)
                self._identity = (status.st_dev, status.st_ino)
            except OSError as error:
                raise MemoryStoreError(
                    f"cannot write beside {self._store_path}: {error.strerror}; "
                    "choose a store in a folder you may write to",
                    path=self._store_path,
                ) from error
        return self._descriptor


def lock_state(store_path: Path) -> LockState:
    """Return whether a writer holds the lock of a store now. Creates no lock file."""
    try:
        descriptor = os.open(lock_path(store_path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return "none"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return "held"
    finally:
        os.close(descriptor)
    return "free"
