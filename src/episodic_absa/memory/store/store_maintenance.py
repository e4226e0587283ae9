"""Checks, repairs and compacts a store file. No other code rewrites a store."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from episodic_absa.errors import LeakageError, MemoryStoreError
from episodic_absa.memory.advice.principles import PrincipleCatalogue, load_catalogue
from episodic_absa.memory.episodes.leak_guard import refuse_open_terms, refuse_open_vocabulary
from episodic_absa.memory.store.bad_line import bad_line_error, rejected_path
from episodic_absa.memory.store.episode_line import MAX_EPISODE_NUMBER, line_of
from episodic_absa.memory.store.memory_store import DEFAULT_LOCK_TIMEOUT_S, torn_path
from episodic_absa.memory.store.store_line import read_store_lines
from episodic_absa.memory.store.store_lock import StoreLock
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1
from episodic_absa.schemas.memory_v1_2 import (
    EpisodeDraftV1_2,
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    is_episode_line,
)
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import DurableFile, sync_directory
from episodic_absa.serialization.jsonl import ReadLine, split_lines


class Finding(NamedTuple):
    """One line that is not as this package writes it, and why."""

    line: int
    reason: str


class StoreReport(NamedTuple):
    """The result of a check. A store with bad lines cannot be opened; one with remarks can."""

    episode_n: int
    tally_n: int
    verdict_n: int
    bad_lines: tuple[Finding, ...]
    remarks: tuple[Finding, ...]
    """Readable lines in another form, or with texts that the present catalogue does not contain."""
    torn_bytes: int

    @property
    def is_sound(self) -> bool:
        """Whether the store can be opened."""
        return not self.bad_lines


class Repaired(NamedTuple):
    """The result of a repair."""

    kept_n: int
    """Episodes; tallies and verdicts are kept, too."""
    rejected: tuple[Finding, ...]
    torn_bytes: int


class Compacted(NamedTuple):
    """The result of compacting a store."""

    kept_n: int
    """Episodes, as in `dropped_n`. Every tally and verdict that counts is kept."""
    dropped_n: int
    bytes_before: int
    bytes_after: int


def check_store(path: Path) -> StoreReport:
    """Return everything that is wrong with a store. Changes nothing.

    Raises:
        MemoryStoreError: the file cannot be read.
    """
    lines, torn_bytes = _read(path)
    remarks: list[Finding] = []
    read = list(_with_remarks(read_store_lines(lines), remarks))
    bad = _bad_lines(read)
    tally_n = sum(isinstance(line.value, TallyV1_2) for line in read)
    verdict_n = sum(isinstance(line.value, VerdictV1_2) for line in read)
    return StoreReport(
        episode_n=len(lines) - len(bad) - tally_n - verdict_n,
        tally_n=tally_n,
        verdict_n=verdict_n,
        bad_lines=tuple(Finding(number, reason) for number, reason in sorted(bad.items())),
        remarks=tuple(remark for remark in remarks if remark.line not in bad),
        torn_bytes=torn_bytes,
    )


def repair_store(path: Path, *, lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S) -> Repaired:
    """Move bad lines to `<store>.rejected.jsonl` and an unfinished end to `<store>.torn`; keep all other lines.

    Raises:
        MemoryStoreError: another writer holds the lock, or the disk failed. The store is unchanged.
    """
    path = path.resolve()
    with _rewriting(path, lock_timeout_s):
        lines, torn_bytes = _read(path)
        bad = _bad_lines(read_store_lines(lines))
        if not bad and not torn_bytes:
            return Repaired(_episode_n(lines), (), 0)
        # Bad lines are copied before they are removed: a kill between the two leaves a line twice, never nowhere.
        if bad:
            _append_all(rejected_path(path), (lines[number - 1] for number in sorted(bad)))
        if torn_bytes:
            _append_all(torn_path(path), [path.read_bytes()[-torn_bytes:]])
        kept = [line for number, line in enumerate(lines, start=1) if number not in bad]
        _replace(path, kept)
    findings = tuple(Finding(number, reason) for number, reason in sorted(bad.items()))
    return Repaired(_episode_n(kept), findings, torn_bytes)


def compact_store(
    path: Path, keep_last_n: int, *, upgrade: bool = False, lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S
) -> Compacted:
    """Rewrite the file with its last `keep_last_n` episodes. Ids stay the same; readers reopen the file.

    The first tally of each source and the last verdict per source and aspect stay, so familiarity counts the same as
    before. Experience loses the changes of the episodes that go. With `upgrade`, episodes of schema 1.1 become 1.2:
    their outcome is open, and the type that a risk decided is gone.

    Raises:
        MemoryStoreError: a line is bad, another writer holds the lock, or the disk failed. The store is unchanged.
    """
    if keep_last_n < 1:
        raise MemoryStoreError(f"keep at least one episode, got {keep_last_n}", path=path)
    path = path.resolve()
    with _rewriting(path, lock_timeout_s):
        size = path.stat().st_size
        lines, torn_bytes = _read(path)
        read = list(read_store_lines(lines))
        bad = _bad_lines(read)
        if bad:
            number, reason = min(bad.items())
            raise bad_line_error(path, number, reason)
        if torn_bytes:
            _append_all(torn_path(path), [path.read_bytes()[-torn_bytes:]])
        kept = [_upgraded(line) if upgrade else line.raw for line in _compacted(read, keep_last_n)]
        _replace(path, kept)
    kept_n = _episode_n(kept)
    return Compacted(kept_n, _episode_n(lines) - kept_n, size, sum(len(line) + 1 for line in kept))


def _upgraded(line: ReadLine[StoreLine]) -> bytes:
    """Return the line, an episode of 1.1 as one of 1.2."""
    if not isinstance(line.value, EpisodicMemoryEntryV1_1):
        return line.raw
    fields = line.value.model_dump(mode="json", exclude={"episode_id", "schema_version", "episode_type"})
    draft = EpisodeDraftV1_2.model_validate({**fields, "episode_type": "neutral"})
    return line_of(draft, int(line.value.episode_id.removeprefix("epi_"))).rstrip(b"\n")


def _compacted(read: Sequence[ReadLine[StoreLine]], keep_last_n: int) -> Iterator[ReadLine[StoreLine]]:
    """Yield the lines that stay, in their order."""
    episodes = [line.number for line in read if not isinstance(line.value, TallyV1_2 | VerdictV1_2)]
    stay = set(episodes[-keep_last_n:])
    first_tally: dict[str, int] = {}
    last_verdict: dict[tuple[str, str | None], int] = {}
    for line in read:
        if isinstance(line.value, TallyV1_2):
            first_tally.setdefault(line.value.source_id, line.number)
        elif isinstance(line.value, VerdictV1_2):
            last_verdict[line.value.source_id, line.value.aspect] = line.number
    stay.update(first_tally.values(), last_verdict.values())
    return (line for line in read if line.number in stay)


def _episode_n(lines: Iterable[bytes]) -> int:
    return sum(map(is_episode_line, lines))


@contextmanager
def _rewriting(path: Path, lock_timeout_s: float) -> Iterator[None]:
    """Hold the writers' lock. A disk error leaves the store unchanged."""
    lock = StoreLock(path, timeout_s=lock_timeout_s)
    try:
        with lock.held():
            yield
    except OSError as error:
        raise MemoryStoreError(
            f"{path} was not rewritten: {error.strerror or error}; it is unchanged. Check the disk, then run again",
            path=path,
        ) from error
    finally:
        lock.close()


