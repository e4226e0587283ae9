"""Finds damage to the files of a cell, and words the error that stops a run on it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.committed.growing_hash import first_difference, hash_of
from episodic_absa.runs.committed.journal import Journal
from episodic_absa.runs.committed_store import last_line_sha256
from episodic_absa.schemas.run_files.journal_line import JOURNAL_KEY, STORE_KEY, JournalLine
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.serialization.sealed_json import seal_state


class Damage(NamedTuple):
    """A file that is not as it was committed."""

    name: str
    """As the journal calls it."""
    entry: JournalLine
    """The first sample that shows it."""


def find_damages(entries: Sequence[JournalLine], paths: Mapping[str, Path]) -> Iterator[Damage]:
    """Yield every file that is not as the entries commit it. Each file is read once.

    Entries of older versions hold no hashes and are skipped.

    Args:
        entries: the samples that the files are to hold.
        paths: by the name that the journal uses; files that are out of reach are left out.
    """
    hashed = [(entry, entry.files) for entry in entries if entry.files is not None]
    for entry, files in hashed:
        sizes = {name: state.bytes for name, state in files.items() if name != JOURNAL_KEY}
        if sizes != entry.offsets or JOURNAL_KEY not in files:
            yield Damage(JOURNAL_KEY, entry)
    for name, path in paths.items():
        committed = [(entry, files[name]) for entry, files in hashed if name in files]
        place = first_difference(path, [state for _, state in committed])
        if place is not None:
            yield Damage(name, committed[place][0])


def require_undamaged(
    cell: Path,
    journal: Journal,
    entries: Sequence[JournalLine],
    uids: Sequence[str],
    paths: Mapping[str, Path],
) -> None:
    """Refuse a cell whose files are not as its journal commits them.

    Args:
        cell: the directory.
        journal: all of the journal.
        entries: those of its entries that the files are long enough for.
        uids: the samples of the cell, in order.
        paths: the files, by the name that the journal uses.

    Raises:
        RunDirectoryError: it says which file, from which sample on, and what to do.
    """
    if journal.bad_line is not None:
        raise damaged(cell, cell / JOURNAL_KEY, f", line {journal.bad_line},")
    for damage in (*_misnamed(entries, uids, paths.get(STORE_KEY)), *find_damages(entries, paths)):
        place = f", from sample {damage.entry.sample_index + 1} ({damage.entry.uid!r}) on,"
        raise damaged(cell, paths[damage.name], place)


def require_sealed(path: Path, manifest: Manifest | None) -> None:
    """Refuse a cell whose manifest was changed after it was written.

    Args:
        path: manifest.json.
        manifest: what stands in it; None if it cannot be read.

    Raises:
        RunDirectoryError: it says what to do.
    """
    if manifest is not None and not is_seal_whole(path, is_sealed=manifest.is_sealed):
        raise damaged(path.parent, path)


def is_seal_whole(path: Path, *, is_sealed: bool) -> bool:
    """Return whether a small file is as it was written.

    Args:
        path: the file.
        is_sealed: whether it must end with a seal; a file of an older version need not.
    """
    state = seal_state(path.read_bytes())
    return state == "whole" or (state == "none" and not is_sealed)


def differing_files(cell: Path, manifest: Manifest) -> list[str]:
    """Return the files of a finished cell that are not in the state that its manifest names."""
    return [name for name, state in manifest.files.items() if hash_of(cell / name).state != state]


def damaged(cell: Path, path: Path, place: str = "") -> RunDirectoryError:
    """Return the error about a damaged file of a cell."""
    return RunDirectoryError(
        f"{path}{place} is not as the run wrote it; restore the file, or move {cell} away and run again: "
        "its samples run again, with the answers that the cache holds",
        path=path,
    )


def _misnamed(entries: Sequence[JournalLine], uids: Sequence[str], store: Path | None) -> Iterator[Damage]:
    """Yield entries that name other samples than the cell has, or another last line of the store."""
    for entry in entries:
        if entry.uid not in uids[entry.sample_index : entry.sample_index + 1]:
            yield Damage(JOURNAL_KEY, entry)
    if entries and store is not None:
        last = last_line_sha256(store, end=entries[-1].store_size or 0)
        if last != entries[-1].store_last_sha256:
            yield Damage(JOURNAL_KEY, entries[-1])
