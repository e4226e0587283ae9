"""The files of one cell: appended sample by sample, journalled, and cut back to a common sample when a run resumes."""

import fcntl
import os
import shutil
from collections.abc import Collection, Mapping
from enum import Enum
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.committed_store import cut_store, ends_in_one_sample, last_line_sha256
from episodic_absa.runs.kept_samples import KeptSamples, failed_indices, kept_sample_n
from episodic_absa.schemas.run_files.journal_line import STORE_KEY, CommittedSample, JournalLine, StoreStart
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.durable_file import DurableFile, replace_durably
from episodic_absa.serialization.jsonl import json_line, read_lines, split_lines

OUTPUTS: Final = "outputs.jsonl"
SCORECARDS: Final = "scorecards.jsonl"
TRACES: Final = "traces.jsonl"
OVERRIDE_DEBUG: Final = "override_gate_debug.jsonl"
JOURNAL: Final = "journal.jsonl"
MANIFEST: Final = "manifest.json"
RUN_META: Final = "run_meta.json"
STORE: Final = "episodic_store.jsonl"
_STORE_START: Final = ".store_start.json"
# In the order in which a sample is committed; the store comes before all of them.
COMMITTED_FILES: Final = (OVERRIDE_DEBUG, TRACES, SCORECARDS, OUTPUTS)
ModelT = TypeVar("ModelT", bound=BaseModel)


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
    lost_n: int = 0
    """Committed samples that run again because a file no longer holds them."""
    failed_n: int = 0
    """Failed samples that run again."""
    kept: Mapping[int, CommittedSample] = MappingProxyType({})
    """Later samples that are committed as they were, by their index."""
    begins_store: bool = False
    """Whether the store is to be made as it is before the first sample."""


