"""The store of a cell: what it began with, and the episodes of the cell's records. The records can make it anew."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.writing_errors import writing
from episodic_absa.schemas.memory_v1_2 import (
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    is_episode_line,
    is_header_line,
    store_chain,
    validated_line,
)
from episodic_absa.schemas.run_files.sample_record import SampleRecord, StoreStart
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import DurableFile, make_private_directory, replace_durably
from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.serialization.sealed_lines import BrokenLineError, SealChain


class UnsyncedFile(DurableFile):
    """A file whose writes nobody waits for, because another file can make it anew."""

    def sync(self) -> None:
        """Leave it to the operating system when the bytes reach the disk."""


class CellStore:
    """The store file of one cell.

    Args:
        path: the file.
        cell: the directory of the cell. A store outside it is shared: what others wrote to it is never cut.
    """

    def __init__(self, path: Path, cell: Path) -> None:
        self.path = path
        self._cell = cell
        self.is_own = is_within(path, cell)

    def begin(self, source: Path | None, known: StoreStart | None = None) -> StoreStart:
        """Prepare the store before the first sample and return its state.

        Args:
            source: the store that it begins as a copy of; without one, a store in the cell begins empty, and one
                outside as it is.
            known: how it began before; a beginning may be replaced.

        Raises:
            RunDirectoryError: a store outside the cell holds episodes that a copy would replace.
        """
        held = self._content()
        if source is not None:
            content = source.read_bytes()
            if held and held != content and not self.is_own and start_of(held) != known:
                raise RunDirectoryError(
                    f"{self.path} already holds episodes, and a copy of {source} would replace them; "
                    "choose another episodic_memory.store_path",
                    path=self.path,
                )
        else:
            content = b"" if self.is_own else held
        self._write(content)
        forget_end(self.path)
        return start_of(content)

    def restore(
        self,
        start: StoreStart,
        records: Sequence[SampleRecord],
        keep_n: int,
        *,
        source: Path | None = None,
        redone: Collection[str] = (),
        is_finished: bool = False,
    ) -> None:
        """Bring the store to the state that it had behind a sample. Verdicts of persons stay.

        Args:
            start: its state before the first sample.
            records: all samples that were recorded.
            keep_n: so many of them stand.
            source: the store that it began as a copy of.
            redone: the uids of samples that run again; verdicts on them go.
            is_finished: whether no sample runs again; then others may have continued a store outside the cell.

        Raises:
            RunDirectoryError: a store outside the cell is not as the run left it, or the beginning is lost.
        """
        held = self._content()
        beginning = self._beginning(start, held, source)
        begins = held.startswith(beginning)
        lines = _sound_lines(held[len(beginning) :], beginning) if begins else _Lines(is_broken=True)
        written = [line for line in lines.bodies if not _is_verdict(line)]
        known, kept = list(bodies_of(records)), list(bodies_of(records[:keep_n]))
        if not self.is_own:
            surplus = written[len(known) :]
            is_last = not lines.is_broken and _is_of_one_sample(surplus, is_torn=lines.is_torn)
            if not begins or written[: len(known)] != known or not (is_finished or is_last):
                raise RunDirectoryError(
                    f"{self.path} is not as the run in {self._cell} left it; restore it, or choose another run_id",
                    path=self.path,
                )
            if is_finished:
                return
        if not is_finished:
            # How far its writers got is no longer true.
            forget_end(self.path)
        if written == kept and not (lines.is_torn or lines.is_broken):
            return
        verdicts = [line for line in lines.bodies if _is_verdict(line, redone)]
        added = [*kept, *verdicts]
        self._write(beginning + (b"".join(_chain_behind(beginning).lines_of(added)) if added else b""))

    def _beginning(self, start: StoreStart, held: bytes, source: Path | None) -> bytes:
        """Return the bytes that the store began with."""
        for content in (held[: start.bytes], source.read_bytes() if source is not None else b""):
            if start_of(content) == start:
                return content
        if self.is_own:
            raise RunDirectoryError(
                f"{self.path} no longer begins as it did before the first sample; restore it, or move {self._cell} "
                "away and run again",
                path=self.path,
            )
        raise RunDirectoryError(
            f"{self.path} is not as the run in {self._cell} left it; restore it, or choose another run_id",
            path=self.path,
        )

    def _content(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def _write(self, content: bytes) -> None:
        if content == self._content() and (content or not self.path.exists()):
            return
        with writing(self.path):
            make_private_directory(self.path.parent)
            forget_end(self.path)
            if content:
                replace_durably(self.path, content)
            else:
                self.path.unlink(missing_ok=True)


def start_of(content: bytes) -> StoreStart:
    """Return the state of a store with this content."""
    episodes = sum(is_episode_line(line) for line in split_lines(content).lines)
    return StoreStart(bytes=len(content), sha256=hashlib.sha256(content).hexdigest(), episodes=episodes)


def is_within(path: Path, cell: Path) -> bool:
    """Return whether a store lies in the directory of its cell."""
    return path.resolve().is_relative_to(cell.resolve())


def lines_of(record: SampleRecord) -> Iterator[StoreLine]:
    """Yield what a sample added to the store."""
    if record.analysis is not None:
        kept = record.analysis.kept
        yield from (line for line in (kept.episode, kept.tally) if line is not None)


def bodies_of(records: Iterable[SampleRecord]) -> Iterator[bytes]:
    """Yield the lines that samples added to the store, without seals."""
    return (canonical_json(line).encode() for record in records for line in lines_of(record))


class _Lines(NamedTuple):
    """The lines behind the beginning of a store, without header and seals."""

    bodies: tuple[bytes, ...] = ()
    is_torn: bool = False
    """Whether an unfinished line follows."""
    is_broken: bool = False
    """Whether a line follows whose seal does not fit."""


def _sound_lines(content: bytes, beginning: bytes) -> _Lines:
    whole, torn = split_lines(content)
    chain = _chain_behind(beginning)
    bodies: list[bytes] = []
    for line in whole:
        try:
            body = chain.body_of(line)
        except BrokenLineError:
            return _Lines(tuple(bodies), is_broken=True)
        if body is not None:
            bodies.append(body)
    return _Lines(tuple(bodies), is_torn=bool(torn))


def _chain_behind(content: bytes) -> SealChain:
    chain = store_chain()
    lines = split_lines(content).lines
    if lines:
        chain.continue_behind(lines[-1])
    return chain


def _is_verdict(line: bytes, redone: Collection[str] = ()) -> bool:
    value = _value(line)
    return isinstance(value, VerdictV1_2) and value.source_id not in redone


def _is_of_one_sample(surplus: Sequence[bytes], *, is_torn: bool) -> bool:
    """Return whether lines are no more than one sample leaves that is not recorded yet, the last perhaps unfinished."""
    values = [_value(line) for line in surplus if not is_header_line(line)]
    tally_n = sum(isinstance(value, TallyV1_2) for value in values)
    return tally_n <= 1 and len(values) - tally_n <= 1 and len(values) + is_torn <= 2


def _value(line: bytes) -> StoreLine | None:
    try:
        return validated_line(line)
    except ValidationError:
        return None
