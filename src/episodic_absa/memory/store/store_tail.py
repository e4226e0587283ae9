"""The reading side of a store: follows the file as it grows, and gives its live episodes."""

import os
import re
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.columns.column_file import Column, Columns, MappedColumns
from episodic_absa.memory.columns.number_column import NumberCode, NumberColumn
from episodic_absa.memory.columns.source_table import TableColumns
from episodic_absa.memory.columns.values_by_source import FiledValues
from episodic_absa.memory.episodes.judged_episode import with_verdicts
from episodic_absa.memory.retrieval.episode_index import EpisodeIndex
from episodic_absa.memory.retrieval.known_samples import KnownSamples
from episodic_absa.memory.retrieval.past_index import LiveEpisodes
from episodic_absa.memory.store.bad_line import bad_line_error, lost_lines_error, rejected_path
from episodic_absa.memory.store.episode_line import MAX_EPISODE_NUMBER, parse_episode
from episodic_absa.memory.store.index_snapshot import SNAPSHOT_AFTER, StoreState, load_snapshot, save_snapshot
from episodic_absa.memory.store.reading.line_search import bad_line_at
from episodic_absa.memory.store.reading.line_values import tally_at, verdict_at
from episodic_absa.memory.store.reading.store_reader import StoreReader
from episodic_absa.memory.store.store_line import next_body, parse_line
from episodic_absa.schemas.memory_v1_2 import (
    AnyEpisode,
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    store_chain,
)
from episodic_absa.serialization.acknowledged_end import AcknowledgedEnd, read_end
from episodic_absa.serialization.sealed_lines import MAX_LINE_BYTES, NO_CHECKSUM

_READ_CHUNK: Final = 1 << 20
_ENTRIES_KEPT: Final = 512
# Python refuses to parse numbers of thousands of digits, and no store gives one above 18.
_EPISODE_ID = re.compile(rb'"episode_id":\s*"epi_([0-9]{6,18})"')
_TABLE_CODES: Final[tuple[NumberCode, ...]] = ("Q", "Q", "I", "I")


