"""Checks, repairs and compacts a store file. No other code rewrites a store."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.memory.store.bad_line import bad_line_error, lost_lines_error, rejected_path, torn_path
from episodic_absa.memory.store.checked_lines import remarks_on, upgraded_body
from episodic_absa.memory.store.episode_store import DEFAULT_LOCK_TIMEOUT_S
from episodic_absa.memory.store.index_snapshot import remove_snapshot
from episodic_absa.memory.store.reading.store_content import (
    StoreContent,
    episode_number,
    line_body,
    read_store,
)
from episodic_absa.memory.store.store_file import refuse_other_file
from episodic_absa.memory.store.store_lock import StoreLock
from episodic_absa.memory.store.store_report import Compacted, Finding, Repaired, StoreReport
from episodic_absa.memory.store.store_tail import highest_rejected_id
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1
from episodic_absa.schemas.memory_v1_2 import (
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    store_chain,
)
from episodic_absa.serialization.acknowledged_end import AcknowledgedEnd, forget_end
from episodic_absa.serialization.durable_file import DurableFile, sync_directory
from episodic_absa.serialization.jsonl import ReadLine


def check_store(path: Path) -> StoreReport:
    """Return everything that is wrong with a store. Changes nothing.

    Raises:
        MemoryStoreError: the file cannot be read, or is no store.
    """
    refuse_other_file(path)
    store = read_store(path)
    remarks = _remarks(line for line in store.lines if line.number not in store.bad)
    tally_n = sum(isinstance(line.value, TallyV1_2) for line in store.lines)
    verdict_n = sum(isinstance(line.value, VerdictV1_2) for line in store.lines)
    return StoreReport(
        episode_n=_episode_n(store.kept()),
        tally_n=tally_n,
        verdict_n=verdict_n,
        bad_lines=store.findings(),
        remarks=tuple(remarks),
        torn_bytes=len(store.torn),
        damage=store.damage,
        is_sealed=store.is_sealed,
    )


def repair_store(path: Path, *, lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S) -> Repaired:
    """Move bad lines to `<store>.rejected.jsonl` and an unfinished end to `<store>.torn`; keep all other lines.

    A sealed store is sealed anew. If last lines are lost, the id of the last one goes to `<store>.rejected.jsonl`, so
    that it is not given again.

    Raises:
        MemoryStoreError: the file is no store, another writer holds the lock, or the disk failed. The store is
            unchanged.
    """
    path = path.resolve()
    with _rewriting(path, lock_timeout_s) as lock:
        store = read_store(path)
        kept = store.kept()
        if store.bad or store.damage or store.torn:
            # Bad lines are copied before they are removed: a kill between the two leaves a line twice, never nowhere.
            if store.bad:
                _append_all(rejected_path(path), (store.lines[number - 1].raw for number in sorted(store.bad)))
            if store.torn:
                _append_all(torn_path(path), [store.torn])
            _note_lost_id(path, store)
            bodies = [line_body(line) for line in kept]
            _replace(path, bodies, lock, last_id=_last_id(path, kept), is_sealed=store.is_sealed)
    return Repaired(_episode_n(kept), store.findings(), len(store.torn), store.damage)


def compact_store(
    path: Path, keep_last_n: int, *, upgrade: bool = False, lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S
) -> Compacted:
    """Rewrite the file with its last `keep_last_n` episodes, sealed. Ids stay the same; readers reopen the file.

    The first tally of each source and the last verdict per source and aspect stay. With `upgrade`, episodes of schema
    1.1 become 1.2: their outcome is open, and the type that a risk decided is gone.

    Raises:
        MemoryStoreError: the file is no store, a line is bad, another writer holds the lock, or the disk failed. The
            store is unchanged.
    """
    if keep_last_n < 1:
        raise MemoryStoreError(f"keep at least one episode, got {keep_last_n}", path=path)
    path = path.resolve()
    with _rewriting(path, lock_timeout_s) as lock:
        size = path.stat().st_size
        store = read_store(path)
        for finding in store.findings():
            raise bad_line_error(path, finding.line, finding.reason)
        for damage in store.damage:
            raise lost_lines_error(path, damage)
        if store.torn:
            _append_all(torn_path(path), [store.torn])
        kept = list(_compacted(store.lines, keep_last_n))
        bodies = [_upgraded(line) if upgrade else line_body(line) for line in kept]
        size_after = _replace(path, bodies, lock, last_id=_last_id(path, kept))
    kept_n = _episode_n(kept)
    return Compacted(kept_n, _episode_n(store.lines) - kept_n, size, size_after)


def _note_lost_id(path: Path, store: StoreContent) -> None:
    """Keep the id of a lost last episode where repaired stores keep the ids of bad lines."""
    lost = store.acknowledged.last_id if store.acknowledged is not None else 0
    if lost > _last_id(path, store.kept()):
        _append_all(rejected_path(path), [b'{"episode_id":"epi_%06d","lost":true}' % lost])


def _last_id(path: Path, kept: Iterable[ReadLine[StoreLine]]) -> int:
    return max(highest_rejected_id(path), *(episode_number(line.value) for line in kept), 0)


def _upgraded(line: ReadLine[StoreLine]) -> bytes:
    """Return the line, an episode of 1.1 as one of 1.2."""
    if not isinstance(line.value, EpisodicMemoryEntryV1_1):
        return line_body(line)
    return upgraded_body(line.value)


def _compacted(read: Sequence[ReadLine[StoreLine]], keep_last_n: int) -> Iterator[ReadLine[StoreLine]]:
    """Yield the lines that stay, in their order."""
    episodes = [line.number for line in read if episode_number(line.value)]
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


def _episode_n(lines: Iterable[ReadLine[StoreLine]]) -> int:
    return sum(episode_number(line.value) > 0 for line in lines)


@contextmanager
def _rewriting(path: Path, lock_timeout_s: float) -> Iterator[StoreLock]:
    """Hold the writers' lock. A disk error leaves the store unchanged."""
    refuse_other_file(path)
    lock = StoreLock(path, timeout_s=lock_timeout_s)
    try:
        with lock.held():
            yield lock
    except OSError as error:
        raise MemoryStoreError(
            f"{path} was not rewritten: {error.strerror or error}; it is unchanged. Check the disk, then run again",
            path=path,
        ) from error
    finally:
        lock.close()


