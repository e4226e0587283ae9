"""The files of one cell: appended sample by sample, journalled, and cut back to a common sample when a run resumes."""

import fcntl
import os
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.committed.damage import damaged, differing_files, require_undamaged
from episodic_absa.runs.committed.growing_files import GrowingFiles, GrowingStore, writing
from episodic_absa.runs.committed.growing_hash import hash_of
from episodic_absa.runs.committed.journal import Journal, read_journal
from episodic_absa.runs.committed_store import cut_store, ends_in_one_sample, last_line_sha256
from episodic_absa.runs.kept_samples import KeptSamples, failed_indices, kept_sample_n
from episodic_absa.schemas.run_files.journal_line import (
    JOURNAL_KEY,
    STORE_KEY,
    CommittedSample,
    JournalLine,
    StoreStart,
)
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_meta import RunMeta
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.durable_file import (
    PRIVATE_FILE,
    copy_privately,
    make_private_directory,
    replace_durably,
)
from episodic_absa.serialization.jsonl import json_line
from episodic_absa.serialization.sealed_json import sealed

OUTPUTS: Final = "outputs.jsonl"
SCORECARDS: Final = "scorecards.jsonl"
TRACES: Final = "traces.jsonl"
OVERRIDE_DEBUG: Final = "override_gate_debug.jsonl"
JOURNAL: Final = JOURNAL_KEY
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
    surplus: tuple[str, ...] = ()
    """Files that held more than was committed; it was cut off."""