class StoreTail:
    """Reads a store file once and then only what was appended. Memory holds offsets and an index, not the episodes.

    Args:
        path: the file.
        keep_last_n: how many of the newest episodes are live.
        snapshot_after: how many lines a store has beyond its snapshot before one is written.
    """

    def __init__(self, path: Path, keep_last_n: int, snapshot_after: int = SNAPSHOT_AFTER) -> None:
        self._path = path
        self._name = str(path)
        self._keep_last_n = keep_last_n
        self._snapshot_after = snapshot_after
        self._reader = StoreReader(path)
        self._forget()

    def _forget(self) -> None:
        self.close()
        self._reader = StoreReader(self._path)
        self.has_more = False
        """Whether bytes followed the last whole line when the file was last read."""
        self._last_id = 0
        self._highest_rejected_id = 0
        self._line_n = 0
        self._snapshot_line_n = 0
        self._last_line = b""
        self._chain = store_chain()
        self._kept: OrderedDict[int, AnyEpisode] = OrderedDict()
        self._begin_columns(MappedColumns.none())

    def _begin_columns(self, columns: MappedColumns) -> None:
        """Begin an index whose episodes and lines so far stand in the columns of a snapshot."""
        reader = self._reader
        self._offsets = NumberColumn("Q", columns.numbers("episodes.offsets"))
        self._lengths = NumberColumn("I", columns.numbers("episodes.lengths"))
        self._ids = NumberColumn("Q", columns.numbers("episodes.ids"))
        self._verdicts = FiledValues(partial(verdict_at, reader), reader.next_offset, _table("verdicts", columns))
        self._tallies = FiledValues(partial(tally_at, reader), reader.next_offset, _table("tallies", columns))
        self.index = EpisodeIndex(self._keep_last_n, KnownSamples(self._tallies, self._verdicts))

    @property
    def end(self) -> int:
        """The offset at which the last whole line ends."""
        return self._reader.end

    @property
    def next_id(self) -> int:
        """The number of the next episode. The number of an episode that a repair moved away is not used again."""
        return max(self._last_id, self._highest_rejected_id) + 1

    @property
    def is_open(self) -> bool:
        """Whether the file was found to be a store, and is read from."""
        return self._reader.is_open

    @property
    def acknowledged_end(self) -> AcknowledgedEnd:
        """What is known about the last line."""
        return AcknowledgedEnd(self._line_n, self._chain.checksum, self.next_id - 1)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def ensure_open(self) -> None:
        """Open the file if it is not open; it may just have been created."""
        if not self._reader.is_open:
            self._reader.ensure_open()
            self._highest_rejected_id = highest_rejected_id(self._path)

    def follow(self) -> bool:
        """Read what was appended since the last call. Return whether the file was replaced by another one."""
        try:
            status = os.stat(self._name)  # noqa: PTH116 - called for every sample; Path.stat is slower
        except FileNotFoundError:
            replaced = self._reader.is_open
            if self.end or replaced:
                self._forget()
            return replaced
        except OSError as error:
            raise MemoryStoreError(f"cannot read {self._path}: {error.strerror}", path=self._path) from error
        replaced = self._reader.is_other_file(status)
        if replaced:
            self._forget()
        if self.end:
            self._read_on(status.st_size)
        else:
            self._read_from_the_start()
        return replaced

    def _read_on(self, size: int) -> None:
        """Read what was appended to a file whose lines so far are known."""
        self.has_more = size > self.end
        if not self.has_more and self._reader.is_open:
            return
        if not self._still_ends_as_known():
            self._forget()
            self._read_from_the_start()
            return
        self.ensure_open()
        self._take_in()
        self.has_more = self._reader.status().st_size > self.end

    def _read_from_the_start(self) -> None:
        """Read the whole file, and hold it against what its writers acknowledged.

        A compaction in between forgets the end, replaces the file and notes the new end, so a difference counts only
        if neither changed.
        """
        while True:
            acknowledged = read_end(self._path)
            self.ensure_open()
            self._begin_behind_snapshot(acknowledged)
            checksum = self._take_in(acknowledged.line_n if acknowledged else 0)
            self.has_more = self._reader.status().st_size > self.end
            problem = acknowledged.missing_in(self._line_n, checksum) if acknowledged else ""
            if not problem:
                self.save_snapshot_if_due()
                return
            is_damage = read_end(self._path) == acknowledged and not self._is_replaced()
            self._forget()
            if is_damage:
                raise lost_lines_error(self._path, problem)

    def _begin_behind_snapshot(self, acknowledged: AcknowledgedEnd | None) -> None:
        """Take what the snapshot of the file states, if it fits; otherwise reading begins at the first line."""
        snapshot = load_snapshot(self._reader, acknowledged) if self._snapshot_after else None
        if snapshot is None:
            return
        state, columns, self._last_line = snapshot
        self._reader.end = state.end
        self._last_id = state.last_id
        self._line_n = self._snapshot_line_n = state.line_n
        self._chain.continue_behind(self._last_line)
        self._begin_columns(columns)
        self.index.restore(state.index, columns)

    def save_snapshot_if_due(self) -> None:
        """Write a snapshot if many lines came behind the last one. A store without checksums gets none."""
        new_n = self._line_n - self._snapshot_line_n
        if not self._snapshot_after or not self._chain.is_sealed or new_n < self._snapshot_after:
            return
        columns: Columns = {
            "episodes.offsets": Column("Q", self._offsets.parts),
            "episodes.lengths": Column("I", self._lengths.parts),
            "episodes.ids": Column("Q", self._ids.parts),
        }
        for name, values in (("verdicts", self._verdicts), ("tallies", self._tallies)):
            for part, code, numbers in zip(TableColumns._fields, _TABLE_CODES, values.columns(), strict=True):
                columns[f"{name}.{part}"] = Column(code, (numbers,))
        state = StoreState(
            end=self.end,
            line_n=self._line_n,
            last_id=self._last_id,
            checksum=self._chain.checksum.decode(),
            last_line_n=len(self._last_line),
            last_line_sha256=sha256(self._last_line).hexdigest(),
            index=self.index.state(columns),
        )
        save_snapshot(self._reader, state, columns)
        # Also if it could not be written: a disk that is full would be tried again and again.
        self._snapshot_line_n = self._line_n

    def at(self, ordinal: int) -> AnyEpisode:
        """Return the episode with that ordinal; the last ones read are kept in memory."""
        entry = self._kept.get(ordinal)
        if entry is None:
            offset = self._offsets[ordinal]
            body = self._reader.body_at(offset, self._lengths[ordinal])
            entry = parse_episode(body, partial(bad_line_at, self._path, offset))
            self._kept[ordinal] = entry
            if len(self._kept) > _ENTRIES_KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(ordinal)
        return entry

    def find(self, episode_id: str) -> AnyEpisode | None:
        """Return the episode with that id, None if the file has none."""
        digits = episode_id.removeprefix("epi_")
        if not digits.isascii() or not digits.isdigit():
            return None
        number = int(digits)
        ordinal = bisect_left(self._ids, number)
        is_stored = ordinal < len(self._ids) and self._ids[ordinal] == number
        return self.at(ordinal) if is_stored else None

    def lines_of(self, bodies: Sequence[bytes]) -> list[bytes]:
        """Return the lines to append for these bodies, in the form of the file; an empty one begins with the header."""
        return self._chain.lines_of(bodies)

    def add(self, values: Sequence[StoreLine], lines: Sequence[bytes]) -> None:
        """Register the values of lines that were just written at `end`."""
        header_n = len(lines) - len(values)
        if header_n:
            self._pass_over(len(lines[0]))
        for value, line in zip(values, lines[header_n:], strict=True):
            self._register(value, len(line))
        self._last_line = lines[-1]
        self._chain.continue_behind(self._last_line)

    def _register(self, value: StoreLine, length: int) -> None:
        if isinstance(value, TallyV1_2):
            self.index.samples.add_tally(value)
        elif isinstance(value, VerdictV1_2):
            self.index.samples.add_verdict(value)
        else:
            self._register_episode(value, length)
        self._pass_over(length)

    def _pass_over(self, length: int) -> None:
        self._reader.end += length
        self._line_n += 1

    def _register_episode(self, entry: AnyEpisode, length: int) -> None:
        number = int(entry.episode_id[4:])
        if number <= self._last_id:
            raise self._bad_next_line(f"{entry.episode_id} does not come after epi_{self._last_id:06d}")
        if number > MAX_EPISODE_NUMBER:
            raise self._bad_next_line(f"{entry.episode_id} has a number that no store gives")
        self.index.add(entry)
        self._offsets.append(self.end)
        self._lengths.append(length)
        self._ids.append(number)
        self._last_id = number

    def torn_bytes(self) -> bytes:
        """Return the bytes after the last whole line."""
        if not self._reader.is_open or not self.has_more:
            return b""
        return self._reader.read(self._reader.status().st_size - self.end, self.end)

    def _still_ends_as_known(self) -> bool:
        """Return whether the last known line is still in its place; otherwise the file was cut and grew again."""
        known = self._last_line
        return self._reader.read(len(known), self.end - len(known)) == known

    def _is_replaced(self) -> bool:
        try:
            return self._reader.is_other_file(self._path.stat())
        except FileNotFoundError:
            return True

    def _take_in(self, wanted_n: int = 0) -> bytes:
        """Register the lines behind `end`. Return the checksum that the file has after `wanted_n` lines."""
        position, rest, line = self.end, b"", b""
        wanted = self._chain.checksum if self._line_n == wanted_n else NO_CHECKSUM
        while chunk := self._reader.read(_READ_CHUNK, position):
            position += len(chunk)
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            for line in lines:
                self._take_line(line)
                if self._line_n == wanted_n:
                    wanted = self._chain.checksum
            if lines:
                self._last_line = line + b"\n"
            if len(rest) > MAX_LINE_BYTES:
                self._take_line(rest)
        return wanted

    def _take_line(self, line: bytes) -> None:
        body = next_body(self._chain, line, self._bad_next_line)
        if body is None:
            self._pass_over(len(line) + 1)
        else:
            self._register(parse_line(body, self._bad_next_line), len(line) + 1)

    def _bad_next_line(self, reason: str) -> MemoryStoreError:
        return bad_line_error(self._path, self._line_n + 1, reason)


