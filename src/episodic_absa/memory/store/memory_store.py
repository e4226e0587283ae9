"""Episodes on disk: one JSON line each, appended durably, read once and then followed as others append.

The file is never rewritten here. Keeping only the last `keep_last_n` episodes is a matter of the index;
`store_maintenance` is what compacts or repairs the file.
"""

import logging
import os
import re
import threading
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, overload

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from episodic_absa.errors import ConfigError, MemoryStoreError
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.episodes.leak_guard import refuse_forbidden_keys, refuse_open_vocabulary
from episodic_absa.memory.retrieval.episode_index import EpisodeIndex, IndexedEpisodes
from episodic_absa.memory.store.bad_line import bad_line_error, rejected_path
from episodic_absa.memory.store.store_lock import StoreLock
from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1, EpisodicMemoryEntryV1_1, SnapshotV1_1
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import DurableFile, FsyncFailedError
from episodic_absa.serialization.validation_reasons import reasons_of

DEFAULT_KEEP_LAST_N: Final = 5000
DEFAULT_LOCK_TIMEOUT_S: Final = 30.0
MAX_EPISODE_NUMBER: Final = (1 << 62) - 1
_READ_CHUNK: Final = 1 << 20
_ENTRIES_KEPT: Final = 512
_EPISODE_ID = re.compile(rb'"episode_id":\s*"epi_([0-9]{6,})"')

logger = logging.getLogger("episodic_absa.memory")