class RunDirectory:
    """One cell's directory, open for one writer: it holds a lock until it is closed."""

    def __init__(self, path: Path, *, store: Path | None) -> None:
        self.path = path
        self._store = store
        # Others may write to a store outside the directory; this run must not cut what they wrote.
        self._owns_store = store is None or store.resolve().is_relative_to(path.resolve())
        make_private_directory(path)
        self._lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise RunDirectoryError(
                f"another process is running in {path}; wait until it has ended, or choose another run_id", path=path
            ) from None
        self._kept = KeptSamples(path, COMMITTED_FILES)
        self._files = GrowingFiles(path)
        self._growing_store = GrowingStore(store) if store is not None else None

    def close(self) -> None:
        """Close the files and release the lock."""
        self._files.close()
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

    def resume(self, uids: Sequence[str], redo: Redo = Redo.NOTHING) -> Resumed:
        """Cut every file back to the last sample that all of them hold, and open them for appending.

        Args:
            uids: the samples of the cell, in order.
            redo: cuts further back, so that failed samples run again.

        Raises:
            RunDirectoryError: a file is not as it was committed, or cannot be written.
        """
        sample_n = len(uids)
        journal = read_journal(self.path / JOURNAL, COMMITTED_FILES)
        entries = journal.entries
        output_n = _line_count(self.path / OUTPUTS)
        covered = len(entries)
        while covered and not self._is_covered(entries[covered - 1]):
            covered -= 1
        # A kill leaves at most one line that is not journalled yet.
        lost_n = max(len(entries), output_n - 1) - covered
        failed = failed_indices(self.path / OUTPUTS, covered) if redo in (Redo.FAILED, Redo.FAILED_AND_LATER) else []
        if redo is not Redo.ALL:
            self._require_undamaged(journal, covered, uids)
        goes_back = redo is Redo.ALL or (redo is Redo.FAILED_AND_LATER and bool(failed))
        changes_store = goes_back or covered < sample_n
        if not self._owns_store:
            is_finished = len(entries) == sample_n and not goes_back
            self._require_known_store(entries[-1] if entries else None, finished=is_finished)
        if goes_back:
            self._kept.forget()
        with writing(self.path):
            kept = {} if goes_back else self._kept.set_aside(entries[:covered], failed)
        covered = 0 if redo is Redo.ALL else failed[0] if failed else covered
        last = entries[covered - 1] if covered else None
        sizes = {name: last.offsets[name] if last else 0 for name in COMMITTED_FILES}
        sizes[JOURNAL] = journal.size_at(covered)
        surplus = [name for name, size in sizes.items() if self._files.open(name, size)]
        if changes_store and self._store is not None:
            # The journal says what the store holds. Whoever restored it as an error asked left an end that is newer.
            forget_end(self._store)
        if changes_store or self._owns_store:
            is_cut = self._cut_store(last.store_size if last else None, {entry.uid for entry in entries[covered:]})
            surplus += [self._store.name] if is_cut and self._store is not None else []
        return Resumed(
            covered,
            lost_n,
            failed_n=len(failed),
            kept={index: sample for index, sample in kept.items() if index >= covered},
            begins_store=covered == 0 and (changes_store or not failed),
            surplus=tuple(surplus),
        )

    def begin_store(self, start: Path | None) -> None:
        """Prepare the store before the first sample: copy `start`, or keep a store outside the directory."""
        if self._store is None:
            return
        with writing(self._store):
            make_private_directory(self._store.parent)
        known = self._store_start()
        if start is not None:
            if not self._owns_store and known is None and _size(self._store):
                raise RunDirectoryError(
                    f"{self._store} already holds episodes, and a copy of {start} would replace them; "
                    "choose another episodic_memory.store_path",
                    path=self._store,
                )
            self._note_store_start(start, is_copied=True)
            with writing(self._store):
                forget_end(self._store)
                copy_privately(start, self._store)
        elif self._owns_store:
            self._store.unlink(missing_ok=True)
        elif known is None:
            self._note_store_start(self._store, is_copied=False)

    def commit(self, sample: CommittedSample) -> None:
        """Append a sample's lines, sync every file, then journal the sample, which commits it.

        Raises:
            RunDirectoryError: a file cannot be written.
        """
        for name in COMMITTED_FILES:
            self._files.append(name, sample.lines.get(name, ""))
        files = {name: self._files.state(name) for name in (*COMMITTED_FILES, JOURNAL)}
        if self._growing_store is not None:
            files[STORE_KEY] = self._growing_store.state()
        entry = JournalLine(
            sample_index=sample.sample_index,
            uid=sample.uid,
            offsets={name: state.bytes for name, state in files.items() if name != JOURNAL},
            store_last_sha256=last_line_sha256(self._store) if self._store is not None else None,
            files=files,
        )
        self._files.append(JOURNAL, json_line(entry))

    def begin(self, manifest: Manifest) -> None:
        """Write the manifest of a cell whose samples are about to run."""
        self._write(MANIFEST, sealed(indented_json(manifest)))

    def finish(self, manifest: Manifest, run_meta: RunMeta) -> None:
        """Write how the cell ran, then the manifest of the finished cell, which names the states of its files."""
        self._write(RUN_META, indented_json(run_meta))
        names = [name for name in (JOURNAL, RUN_META, _STORE_START) if (self.path / name).exists()]
        files = {name: hash_of(self.path / name).state for name in names}
        self._write(MANIFEST, sealed(indented_json(manifest.model_copy(update={"completed": True, "files": files}))))

    def require_finished(self, manifest: Manifest) -> None:
        """Refuse a finished cell whose journal or other small files are not as they were when it was complete.

        Raises:
            RunDirectoryError: a file is another one.
        """
        for name in differing_files(self.path, manifest):
            raise damaged(self.path, self.path / name)

    def forget_kept_samples(self) -> None:
        """Remove the copies of samples that stood while others ran again; the cell's files hold them all."""
        self._kept.forget()

    def read_manifest(self) -> Manifest | None:
        """Return the manifest; None if there is none that can be read."""
        return read_manifest(self.path)

    def _require_undamaged(self, journal: Journal, covered: int, uids: Sequence[str]) -> None:
        manifest = self.read_manifest()
        if manifest is None or not manifest.is_sealed:
            return  # an older run, whose journal holds no hashes
        paths = {name: self.path / name for name in (*COMMITTED_FILES, JOURNAL)}
        if self._store is not None and self._owns_store:
            paths[STORE_KEY] = self._store
        require_undamaged(self.path, journal, journal.entries[:covered], uids, paths)

    def _store_start(self) -> StoreStart | None:
        return _read_model(self.path / _STORE_START, StoreStart)

    def _note_store_start(self, store: Path, *, is_copied: bool) -> None:
        if not self._owns_store:
            start = StoreStart(
                offsets={"store": _size(store)}, store_last_sha256=last_line_sha256(store), is_copied=is_copied
            )
            self._write(_STORE_START, indented_json(start))

    def _require_known_store(self, last: JournalLine | None, *, finished: bool) -> None:
        """Refuse a store outside the run directory that is not as this run left it."""
        assert self._store is not None  # noqa: S101 - asked only with one
        known = last or self._store_start()
        if known is None or (isinstance(known, StoreStart) and known.is_copied):
            return  # nothing is committed: the copy, which a kill may have cut short, is made again
        end = known.store_size or 0
        fits = _size(self._store) >= end and last_line_sha256(self._store, end=end) == known.store_last_sha256
        if last is not None and last.files is not None:
            fits = fits and hash_of(self._store, end).state == last.files.get(STORE_KEY)
        if not fits or not (finished or ends_in_one_sample(self._store, end)):
            raise RunDirectoryError(
                f"{self._store} is not as the run in {self.path} left it; restore it, or choose another run_id",
                path=self._store,
            )

    def _cut_store(self, size: int | None, redone: Collection[str]) -> bool:
        """Cut the store to a journalled size, or a store outside the directory to its size before the first sample.

        Return whether something was cut off.
        """
        if self._store is None or not self._store.exists():
            return False
        if size is None and not self._owns_store:
            start = self._store_start()
            size = start.store_size if start else None
        before = _size(self._store)
        if size is not None and size < before:
            with writing(self._store):
                cut_store(self._store, size, redone)
        return _size(self._store) < before

    def _is_covered(self, entry: JournalLine) -> bool:
        """Return whether all files are long enough to hold what the entry commits."""
        if any(_size(self.path / name) < entry.offsets[name] for name in COMMITTED_FILES):
            return False
        if self._store is None or not entry.store_size:
            return True
        if _size(self._store) < entry.store_size:
            return False
        if entry.files is not None:
            return True
        return last_line_sha256(self._store, end=entry.store_size) == entry.store_last_sha256

    def _write(self, name: str, text: str) -> None:
        """Replace a small file; at any moment the old or the new one is whole."""
        with writing(self.path / name):
            replace_durably(self.path / name, text.encode())


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