def _read(path: Path) -> tuple[list[bytes], int]:
    """Return the whole lines, and the number of bytes after them."""
    try:
        lines, torn = split_lines(path.read_bytes())
    except OSError as error:
        raise MemoryStoreError(f"cannot read {path}: {error.strerror}", path=path) from error
    return lines, len(torn)


def _with_remarks(lines: Iterable[ReadLine[StoreLine]], remarks: list[Finding]) -> Iterator[ReadLine[StoreLine]]:
    """Yield the lines as they are, and add what is unusual about each readable one to `remarks`."""
    catalogue = load_catalogue()
    for line in lines:
        if line.value is not None:
            if canonical_json(line.value).encode() != line.raw:
                remarks.append(Finding(line.number, "not in canonical form"))
            try:
                _refuse_open(line.value, catalogue)
            except LeakageError as error:
                remarks.append(Finding(line.number, str(error)))
        yield line


def _refuse_open(value: StoreLine, catalogue: PrincipleCatalogue) -> None:
    """Raise LeakageError if a line holds words outside the closed vocabulary."""
    if isinstance(value, TallyV1_2):
        refuse_open_terms("terms", value.terms)
    elif isinstance(value, VerdictV1_2):
        refuse_open_terms("aspect", () if value.aspect is None else (value.aspect,))
    else:
        refuse_open_vocabulary(value, catalogue)


def _bad_lines(lines: Iterable[ReadLine[StoreLine]]) -> dict[int, str]:
    """Return what is wrong with each unreadable or misplaced line, by line number."""
    bad: dict[int, str] = {}
    numbered: list[tuple[int, int]] = []
    for line in lines:
        if line.value is None:
            bad[line.number] = line.problem
            continue
        if isinstance(line.value, TallyV1_2 | VerdictV1_2):
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


def _append_all(path: Path, lines: Iterable[bytes]) -> None:
    keeper = DurableFile(path)
    try:
        keeper.append(b"".join(line + b"\n" for line in lines), at=path.stat().st_size)
    finally:
        keeper.close()


def _replace(path: Path, lines: list[bytes]) -> None:
    """Replace the file by one with these lines. At every moment one of the two is complete."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    writer = DurableFile(draft)
    try:
        writer.append(b"".join(line + b"\n" for line in lines), at=0)
        draft.replace(path)
    finally:
        writer.close()
        draft.unlink(missing_ok=True)
    sync_directory(path.parent)
