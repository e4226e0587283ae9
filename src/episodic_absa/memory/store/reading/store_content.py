"""Reads a whole store file for its maintenance: every line with its value, what is bad, what is lost."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.episode_line import MAX_EPISODE_NUMBER
from episodic_absa.memory.store.store_report import Finding
from episodic_absa.schemas.memory_v1_2 import StoreLine, TallyV1_2, VerdictV1_2, read_store_lines
from episodic_absa.serialization.acknowledged_end import AcknowledgedEnd, read_end
from episodic_absa.serialization.jsonl import ReadLine, split_lines
from episodic_absa.serialization.sealed_lines import opened


@dataclass(frozen=True)
class StoreContent:
    """A store file as it was read."""

    lines: tuple[ReadLine[StoreLine], ...]
    """The header, too; it has neither a value nor a problem."""
    torn: bytes
    bad: Mapping[int, str]
    """What is wrong with each bad line, by line number."""
    damage: tuple[str, ...]
    is_sealed: bool
    acknowledged: AcknowledgedEnd | None

    def kept(self) -> list[ReadLine[StoreLine]]:
        """Return the lines that stay in a repair, without the header."""
        return [line for line in self.lines if line.value is not None and line.number not in self.bad]

    def findings(self) -> tuple[Finding, ...]:
        """Return the bad lines in their order."""
        return tuple(Finding(number, reason) for number, reason in sorted(self.bad.items()))


def read_store(path: Path) -> StoreContent:
    """Return the lines of a store and what is wrong with them.

    Raises:
        MemoryStoreError: the file cannot be read.
    """
    while True:
        acknowledged = read_end(path)
        try:
            lines, torn = split_lines(path.read_bytes())
        except OSError as error:
            raise MemoryStoreError(f"cannot read {path}: {error.strerror}", path=path) from error
        content = read_store_lines(lines)
        damage = content.damage(acknowledged)
        # A compaction forgets the end before it replaces the file, so damage counts only if the end did not change.
        if not damage or read_end(path) == acknowledged:
            return StoreContent(content.lines, torn, _bad_lines(content.lines), damage, content.is_sealed, acknowledged)


def line_body(line: ReadLine[StoreLine]) -> bytes:
    """Return a line without its seal."""
    return opened(line.raw).body


def episode_number(value: StoreLine | None) -> int:
    """Return the number of an episode; 0 for any other line."""
    return 0 if value is None or isinstance(value, TallyV1_2 | VerdictV1_2) else int(value.episode_id[4:])


def _bad_lines(lines: Iterable[ReadLine[StoreLine]]) -> dict[int, str]:
    """Return what is wrong with each unreadable or misplaced line, by line number."""
    bad: dict[int, str] = {}
    numbered: list[tuple[int, int]] = []
    for line in lines:
        if line.problem:
            bad[line.number] = line.problem
        if line.value is None or isinstance(line.value, TallyV1_2 | VerdictV1_2):
            continue
        episode = int(line.value.episode_id[4:])
        if not 1 <= episode <= MAX_EPISODE_NUMBER:
            bad[line.number] = f"{line.value.episode_id} has a number that no store gives"
        else:
            numbered.append((line.number, episode))
    in_order = set(_longest_ascending(numbered))
    for number, episode in numbered:
        if number not in in_order:
            bad[number] = f"epi_{episode:06d} is out of order or given twice"
    return bad


def _longest_ascending(numbered: list[tuple[int, int]]) -> Iterator[int]:
    """Yield the lines of a longest ascending sequence of ids, so that one wrong id does not reject all later lines."""
    tails: list[int] = []
    holders: list[int] = []
    previous: list[int | None] = []
    for position, (_, episode) in enumerate(numbered):
        place = bisect_left(tails, episode)
        if tails[place : place + 1] == [episode]:
            # Of two equal ids the earlier line stays: readers have used it already.
            previous.append(None)
            continue
        previous.append(holders[place - 1] if place else None)
        tails[place : place + 1] = [episode]
        holders[place : place + 1] = [position]
    position_of_last = holders[-1] if holders else None
    while position_of_last is not None:
        yield numbered[position_of_last][0]
        position_of_last = previous[position_of_last]
