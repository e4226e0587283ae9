"""The directory of one cell, open for one writer: its samples are appended, and cut back when a run resumes."""

import fcntl
import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.cell_store import CellStore
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.samples_file import (
    SAMPLES,
    SamplesContent,
    SamplesFile,
    read_samples,
    require_cell,
    require_places,
    sealed_samples,
    writing,
)
from episodic_absa.schemas.run_files.manifest import Manifest, RunMeta
from episodic_absa.schemas.run_files.sample_record import SampleRecord, SamplesHeader, SampleTiming
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.durable_file import PRIVATE_FILE, make_private_directory, replace_durably
from episodic_absa.serialization.jsonl import json_line, split_lines
from episodic_absa.serialization.seals import sealed

TIMINGS: Final = "timings.jsonl"
RUN_META: Final = "run_meta.json"
STORE: Final = "episodic_store.jsonl"
_KEPT: Final = ".kept_samples.jsonl"
"""Holds the samples that stand while failed samples before them run again; of the form of samples.jsonl."""


_ERROR_OBJECT: Final = b'"error":{'
"""Only the error of a sample is an object; text cannot fake it, because its quotes are escaped."""


class Redo(Enum):
    """What becomes of samples that failed, when their cell is run again."""

    NOTHING = "nothing"
    """They stay failed."""
    FAILED = "failed"
    """They run again, and later samples stand: nothing that a sample does reaches a later one."""
    FAILED_AND_LATER = "failed and later"
    """They run again with all later samples: a new episode would be known to these."""
    ALL = "all"
    """The whole cell runs again."""


class Resumed(NamedTuple):
    """The sample at which a run continues."""

    next_index: int
    failed_n: int = 0
    """Failed samples that run again."""
    kept: Mapping[int, SampleRecord] = MappingProxyType({})
    """Later samples that stand as they were recorded, by their index."""


