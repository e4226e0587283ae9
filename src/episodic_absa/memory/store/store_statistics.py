"""Counts what a store file holds. The detailed counts cover the live episodes: those that advice can come from."""

from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.memory.store.bad_line import bad_line_error, rejected_path, torn_path
from episodic_absa.memory.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.memory.store.reading.newest_episodes import newest_episodes, oldest_episode
from episodic_absa.memory.store.store_line import next_body, parse_line
from episodic_absa.memory.store.store_lock import lock_state
from episodic_absa.memory.store.store_report import StoreSize, StoreStatistics, store_statistics
from episodic_absa.schemas.memory_v1_2 import (
    TallyV1_2,
    VerdictV1_2,
    is_episode_line,
    store_chain,
)

_CHUNK: Final = 1 << 20


class FileExtent(NamedTuple):
    """How much a file holds."""

    line_n: int
    size: int
    torn_bytes: int
    """The bytes after the last whole line."""


def compute_store_statistics(path: Path) -> StoreStatistics:
    """Return the statistics of a store file. Of the episodes only live ones are parsed; older ones are counted.

    Raises:
        MemoryStoreError: the line of the first episode, of a live episode, of a tally or of a verdict is bad.
        OSError: the file cannot be read.
    """
    extent = file_extent(path)
    oldest = oldest_episode(path)
    counted = _CountedLines(path)
    size = StoreSize(
        episode_n=counted.episode_n,
        bytes_on_disk=extent.size,
        first_id=oldest.episode_id if oldest else None,
        lock=lock_state(path),
        torn_bytes=extent.torn_bytes,
        rejected_n=file_extent(rejected_path(path)).line_n if rejected_path(path).exists() else 0,
        has_torn_file=torn_path(path).exists(),
    )
    return store_statistics(
        size, islice(newest_episodes(path), DEFAULT_KEEP_LAST_N), counted.languages, counted.verdicts
    )


def file_extent(path: Path) -> FileExtent:
    """Return how many whole lines and bytes a file holds, without parsing it."""
    line_n = size = end = 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            line_n += chunk.count(b"\n")
            last = chunk.rfind(b"\n")
            end = size + last + 1 if last >= 0 else end
            size += len(chunk)
    return FileExtent(line_n, size, size - end)


class _CountedLines:
    """Counts the tallies and verdicts of a file as the index does: a source's first tally, an aspect's last verdict."""

    def __init__(self, path: Path) -> None:
        self.episode_n = 0
        languages: dict[str, str] = {}
        verdicts: dict[tuple[str, str | None], str] = {}
        lines = store_chain()
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    continue
                error_for = partial(bad_line_error, path, number)
                body = next_body(lines, line[:-1], error_for)
                if body is None or is_episode_line(body):
                    self.episode_n += body is not None
                    continue
                value = parse_line(body, error_for)
                if isinstance(value, TallyV1_2):
                    languages.setdefault(value.source_id, value.language)
                elif isinstance(value, VerdictV1_2):
                    verdicts[value.source_id, value.aspect] = value.verdict
        self.languages = Counter(languages.values())
        self.verdicts = Counter(verdicts.values())
