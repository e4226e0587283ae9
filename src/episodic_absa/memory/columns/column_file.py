"""A file of columns that are mapped into memory: a head in JSON, numbers, and at its end a sha256 of all before it.

The numbers have the byte order of the machine. A file is replaced, never changed, so a reader keeps what it opened.
"""

import mmap
import os
import secrets
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from pydantic import TypeAdapter, ValidationError

from episodic_absa.memory.columns.number_column import NumberCode
from episodic_absa.serialization.drafts import draft_of
from episodic_absa.serialization.durable_file import PRIVATE_FILE, sync_directory

_MAGIC: Final = b"episodic_absa.columns 1\n"
_LENGTHS: Final = struct.Struct("<QQ")
_START_BYTES: Final = len(_MAGIC) + _LENGTHS.size
_DIGEST_BYTES: Final = 32
_ALIGNMENT: Final = 8
_CHUNK: Final = 1 << 20


class Column(NamedTuple):
    """Numbers to be written."""

    code: NumberCode
    parts: Sequence[memoryview]
    """One behind the other."""


Columns = dict[str, Column]


class _Place(NamedTuple):
    """Where the numbers of a column stand behind the head."""

    code: NumberCode
    first: int
    byte_n: int


_places = TypeAdapter(dict[str, _Place])


class ColumnFileError(ValueError):
    """A file is no file of columns, or is damaged. The message quotes nothing of it."""


class MappedColumns:
    """The columns of a file. Pages that nobody asks for take no memory."""

    def __init__(self, content: memoryview, places: dict[str, _Place]) -> None:
        self._content = content
        self._places = places

    @classmethod
    def none(cls) -> "MappedColumns":
        """Return the columns of no file: each is empty."""
        return cls(memoryview(b""), {})

    def numbers(self, name: str) -> memoryview:
        """Return the numbers of a column; none for a column that the file does not have."""
        place = self._places.get(name)
        if place is None or not place.byte_n:
            return memoryview(b"")
        return self._content[place.first : place.first + place.byte_n].cast(place.code)


class ColumnFile:
    """An open file of columns. Its head can be looked at before the rest is checked.

    Raises:
        ColumnFileError: it does not begin as such a file.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        # A link could name a file of somebody else, and a named pipe would keep the reader waiting.
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self.status = os.fstat(self._descriptor)
            self.head, self._places_json = self._read_head()
        except BaseException:
            os.close(self._descriptor)
            raise

    def _read_head(self) -> tuple[bytes, bytes]:
        if not stat.S_ISREG(self.status.st_mode):
            raise ColumnFileError("it is no regular file")
        start = os.read(self._descriptor, _START_BYTES)
        if not start.startswith(_MAGIC) or len(start) < _START_BYTES:
            raise ColumnFileError("it does not begin as an index does")
        head_n, places_n = _LENGTHS.unpack(start[len(_MAGIC) :])
        if head_n + places_n > self.status.st_size:
            raise ColumnFileError("it is cut short")
        return os.read(self._descriptor, head_n), os.read(self._descriptor, places_n)

    def checked_columns(self) -> MappedColumns:
        """Return the columns, once the whole file was held against the hash at its end.

        Raises:
            ColumnFileError: it is not as it was written.
        """
        size, hashed = self.status.st_size - _DIGEST_BYTES, sha256()
        # Read in pieces, not through the map: mapped pages that were touched count as memory of the process.
        for chunk in self._chunks(size):
            hashed.update(chunk)
        if hashed.digest() != os.pread(self._descriptor, _DIGEST_BYTES + 1, max(size, 0)):
            raise ColumnFileError("its hash does not fit")
        try:
            places = _places.validate_json(self._places_json)
        except ValidationError as error:
            raise ColumnFileError("it does not say where its columns stand") from error
        mapped = memoryview(mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ))
        first = _aligned(_START_BYTES + len(self.head) + len(self._places_json))
        return MappedColumns(mapped[first:], places)

    def _chunks(self, size: int) -> Iterator[bytes]:
        position = 0
        while position < size and (chunk := os.pread(self._descriptor, min(_CHUNK, size - position), position)):
            yield chunk
            position += len(chunk)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def write_columns(path: Path, head: bytes, columns: Columns) -> None:
    """Replace a file of columns durably; at any moment the old or the new one is whole. Only the user may read it.

    Raises:
        OSError: the old file stands.
    """
    # Drafts of killed processes go. Threads and machines that write at once have drafts of their own.
    plain = draft_of(path)
    draft = plain.with_name(f".{path.name}.{secrets.token_hex(4)}.{os.getpid()}.new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
        with open(descriptor, "wb", buffering=_CHUNK) as file:
            hashed = sha256()
            for piece in _pieces(head, columns):
                hashed.update(piece)
                file.write(piece)
            file.write(hashed.digest())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_directory(path.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _pieces(head: bytes, columns: Columns) -> Iterator[bytes | memoryview]:
    """Yield the content of a file without its hash."""
    places: dict[str, _Place] = {}
    first = 0
    for name, column in columns.items():
        byte_n = sum(part.nbytes for part in column.parts)
        places[name] = _Place(column.code, first, byte_n)
        first = _aligned(first + byte_n)
    places_json = _places.dump_json(places)
    yield _MAGIC + _LENGTHS.pack(len(head), len(places_json)) + head + places_json
    yield _padding(_START_BYTES + len(head) + len(places_json))
    for name, column in columns.items():
        for part in column.parts:
            yield part.cast("B") if part.nbytes else b""
        yield _padding(places[name].byte_n)


def _aligned(byte_n: int) -> int:
    return -(-byte_n // _ALIGNMENT) * _ALIGNMENT


def _padding(byte_n: int) -> bytes:
    return bytes(_aligned(byte_n) - byte_n)