class RunDirectory:
    """One cell's directory, open for one writer: it holds a lock until it is closed."""

    def __init__(self, path: Path, *, store: CellStore | None) -> None:
        self.path = path
        self._store = store
        make_private_directory(path)
        self._lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise RunDirectoryError(
                f"another process is running in {path}; wait until it has ended, or choose another run_id", path=path
            ) from None
        self._samples: SamplesFile | None = None

    def close(self) -> None:
        """Close the files and release the lock."""
        if self._samples is not None:
            self._samples.close()
        os.close(self._lock)

    @property
    def is_fresh(self) -> bool:
        """Whether no sample was ever recorded here."""
        samples = self.path / SAMPLES
        # The header alone is no sample: a kill may come before the manifest is written.
        return not samples.exists() or samples.read_bytes().count(b"\n") < 2

    @property
    def holds_nothing_usable(self) -> bool:
        """Whether every recorded sample failed, or none was ever recorded."""
        return usable_sample_n(self.path) == 0

    def resume(
        self, uids: Sequence[str], cfg_hash: str, redo: Redo = Redo.NOTHING, *, start_store: Path | None = None
    ) -> Resumed:
        """Cut samples and store back to the sample at which the run continues, and open them for appending.

        Args:
            uids: the samples of the cell, in order.
            cfg_hash: of the cell.
            redo: cuts further back, so that failed samples run again.
            start_store: the store that the cell's own store begins as a copy of.

        Raises:
            RunDirectoryError: a line is not as it was written, or a file cannot be written.
        """
        content = read_samples(self.path / SAMPLES)
        header, records = content.header, content.records
        if header is None or redo is Redo.ALL or (not records and header.cfg_hash != cfg_hash):
            self.forget_kept_samples()
            return self._begin(cfg_hash, start_store)
        require_cell(self.path / SAMPLES, content, cfg_hash)
        require_places(self.path / SAMPLES, records, uids)
        failed = [index for index, record in enumerate(records) if record.error is not None]
        failed = [] if redo is Redo.NOTHING else failed
        keep_n = failed[0] if failed else len(records)
        if failed and redo is Redo.FAILED_AND_LATER:
            self.forget_kept_samples()
        kept = self._set_aside(header, records[keep_n:] if redo is Redo.FAILED else ())
        if self._store is not None and header.store is not None:
            self._store.restore(
                header.store,
                records[:keep_n],
                start_store,
                redone={uid for index, uid in enumerate(uids) if index >= keep_n and index not in kept},
            )
        self._samples = SamplesFile(self.path / SAMPLES, content, keep_n)
        return Resumed(keep_n, failed_n=len(failed), kept={index: kept[index] for index in kept if index >= keep_n})

    def append(self, record: SampleRecord) -> None:
        """Append the record of a sample; it is on disk when this returns, and only then the sample is done.

        Raises:
            RunDirectoryError: the file cannot be written.
        """
        assert self._samples is not None  # noqa: S101 - resumed before the first sample
        self._samples.append(record)

    def append_timing(self, timing: SampleTiming) -> None:
        """Append the times of a sample. Nothing waits for them."""
        with writing(self.path / TIMINGS), open(self.path / TIMINGS, "a", encoding="utf-8", opener=_private) as file:
            file.write(json_line(timing))

    def begin(self, manifest: Manifest) -> None:
        """Write the manifest of a cell whose samples are about to run."""
        self._write(MANIFEST, sealed(indented_json(manifest)))

    def finish(self, manifest: Manifest, run_meta: RunMeta) -> None:
        """Write how the cell ran, then the manifest of the finished cell."""
        self._write(RUN_META, sealed(indented_json(run_meta)))
        self._write(MANIFEST, sealed(indented_json(manifest.model_copy(update={"completed": True}))))

    def forget_kept_samples(self) -> None:
        """Remove the copies of samples that stood while others ran again; samples.jsonl holds them all."""
        (self.path / _KEPT).unlink(missing_ok=True)

    def publish_store(self, *, is_finished: bool) -> None:
        """Write the cell's store as its samples left it.

        Args:
            is_finished: whether they are all done; a store outside of the cell gets nothing before.

        Raises:
            MemoryStoreError: a store outside of the cell refuses.
            RunDirectoryError: the file cannot be written.
        """
        if self._store is not None:
            self._store.publish(read_samples(self.path / SAMPLES).records, is_finished=is_finished)

    def _begin(self, cfg_hash: str, start_store: Path | None) -> Resumed:
        """Begin the cell with its first sample; its store begins as a copy of `start_store`."""
        start = self._store.begin(start_store) if self._store is not None else None
        (self.path / TIMINGS).unlink(missing_ok=True)
        self._samples = SamplesFile(self.path / SAMPLES, SamplesContent(), 0)
        self._samples.append(SamplesHeader(cfg_hash=cfg_hash, store=start))
        return Resumed(0)

    def _set_aside(self, header: SamplesHeader, records: Sequence[SampleRecord]) -> dict[int, SampleRecord]:
        """Return the samples that stand, those that an earlier run set aside among them.

        The copy is on disk before samples.jsonl is cut, so that a run that is stopped halfway loses none of them.
        """
        kept = {record.sample_index: record for record in read_samples(self.path / _KEPT).records}
        standing = {record.sample_index: record for record in records if record.error is None}
        if standing:
            kept |= standing
            with writing(self.path / _KEPT):
                replace_durably(self.path / _KEPT, sealed_samples(header, [kept[index] for index in sorted(kept)]))
        return kept

    def _write(self, name: str, text: str) -> None:
        """Replace a small file; at any moment the old or the new one is whole."""
        with writing(self.path / name):
            replace_durably(self.path / name, text.encode())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, PRIVATE_FILE)


def usable_sample_n(cell: Path) -> int:
    """Return how many samples of a cell's directory were recorded and did not fail. Seals are not checked here."""
    files = [path for name in (SAMPLES, _KEPT) if (path := cell / name).exists()]
    records = [line for path in files for line in split_lines(path.read_bytes()).lines[1:]]
    return sum(_ERROR_OBJECT not in line for line in records)
