"""The files of a cell while it runs: they are appended to and hashed at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.committed.growing_hash import GrowingHash, hash_of
from episodic_absa.schemas.run_files.journal_line import FileState
from episodic_absa.serialization.durable_file import DurableFile, why_not_written


class GrowingFiles:
    """Files of one directory, open for appending."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, DurableFile] = {}
        self._sizes: dict[str, int] = {}
        self._hashes: dict[str, GrowingHash] = {}

    def open(self, name: str, size: int) -> bool:
        """Open a file and cut it at an offset; return whether more than that was there.

        Raises:
            RunDirectoryError: it cannot be written.
        """
        path = self._directory / name
        with writing(path):
            file = DurableFile(path)
            self._files[name], self._sizes[name] = file, size
            has_more = path.stat().st_size != size
            if has_more:
                file.cut(size)
        return has_more

    def append(self, name: str, text: str) -> None:
        """Append text, which is on disk when this returns.

        Raises:
            RunDirectoryError: it cannot be written.
        """
        data = text.encode()
        if data:
            growing = self._hash(name)
            with writing(self._directory / name):
                self._files[name].append(data, at=self._sizes[name])
            self._sizes[name] += len(data)
            growing.add(data)

    def state(self, name: str) -> FileState:
        """Return the size and the hash of an open file."""
        return self._hash(name).state

    def close(self) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()
        self._files = {}

    def _hash(self, name: str) -> GrowingHash:
        # What an earlier run wrote is read once, and only if something follows.
        if name not in self._hashes:
            self._hashes[name] = hash_of(self._directory / name, self._sizes[name])
        return self._hashes[name]


class GrowingStore:
    """The hash of a store that others append to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hash = GrowingHash()

    def state(self) -> FileState:
        """Return the size and the hash of the store; only what came since the last call is read."""
        size = self._path.stat().st_size if self._path.exists() else 0
        if size < self._hash.size:
            # Another process rewrote a store outside the run directory.
            self._hash = GrowingHash()
        self._hash.read_on(self._path, size)
        return self._hash.state


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a disk error into one that says which file cannot be written, and what to do.

    Raises:
        RunDirectoryError: for every OSError within.
    """
    try:
        yield
    except OSError as error:
        raise RunDirectoryError(why_not_written(path, error), path=path) from error