class MemoryStore:
    """The episodes of one JSONL file. Nothing is opened before it is needed; nothing is created before an append.

    Args:
        path: the file.
        keep_last_n: how many of the newest episodes stay in use. The file keeps all of them.
        catalogue: the principles that episodes may name; by default the shipped ones.
        lock_timeout_s: how long an append waits for another writer.
        open_file: opens the file for appending; tests put a failing disk here.

    Raises:
        ConfigError: `keep_last_n` is below 1.
        MemoryStoreError: the file cannot be read or written safely.

    Example:
        >>> from episodic_absa import MemoryStore, analyze
        >>> result = analyze("The room was clean, but the breakfast was cold.", condition="C2", store="memory.jsonl")
        >>> with MemoryStore("memory.jsonl") as store:
        ...     [episode.episode_id for episode in store.load()]
        ['epi_000001']
    """

    def __init__(
        self,
        path: str | Path,
        *,
        keep_last_n: int = DEFAULT_KEEP_LAST_N,
        catalogue: PrincipleCatalogue | None = None,
        lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
        open_file: Callable[[Path], DurableFile] = DurableFile,
    ) -> None:
        if keep_last_n < 1:
            raise ConfigError(f"keep_last_n must be at least 1, got {keep_last_n}", key="episodic_memory.keep_last_n")
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError) as error:
            raise MemoryStoreError(f"cannot find {path}: {error}", path=Path(path)) from error
        # Threads may share a store object for single calls; walking through episodes is for one thread at a time.
        self._threads = threading.RLock()
        self._catalogue = catalogue
        self._open_file = open_file
        self._lock = StoreLock(self.path, timeout_s=lock_timeout_s)
        self._writer: DurableFile | None = None
        self._fsync_failed = False
        self._tail = _Tail(self.path, keep_last_n)

    def load(self) -> "StoredEpisodes":
        """Return the live episodes: the first call reads the file, later ones only what was appended since."""
        with self._threads:
            self._follow()
            return StoredEpisodes(self._tail)

    def __len__(self) -> int:
        return len(self.load())

    def get(self, episode_id: str) -> EpisodicMemoryEntryV1_1 | None:
        """Return one episode of the file by its id, pruned ones included."""
        with self._threads:
            self._follow()
            return self._tail.find(episode_id)

    def append(self, draft: EpisodeDraftV1_1 | Mapping[str, Any]) -> EpisodicMemoryEntryV1_1:
        """Number an episode, write it, and return it once it is on disk.

        Nothing is written and no number is used up if the episode leaks, breaks the schema, or cannot be made
        durable.
        """
        checked = self._checked(draft)
        # Always the writers' lock first, then the threads': two threads must not wait for each other.
        self._begin_writing()
        try:
            with self._threads:
                return self._append(checked)
        finally:
            self._end_writing()

    def _append(self, checked: EpisodeDraftV1_1) -> EpisodicMemoryEntryV1_1:
        self._set_torn_line_aside()
        try:
            line = _line_of(checked, self._tail.next_id)
            # Reading the line back proves that what is written is what every reader will accept.
            entry = EpisodicMemoryEntryV1_1.model_validate_json(line)
        except ValidationError as error:
            raise MemoryStoreError(f"not an episode: {reasons_of(error)}", path=self.path) from error
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            raise MemoryStoreError("not an episode: a string is not valid Unicode", path=self.path) from error
        self._write(line)
        self._tail.add(entry, line)
        return entry

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writers' lock: around one append, or around a whole run that appends many."""
        self._begin_writing()
        try:
            yield
        finally:
            self._end_writing()

    def _begin_writing(self) -> None:
        self._lock.acquire()
        try:
            with self._threads:
                self._follow()
        except BaseException:
            self._lock.release()
            raise

    def _end_writing(self) -> None:
        self._lock.release()

    def close(self) -> None:
        """Close the files. The store may be used again; it then opens them anew."""
        self._drop_writer()
        self._tail.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _checked(self, draft: EpisodeDraftV1_1 | Mapping[str, Any]) -> EpisodeDraftV1_1:
        if not isinstance(draft, EpisodeDraftV1_1):
            if not isinstance(draft, Mapping):
                raise MemoryStoreError(f"not an episode but a {type(draft).__name__}", path=self.path)
            refuse_forbidden_keys(draft)
            try:
                without_id = {key: value for key, value in draft.items() if key != "episode_id"}
                draft = EpisodeDraftV1_1.model_validate(without_id)
            except ValidationError as error:
                raise MemoryStoreError(f"not an episode: {reasons_of(error)}", path=self.path) from error
        if self._catalogue is None:
            self._catalogue = load_catalogue()
        refuse_open_vocabulary(draft, self._catalogue)
        return draft

    def _follow(self) -> None:
        if self._tail.follow():
            self._drop_writer()

    def _write(self, line: bytes) -> None:
        if self._fsync_failed:
            raise MemoryStoreError(
                f"{self.path} could not be made durable earlier in this run; nothing more is written to it. "
                "Check the disk and start again: what was acknowledged is on disk",
                path=self.path,
            )
        try:
            self._opened_writer().append(line, at=self._tail.end)
        except OSError as error:
            # After a failed fsync the kernel may call dirty pages clean: trying again would only look durable.
            self._fsync_failed = isinstance(error, FsyncFailedError)
            raise self._not_stored(error) from error

    def _set_torn_line_aside(self) -> None:
        """Move what a killed writer left behind the last whole line into `<store>.torn`. Needs the lock."""
        torn = self._tail.torn_bytes()
        if not torn:
            return
        aside = torn_path(self.path)
        try:
            keeper = self._open_file(aside)
            try:
                keeper.append(torn + b"\n", at=aside.stat().st_size)
            finally:
                keeper.close()
            self._opened_writer().cut(self._tail.end)
        except OSError as error:
            raise self._not_stored(error) from error
        logger.warning(
            "%s ended in an unfinished line (%d bytes, from a writer that was killed); set aside in %s",
            self.path,
            len(torn),
            aside,
        )

    def _opened_writer(self) -> DurableFile:
        if self._writer is None:
            self._writer = self._open_file(self.path)
            self._tail.ensure_open()
        return self._writer

    def _not_stored(self, error: OSError) -> MemoryStoreError:
        return MemoryStoreError(
            f"the episode was not stored in {self.path}: {error.strerror or error}; "
            "the store is as it was before. Free space or mend the disk, then run again",
            path=self.path,
        )

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class StoredEpisodes(IndexedEpisodes, Sequence[EpisodicMemoryEntryV1_1]):
    """The live episodes of a store, oldest first, each read from disk when it is asked for."""

    def __init__(self, tail: "_Tail") -> None:
        self._tail = tail

    @property
    def episode_index(self) -> EpisodeIndex:
        """The index over them."""
        return self._tail.index

    def at(self, ordinal: int) -> EpisodicMemoryEntryV1_1:
        """Return the episode that was added as number `ordinal`."""
        return self._tail.at(ordinal)

    def __len__(self) -> int:
        return self.episode_index.count - self.episode_index.first_live

    @overload
    def __getitem__(self, position: int) -> EpisodicMemoryEntryV1_1: ...
    @overload
    def __getitem__(self, position: slice) -> list[EpisodicMemoryEntryV1_1]: ...
    def __getitem__(self, position: int | slice) -> EpisodicMemoryEntryV1_1 | list[EpisodicMemoryEntryV1_1]:
        live = range(self.episode_index.first_live, self.episode_index.count)
        if isinstance(position, slice):
            return [self.at(ordinal) for ordinal in live[position]]
        return self.at(live[position])