class RunDirectory:
    """One cell's directory, open for one writer: it holds a lock until it is closed."""

    def __init__(self, path: Path, *, store: Path | None) -> None:
        self.path = path
        self._store = store
        # Others may write to a store outside the directory; this run must not cut what they wrote.
        self._owns_store = store is None or store.resolve().is_relative_to(path.resolve())
        path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise RunDirectoryError(
                f"another process is running in {path}; wait until it has ended, or choose another run_id", path=path
            ) from None
        self._kept = KeptSamples(path, COMMITTED_FILES)
        self._files: dict[str, DurableFile] = {}
        self._sizes: dict[str, int] = {}

    def close(self) -> None:
        """Close the files and release the lock."""
        for file in self._files.values():
            file.close()
        self._files = {}
        os.close(self._lock)

    @property
    def is_fresh(self) -> bool:
        """Whether no sample was ever committed here."""
        journal = self.path / JOURNAL
        return not journal.exists() or journal.stat().st_size == 0

    @property
    def holds_nothing_usable(self) -> bool:
        """Whether every committed sample failed, or none was ever committed."""
        return self.is_fresh or usable_sample_n(self.path) == 0

    def resume(self, sample_n: int, redo: Redo = Redo.NOTHING) -> Resumed:
        """Cut every file back to the last sample that all of them hold, and open them for appending.

        Args:
            sample_n: how many samples the cell has.
            redo: cuts further back, so that failed samples run again.
        """
        entries, ends = self._journal_entries()
        output_n = _line_count(self.path / OUTPUTS)
        covered = len(entries)
        while covered and not self._is_covered(entries[covered - 1]):
            covered -= 1
        # A kill leaves at most one line that is not journalled yet.
        lost_n = max(len(entries), output_n - 1) - covered
        failed = failed_indices(self.path / OUTPUTS, covered) if redo in (Redo.FAILED, Redo.FAILED_AND_LATER) else []
        goes_back = redo is Redo.ALL or (redo is Redo.FAILED_AND_LATER and bool(failed))
        changes_store = goes_back or covered < sample_n
        if not self._owns_store:
            is_finished = len(entries) == sample_n and not goes_back
            self._require_known_store(entries[-1] if entries else None, finished=is_finished)
        if goes_back:
            self._kept.forget()
        kept = {} if goes_back else self._kept.set_aside(entries[:covered], failed)
        covered = 0 if redo is Redo.ALL else failed[0] if failed else covered
        last = entries[covered - 1] if covered else None
        for name in COMMITTED_FILES:
            self._open(name, size=last.offsets[name] if last else 0)
        self._open(JOURNAL, size=ends[covered - 1] if covered else 0)
        if changes_store and self._store is not None:
            # The journal says what the store holds. Whoever restored it as an error asked left an end that is newer.
            forget_end(self._store)
        if changes_store or self._owns_store:
            self._cut_store(last.store_size if last else None, {entry.uid for entry in entries[covered:]})
        return Resumed(
            covered,
            lost_n,
            failed_n=len(failed),
            kept={index: sample for index, sample in kept.items() if index >= covered},
            begins_store=covered == 0 and (changes_store or not failed),
        )

    def begin_store(self, start: Path | None) -> None:
        """Prepare the store before the first sample: copy `start`, or keep a store outside the directory."""
        if self._store is None:
            return
        self._store.parent.mkdir(parents=True, exist_ok=True)
        known = self._store_start()
        if start is not None:
            if not self._owns_store and known is None and _size(self._store):
                raise RunDirectoryError(
                    f"{self._store} already holds episodes, and a copy of {start} would replace them; "
                    "choose another episodic_memory.store_path",
                    path=self._store,
                )
            self._note_store_start(start, is_copied=True)
            forget_end(self._store)
            shutil.copyfile(start, self._store)
        elif self._owns_store:
            self._store.unlink(missing_ok=True)
        elif known is None:
            self._note_store_start(self._store, is_copied=False)

    def commit(self, sample: CommittedSample) -> None:
        """Append a sample's lines, sync every file, then journal the sample, which commits it."""
        for name in COMMITTED_FILES:
            self._append(name, sample.lines.get(name, ""))
        offsets = {name: self._sizes[name] for name in COMMITTED_FILES}
        if self._store is not None:
            offsets[STORE_KEY] = _size(self._store)
        entry = JournalLine(
            sample_index=sample.sample_index,
            uid=sample.uid,
            offsets=offsets,
            store_last_sha256=last_line_sha256(self._store) if self._store is not None else None,
        )
        self._append(JOURNAL, json_line(entry))

    def write_json(self, name: str, value: BaseModel) -> None:
        """Replace a small JSON file; at any moment the old or the new one is whole."""
        replace_durably(self.path / name, indented_json(value).encode())

    def forget_kept_samples(self) -> None:
        """Remove the copies of samples that stood while others ran again; the cell's files hold them all."""
        self._kept.forget()

    def read_manifest(self) -> Manifest | None:
        """Return the manifest; None if there is none that can be read."""
        return read_manifest(self.path)

    def _journal_entries(self) -> tuple[list[JournalLine], list[int]]:
        """Return the commits up to the first line that is torn, unreadable or out of order, and where each ends."""
        try:
            lines, _torn = split_lines((self.path / JOURNAL).read_bytes())
        except FileNotFoundError:
            return [], []
        entries: list[JournalLine] = []
        for line in read_lines(lines, JournalLine):
            entry = line.value
            if entry is None or entry.sample_index != len(entries) or not entry.offsets.keys() >= {*COMMITTED_FILES}:
                break
            entries.append(entry)
        return entries, list(accumulate(len(line) + 1 for line in lines[: len(entries)]))

    def _store_start(self) -> StoreStart | None:
        return _read_model(self.path / _STORE_START, StoreStart)

    def _note_store_start(self, store: Path, *, is_copied: bool) -> None:
        if not self._owns_store:
            start = StoreStart(
                offsets={"store": _size(store)}, store_last_sha256=last_line_sha256(store), is_copied=is_copied
            )
            self.write_json(_STORE_START, start)

    def _require_known_store(self, last: JournalLine | None, *, finished: bool) -> None:
        """Refuse a store outside the run directory that is not as this run left it."""
        assert self._store is not None  # noqa: S101 - asked only with one
        known = last or self._store_start()
        if known is None or (isinstance(known, StoreStart) and known.is_copied):
            return  # nothing is committed: the copy, which a kill may have cut short, is made again
        end = known.store_size or 0
        fits = _size(self._store) >= end and last_line_sha256(self._store, end=end) == known.store_last_sha256
        if not fits or not (finished or ends_in_one_sample(self._store, end)):
            raise RunDirectoryError(
                f"{self._store} is not as the run in {self.path} left it; restore it, or choose another run_id",
                path=self._store,
            )

    def _cut_store(self, size: int | None, redone: Collection[str]) -> None:
        """Cut the store to a journalled size, or a store outside the directory to its size before the first sample."""
        if self._store is None or not self._store.exists():
            return
        if size is None and not self._owns_store:
            start = self._store_start()
            size = start.store_size if start else None
        if size is not None and size < _size(self._store):
            cut_store(self._store, size, redone)

    def _is_covered(self, entry: JournalLine) -> bool:
        """Return whether all files still hold what the entry commits."""
        if any(_size(self.path / name) < entry.offsets[name] for name in COMMITTED_FILES):
            return False
        if self._store is None or not entry.store_size:
            return True
        if _size(self._store) < entry.store_size:
            return False
        return last_line_sha256(self._store, end=entry.store_size) == entry.store_last_sha256

    def _open(self, name: str, *, size: int) -> None:
        file = DurableFile(self.path / name)
        if _size(self.path / name) != size:
            file.cut(size)
        self._files[name] = file
        self._sizes[name] = size

    def _append(self, name: str, text: str) -> None:
        data = text.encode()
        if data:
            self._files[name].append(data, at=self._sizes[name])
            self._sizes[name] += len(data)


def read_manifest(cell: Path) -> Manifest | None:
    """Return the manifest of a cell's directory; None if there is none that can be read."""
    return _read_model(cell / MANIFEST, Manifest)


def usable_sample_n(cell: Path) -> int:
    """Return how many samples of a cell's directory were committed and did not fail."""
    committed_n = min(_line_count(cell / JOURNAL), _line_count(cell / OUTPUTS))
    return committed_n - len(failed_indices(cell / OUTPUTS, committed_n)) + kept_sample_n(cell)


def _read_model(path: Path, model: type[ModelT]) -> ModelT | None:
    try:
        return model.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _line_count(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
