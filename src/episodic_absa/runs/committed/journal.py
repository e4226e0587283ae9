"""Reads the journal of a cell without trusting it."""

from collections.abc import Collection
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from episodic_absa.schemas.run_files.journal_line import JournalLine
from episodic_absa.serialization.jsonl import read_lines, split_lines


class Journal(NamedTuple):
    """The commits of a cell."""

    entries: tuple[JournalLine, ...] = ()
    """Up to the first line that is unreadable or out of order."""
    ends: tuple[int, ...] = ()
    """The offset at which the line of each entry ends."""
    bad_line: int | None = None
    """The number of that line, from 1; None if every whole line is right. A torn last line is no bad one."""

    def size_at(self, entry_n: int) -> int:
        """Return the size of the file with so many entries."""
        return self.ends[entry_n - 1] if entry_n else 0


def read_journal(path: Path, names: Collection[str]) -> Journal:
    """Return what a journal commits; nothing if there is none.

    Args:
        path: the file.
        names: the files whose sizes every line holds.
    """
    try:
        lines, _torn = split_lines(path.read_bytes())
    except FileNotFoundError:
        return Journal()
    entries: list[JournalLine] = []
    for line in read_lines(lines, JournalLine):
        entry = line.value
        if entry is None or entry.sample_index != len(entries) or not entry.offsets.keys() >= {*names}:
            break
        entries.append(entry)
    ends = tuple(accumulate(len(line) + 1 for line in lines[: len(entries)]))
    return Journal(tuple(entries), ends, len(entries) + 1 if len(entries) < len(lines) else None)