class _Tail:
    """Follows the file as it grows: offsets and an index in memory, never the episodes themselves."""

    def __init__(self, path: Path, keep_last_n: int) -> None:
        self._path = path
        self._name = str(path)
        self._keep_last_n = keep_last_n
        self._descriptor: int | None = None
        self._forget()

    def _forget(self) -> None:
        self.close()
        self.index = EpisodeIndex(self._keep_last_n)
        self.end = 0
        """Where the last whole line ends."""
        self.has_more = False
        """Whether an unfinished line stood behind it when the file was last looked at."""
        self._identity = (0, 0)
        self._last_id = 0
        self._highest_rejected_id = 0
        self._offsets = array("Q")
        self._ids = array("Q")
        self._last_line = b""
        self._kept: OrderedDict[int, EpisodicMemoryEntryV1_1] = OrderedDict()

    @property
    def next_id(self) -> int:
        """The number of the next episode; one that a repair set aside is not given again."""
        return max(self._last_id, self._highest_rejected_id) + 1

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def ensure_open(self) -> None:
        """Open the file if it is not: it may just have been created."""
        if self._descriptor is None:
            try:
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise MemoryStoreError(f"cannot read {self._path}: {error.strerror}", path=self._path) from error
            status = os.fstat(self._descriptor)
            self._identity = (status.st_dev, status.st_ino)
            self._highest_rejected_id = highest_rejected_id(self._path)

    def follow(self) -> bool:
        """Take in what was appended. Returns whether the file is another one than before."""
        try:
            status = os.stat(self._name)  # noqa: PTH116 - asked for every sample; a Path takes its time
        except FileNotFoundError:
            replaced = self._descriptor is not None
            if self.end or replaced:
                self._forget()
            return replaced
        except OSError as error:
            raise MemoryStoreError(f"cannot read {self._path}: {error.strerror}", path=self._path) from error
        replaced = self._descriptor is not None and self._is_other_file(status)
        if replaced:
            self._forget()
        self.ensure_open()
        self.has_more = status.st_size > self.end
        if self.has_more:
            if not self._still_ends_as_known():
                self._forget()
                self.ensure_open()
            self._take_in()
            self.has_more = os.fstat(self._descriptor or 0).st_size > self.end
        return replaced

    def at(self, ordinal: int) -> EpisodicMemoryEntryV1_1:
        entry = self._kept.get(ordinal)
        if entry is None:
            line = self._line_at(ordinal)
            entry = self._parsed(line, ordinal + 1)
            self._kept[ordinal] = entry
            if len(self._kept) > _ENTRIES_KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(ordinal)
        return entry

    def find(self, episode_id: str) -> EpisodicMemoryEntryV1_1 | None:
        digits = episode_id.removeprefix("epi_")
        if not digits.isascii() or not digits.isdigit():
            return None
        number = int(digits)
        ordinal = bisect_left(self._ids, number)
        is_stored = ordinal < len(self._ids) and self._ids[ordinal] == number
        return self.at(ordinal) if is_stored else None

    def add(self, entry: EpisodicMemoryEntryV1_1, line: bytes) -> None:
        """Take in one line that stands at `end`."""
        self._register(entry, len(line))
        self._last_line = line

    def _register(self, entry: EpisodicMemoryEntryV1_1, length: int) -> None:
        number = int(entry.episode_id[4:])
        if number <= self._last_id:
            raise self._bad_line(
                len(self._offsets) + 1, f"{entry.episode_id} does not come after epi_{self._last_id:06d}"
            )
        if number > MAX_EPISODE_NUMBER:
            raise self._bad_line(len(self._offsets) + 1, f"{entry.episode_id} is no number that a store gives")
        self.index.add(entry)
        self._offsets.append(self.end)
        self._ids.append(number)
        self.end += length
        self._last_id = number

    def torn_bytes(self) -> bytes:
        """Return what stands behind the last whole line."""
        if self._descriptor is None or not self.has_more:
            return b""
        return os.pread(self._descriptor, os.fstat(self._descriptor).st_size - self.end, self.end)

    def _is_other_file(self, status: os.stat_result) -> bool:
        return self._identity != (status.st_dev, status.st_ino) or status.st_size < self.end

    def _still_ends_as_known(self) -> bool:
        """Whether the last line we know still stands where it stood: a cut and regrown file is another file."""
        known = self._last_line
        return self._read(len(known), self.end - len(known)) == known

    def _take_in(self) -> None:
        validate = EpisodicMemoryEntryV1_1.__pydantic_validator__.validate_json
        position, rest, line = self.end, b"", b""
        while chunk := self._read(_READ_CHUNK, position):
            position += len(chunk)
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            for line in lines:
                try:
                    entry = validate(line)
                except ValidationError as error:
                    raise self._bad_line(len(self._offsets) + 1, reasons_of(error)) from error
                self._register(entry, len(line) + 1)
            if lines:
                self._last_line = line + b"\n"

    def _read(self, size: int, offset: int) -> bytes:
        assert self._descriptor is not None  # noqa: S101 - asked only while open
        try:
            return os.pread(self._descriptor, size, offset)
        except OSError as error:
            raise MemoryStoreError(f"cannot read {self._path}: {error.strerror}", path=self._path) from error

    def _line_at(self, ordinal: int) -> bytes:
        assert self._descriptor is not None  # noqa: S101 - an ordinal exists only after a read
        start = self._offsets[ordinal]
        end = self._offsets[ordinal + 1] if ordinal + 1 < len(self._offsets) else self.end
        return os.pread(self._descriptor, end - start, start)

    def _parsed(self, line: bytes, number: int) -> EpisodicMemoryEntryV1_1:
        try:
            return EpisodicMemoryEntryV1_1.model_validate_json(line)
        except ValidationError as error:
            raise self._bad_line(number, reasons_of(error)) from error

    def _bad_line(self, number: int, reason: str) -> MemoryStoreError:
        return bad_line_error(self._path, number, reason)