class StoredEpisodes(LiveEpisodes):
    """The live episodes of a store file."""

    def __init__(self, tail: "StoreTail") -> None:
        self._tail = tail

    @property
    def episode_index(self) -> EpisodeIndex:
        """The index over the episodes."""
        return self._tail.index

    @property
    def ordinals(self) -> range:
        """The ordinals of the live episodes."""
        return range(self._tail.index.first_live, self._tail.index.count)

    def at(self, ordinal: int) -> AnyEpisode:
        """Return the episode with that ordinal, with the outcome that persons give it."""
        episode = self._tail.at(ordinal)
        return with_verdicts(episode, self._tail.index.samples.verdicts_on(episode.provenance.source_id))


def _table(name: str, columns: MappedColumns) -> TableColumns:
    return TableColumns(*(columns.numbers(f"{name}.{part}") for part in TableColumns._fields))


def highest_rejected_id(store: Path) -> int:
    """Return the highest episode number among the lines that a repair moved away, 0 if there are none."""
    try:
        content = rejected_path(store).read_bytes()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise MemoryStoreError(f"cannot read {rejected_path(store)}: {error.strerror}", path=store) from error
    numbers = (int(digits) for digits in _EPISODE_ID.findall(content))
    return max((number for number in numbers if number <= MAX_EPISODE_NUMBER), default=0)