def _remarks(lines: Iterable[ReadLine[StoreLine]]) -> Iterator[Finding]:
    """Yield what is unusual about each readable line."""
    catalogue = load_catalogue()
    for line in lines:
        if line.value is not None:
            for remark in remarks_on(line.value, line_body(line), catalogue):
                yield Finding(line.number, remark)


def _append_all(path: Path, lines: Iterable[bytes]) -> None:
    keeper = DurableFile(path)
    try:
        # A repair that was killed may have left half a line: what follows begins a line of its own.
        begun = b"" if _ends_in_newline(path) else b"\n"
        keeper.append(begun + b"".join(line + b"\n" for line in lines), at=path.stat().st_size)
    finally:
        keeper.close()


def _ends_in_newline(path: Path) -> bool:
    """Return whether a file is empty or its last line is whole."""
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _replace(path: Path, bodies: Sequence[bytes], lock: StoreLock, *, last_id: int, is_sealed: bool = True) -> int:
    """Replace the file by one with these lines. At every moment one of the two is complete. Return its size."""
    chain = store_chain()
    if not is_sealed:
        chain.is_sealed = False
    lines = chain.lines_of(bodies) if bodies else []
    content = b"".join(lines)
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    writer = DurableFile(draft)
    try:
        writer.append(content, at=0)
        # A kill behind this line must not leave the old end beside the new file.
        forget_end(path)
        remove_snapshot(path)
        draft.replace(path)
    finally:
        writer.close()
        draft.unlink(missing_ok=True)
    sync_directory(path.parent)
    if lines:
        chain.continue_behind(lines[-1])
        lock.acknowledge(AcknowledgedEnd(len(lines), chain.checksum, last_id))
    return len(content)
