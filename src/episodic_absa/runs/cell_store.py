"""The store of a cell: what it began with, and the episodes of the cell's records. The records can make it anew."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.samples_file import writing
from episodic_absa.schemas.run_files.sample_record import SampleRecord, StoreStart
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, TombstoneV1_3, VerdictV1_3
from episodic_absa.serialization.durable_file import make_private_directory, replace_durably
from episodic_absa.store.dialects.jsonl_dialect import remove_database_beside
from episodic_absa.store.episode_store import DEFAULT_BUSY_TIMEOUT_S, EpisodeStore
from episodic_absa.store.exported_lines import ExportForm, Line, episode_line, parse_line, read_lines
from episodic_absa.store.open_store import database_at, raw_lines, store_sha256
from episodic_absa.vocabulary import Rules


def export_form(rules: Rules) -> ExportForm:
    """Return the schema of the file that a cell of these rules keeps: the original rules know 1.1 alone."""
    return "1.1" if rules == "seed" else "1.3"


class CellStore:
    """Fills the store of a cell that runs, and publishes it.

    While the cell runs, its store is a scratch one. A published file within the cell is this store; a store outside of
    the cell is shared with others, and gets what a finished cell adds, once.

    Args:
        live: the scratch store; nothing was written to it.
        path: where the store is published.
        cell: the directory of the cell.
        rules: of the cell.
    """

    def __init__(self, live: EpisodeStore, path: Path, cell: Path, rules: Rules) -> None:
        self._live = live
        self._path = path
        self._cell = cell
        self._form = export_form(rules)
        self._is_own = path.resolve().is_relative_to(cell.resolve())

    def begin(self, source: Path | None) -> StoreStart:
        """Fill the store before the first sample and return its state.

        Args:
            source: the store that it begins as a copy of; without one, a store in the cell begins empty, and one
                outside as it is.

        Raises:
            RunDirectoryError: a store outside the cell holds episodes that a copy would replace.
        """
        held = [] if self._is_own else list(self._published())
        if self._is_own:
            self._path.unlink(missing_ok=True)
            remove_database_beside(self._path)
        elif source is not None and _only_episodes(held) not in ([], _only_episodes(lines_at(source))):
            raise RunDirectoryError(
                f"{self._path} already holds episodes, and a copy of {source} would replace them; "
                "choose another episodic_memory.store_path",
                path=self._path,
            )
        lines = held if source is None else list(lines_at(source))
        self._live.take_in(lines)
        return start_of(_only_episodes(lines), self._form, source)

    def restore(
        self,
        start: StoreStart,
        records: Iterable[SampleRecord],
        source: Path | None,
        *,
        redone: Collection[str] = (),
    ) -> None:
        """Fill the store as it was behind the last of some records. What people said meanwhile stays.

        Args:
            start: how it began.
            records: of the samples that stand.
            source: the store that it began as a copy of.
            redone: the uids of samples that run again; verdicts on them go.

        Raises:
            RunDirectoryError: what it began with is lost.
        """
        published, given = list(self._published()), list(lines_at(source))
        for lines in (given, published):
            beginning = _only_episodes(lines)[: start.episodes]
            if start_of(beginning, self._form).sha256 == start.sha256:
                break
        else:
            raise RunDirectoryError(
                f"{source or self._path} no longer holds what the store of {self._cell} began with; restore it, or "
                f"move {self._cell} away and run again",
                path=self._path,
            )
        said = dict.fromkeys(
            line
            for line in (*given, *published)
            if isinstance(line, TombstoneV1_3) or (isinstance(line, VerdictV1_3) and line.source_id not in redone)
        )
        self._live.take_in([*beginning, *episodes_of(records), *said])

    def publish(self, records: Iterable[SampleRecord], *, is_finished: bool) -> None:
        """Write the file of the cell's own store anew; add what a finished cell stored to a shared one.

        Raises:
            MemoryStoreError: the shared store refuses.
            RunDirectoryError: the file cannot be written.
        """
        if self._is_own:
            content = b"".join(self._live.exported_lines(self._form))
            if self._path.is_file() and self._path.read_bytes() == content:
                return
            with writing(self._path):
                make_private_directory(self._path.parent)
                remove_database_beside(self._path)
                replace_durably(self._path, content)
        elif is_finished and (added := list(episodes_of(records))):
            with _shared_store(self._path) as shared:
                whole = read_lines(self._live.exported_lines(), self._live.shown)
                shared.take_in(added if shared.exists() else whole)

    def _published(self) -> Iterator[Line]:
        """Yield what the published store holds; of the cell's own, which the records can make anew, what is sound."""
        if not self._is_own:
            with _shared_store(self._path, reads_only=True) as shared:
                yield from read_lines(shared.exported_lines(), shared.shown)
            return
        for line in self._path.read_bytes().splitlines() if self._path.is_file() else ():
            with suppress(ValidationError):
                yield parse_line(line)


def lines_at(path: Path | None) -> Iterator[Line]:
    """Yield the values of a store, a file of JSON lines or a database; none if there is none."""
    if path is not None and path.exists():
        yield from read_lines(raw_lines(path), str(path))


def start_of(episodes: Iterable[EpisodicMemoryEntryV1_3], form: ExportForm, source: Path | None = None) -> StoreStart:
    """Return the state of a store that holds these episodes."""
    lines = [episode_line(episode, form) for episode in episodes]
    of_source = None if source is None else store_sha256(source)
    return StoreStart(episodes=len(lines), sha256=sha256_of_lines(lines), source_sha256=of_source)


def sha256_of_lines(lines: Iterable[bytes]) -> str:
    """Return the hash of lines, with their line ends."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()


def episodes_of(records: Iterable[SampleRecord]) -> Iterator[EpisodicMemoryEntryV1_3]:
    """Yield the episodes that samples added to the store."""
    for record in records:
        if record.analysis is not None and record.analysis.kept.episode is not None:
            yield record.analysis.kept.episode


def _only_episodes(lines: Iterable[Line]) -> list[EpisodicMemoryEntryV1_3]:
    return [line for line in lines if isinstance(line, EpisodicMemoryEntryV1_3)]


def _shared_store(path: Path, *, reads_only: bool = False) -> EpisodeStore:
    database = database_at(path, guard=_admit, busy_timeout_s=DEFAULT_BUSY_TIMEOUT_S, reads_only=reads_only)
    return EpisodeStore(database, guard=_admit)


def _admit(value: BaseModel) -> None:
    """Look at nothing: the cell's own store has admitted its episodes, and a file's are added by nobody here."""
