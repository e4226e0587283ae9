"""samples.jsonl: a header and one sealed line per sample. Writes, reads and cuts it.

The last member of a line is its seal, `sha256`: 16 hex digits over the seal of the line before and the line without it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from pydantic import ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.schemas.run_files.sample_record import SampleRecord, SamplesHeader
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import DurableFile, why_not_written
from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.serialization.seals import (
    DOES_NOT_FIT,
    NO_CHECKSUM,
    NO_SEAL,
    checksum_of,
    opened,
    seal,
)


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


SAMPLES: Final = "samples.jsonl"
ModelT = TypeVar("ModelT", SamplesHeader, SampleRecord)


class SamplesContent(NamedTuple):
    """What a samples.jsonl holds."""

    header: SamplesHeader | None = None
    """None: the file is missing, empty, or ends within its first line."""
    records: tuple[SampleRecord, ...] = ()
    ends: tuple[int, ...] = (0,)
    """The offset at which the header ends, then that of each record; (0,) without a header."""
    seals: tuple[bytes, ...] = (NO_CHECKSUM,)
    """The seal of each of these lines."""
    is_torn: bool = False
    """Whether an unfinished line follows: a kill cut it short, and the run that resumes cuts it off."""


def read_samples(path: Path) -> SamplesContent:
    """Return the records of a file, every seal checked. A missing file holds none.

    Raises:
        RunDirectoryError: a whole line is not as the run wrote it; the message names file and line.
    """
    try:
        lines, torn = split_lines(path.read_bytes())
    except FileNotFoundError:
        return SamplesContent()
    except OSError as error:
        raise RunDirectoryError(f"cannot read {path}: {error.strerror}", path=path) from error
    bodies, seals = _bodies(path, lines, NO_CHECKSUM)
    if not bodies:
        return SamplesContent(is_torn=bool(torn))
    header = _value(path, 1, bodies[0], SamplesHeader)
    records = tuple(_value(path, number, body, SampleRecord) for number, body in enumerate(bodies[1:], start=2))
    ends, size = [], 0
    for line in lines:
        size += len(line) + 1
        ends.append(size)
    return SamplesContent(header, records, tuple(ends), tuple(seals), bool(torn))


def require_places(path: Path, records: Sequence[SampleRecord], uids: Sequence[str] | None = None) -> None:
    """Refuse records that do not stand at their places, each sample once.

    Args:
        path: the file, for errors.
        records: all of its records.
        uids: the samples of the cell in order, if they are known.

    Raises:
        RunDirectoryError: it names the line.
    """
    seen: set[str] = set()
    for place, record in enumerate(records):
        is_due = uids is None or (place < len(uids) and uids[place] == record.uid)
        if record.sample_index != place or record.uid in seen or not is_due:
            why = f"sample {record.sample_index + 1} ({record.uid!r}) does not belong there"
            raise changed_line(path, place + 2, why)
        seen.add(record.uid)


def require_cell(path: Path, content: SamplesContent, cfg_hash: str) -> None:
    """Refuse records of another cell or configuration, whose seals fit each other. A header alone may be replaced.

    Args:
        path: the file, for errors.
        content: what it holds.
        cfg_hash: of the cell that its directory is of.

    Raises:
        RunDirectoryError: it names the line.
    """
    if content.header is not None and content.records and content.header.cfg_hash != cfg_hash:
        raise changed_line(path, 1, "these samples belong to another cell or configuration")


def sealed_samples(header: SamplesHeader, records: Iterable[SampleRecord]) -> bytes:
    """Return the content of a file with these records."""
    lines, last = [], NO_CHECKSUM
    values: list[SamplesHeader | SampleRecord] = [header, *records]
    for value in values:
        line, last = seal(_body_of(value), last)
        lines.append(line + b"\n")
    return b"".join(lines)


class SamplesTail:
    """Reads the records that are appended to a file while its run goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._seal = NO_CHECKSUM
        self._line_n = 0

    def new_records(self) -> Iterator[SampleRecord]:
        """Yield the records since the last call; a line that is being written comes with the next one."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._size)
                lines = split_lines(file.read()).lines
        except FileNotFoundError:
            return
        bodies, seals = _bodies(self._path, lines, self._seal, self._line_n)
        first, self._line_n = self._line_n, self._line_n + len(lines)
        self._size += sum(len(line) + 1 for line in lines)
        self._seal = seals[-1] if seals else self._seal
        for number, body in enumerate(bodies, start=first + 1):
            if number > 1:
                yield _value(self._path, number, body, SampleRecord)


class SamplesFile:
    """A samples.jsonl that is open for appending.

    Args:
        path: the file.
        content: what it holds.
        keep_n: how many of its records stay; whatever follows is cut off.
    """

    def __init__(self, path: Path, content: SamplesContent, keep_n: int) -> None:
        self._path = path
        self._size, self._seal = content.ends[keep_n], content.seals[keep_n]
        with writing(path):
            self._file = DurableFile(path)
            if path.stat().st_size != self._size:
                self._file.cut(self._size)

    @property
    def is_empty(self) -> bool:
        """Whether not even the header is written."""
        return self._size == 0

    def append(self, value: SamplesHeader | SampleRecord) -> None:
        """Write a line; it is on disk when this returns.

        Raises:
            RunDirectoryError: it cannot be written.
        """
        line, checksum = seal(_body_of(value), self._seal)
        with writing(self._path):
            self._file.append(line + b"\n", at=self._size)
        self._size, self._seal = self._size + len(line) + 1, checksum

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def changed_line(path: Path, number: int, why: str) -> RunDirectoryError:
    """Return the error about a line that is not as the run wrote it."""
    return RunDirectoryError(
        f"{path}, line {number}: {why}; restore the file, or move {path.parent} away and run again: "
        "its samples run again, with the answers that the cache holds",
        path=path,
    )


def _bodies(path: Path, lines: Sequence[bytes], previous: bytes, line_n: int = 0) -> tuple[list[bytes], list[bytes]]:
    """Return whole lines without their seals, and the seals.

    Args:
        path: the file, for errors.
        lines: without line ends.
        previous: the seal of the line before.
        line_n: how many lines stand before.
    """
    bodies, seals = [], []
    for number, line in enumerate(lines, start=line_n + 1):
        body, stated = opened(line)
        if stated != checksum_of(body, previous):
            raise changed_line(path, number, DOES_NOT_FIT if stated else NO_SEAL)
        bodies.append(body)
        seals.append(stated)
        previous = stated
    return bodies, seals


def _value(path: Path, number: int, body: bytes, model: type[ModelT]) -> ModelT:
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise changed_line(path, number, reasons_of(error)) from error


def _body_of(value: SamplesHeader | SampleRecord) -> bytes:
    return canonical_json(value.to_json() if isinstance(value, SampleRecord) else value).encode()