def torn_path(store: Path) -> Path:
    """Where unfinished lines are set aside."""
    return store.with_name(store.name + ".torn")


def highest_rejected_id(store: Path) -> int:
    """Return the highest episode number among lines that a repair set aside, 0 if there are none."""
    try:
        content = rejected_path(store).read_bytes()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise MemoryStoreError(f"cannot read {rejected_path(store)}: {error.strerror}", path=store) from error
    numbers = (int(digits) for digits in _EPISODE_ID.findall(content))
    return max((number for number in numbers if number <= MAX_EPISODE_NUMBER), default=0)


def _line_of(draft: EpisodeDraftV1_1, number: int) -> bytes:
    """Return the canonical line of an episode, which begins with the fields before its id."""
    if not _is_canonical(draft.stage_snapshot.stage1) or not _is_canonical(draft.stage_snapshot.final):
        fields = draft.model_dump(mode="json")
        fields["episode_id"] = f"epi_{number:06d}"
        return canonical_json(fields).encode() + b"\n"
    # The models list their fields in canonical order. No string before it can hold this key unescaped.
    before, key, after = draft.__pydantic_serializer__.to_json(draft).partition(b'"episode_type":')
    return b'%b"episode_id":"epi_%06d",%b%b\n' % (before, number, key, after)


def _is_canonical(snapshot: SnapshotV1_1) -> bool:
    """Whether the only float and the only free keys of an episode are already as a canonical line holds them."""
    confidence, terms = snapshot.confidence, list(snapshot.polarities)
    # Smaller numbers are spelt in another way by the serializer.
    return confidence >= 0.0001 and round(confidence, 6) == confidence and terms == sorted(terms)
