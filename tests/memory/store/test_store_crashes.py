"""The store: kills, torn tails, full disks and failing fsyncs never cost an acknowledged episode."""

import copy
import errno
import json
import os
import random
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.memory.store_places import StorePlace, opened
from tests.stored_lines import entries_of
from tests.warm_python import WarmProcess

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import EpisodeStore, MemoryStore
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import DurableFile

HERE = Path(__file__).parent
BASE: dict[str, Any] = json.loads((HERE.parent / "episode.json").read_text(encoding="utf-8"))


def draft(source_id: str = "s-1") -> dict[str, Any]:
    episode = copy.deepcopy(BASE)
    episode["provenance"]["source_id"] = source_id
    return episode


def line(number: int, source_id: str = "리뷰") -> bytes:
    return canonical_json({**draft(source_id), "episode_id": f"epi_{number:06d}"}).encode() + b"\n"


def short_line(number: int) -> bytes:
    """Return a line with little in it, for loops over its bytes; a file is compared with the schema only."""
    episode = {**draft(f"리뷰-{number}"), "episode_id": f"epi_{number:06d}"}
    snapshot = {"aspects_norm": [], "polarities": {}, "confidence": 0.0}
    episode["stage_snapshot"] = {"stage1": snapshot, "final": snapshot}
    episode["case_summary"] = {"target_aspect_type": "", "symptom": "", "rationale_summary": ""}
    episode["correction"] |= {"corrective_principle": "", "applicable_conditions": [""], "anti_pattern": None}
    return canonical_json(episode).encode() + b"\n"


def ids_of(store: EpisodeStore) -> list[str]:
    return [e.episode_id for e in store.load()]


def torn_of(path: Path) -> bytes:
    side = path.with_name(path.name + ".torn")
    return side.read_bytes() if side.exists() else b""


def killed_while_appending(path: Path, chance: random.Random) -> tuple[list[str], bytes]:
    """Start a writer, kill it at a random moment, and return what it acknowledged and its standard error."""
    command: list[object] = [HERE / "appender.py", path, "--source", "리뷰-1"]
    if chance.random() < 0.7:
        command.append("--slow")
    with WarmProcess(command, loads_engine=False) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0, 0.06))
        child.send_signal(signal.SIGKILL)
        out, err = child.communicate()
    words = out.split(b"\n")
    assert words.pop() == b""
    return [word.decode() for word in words], err


def survive_kills(path: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged: list[str] = []
    tails: list[bytes] = []
    with MemoryStore(path, keep_last_n=10**6) as reader:
        done = 0
        # On a busy machine more kills may be needed until one lands inside a write.
        while done < kills or (not tails and done < 5 * kills):
            done += 1
            fresh, err = killed_while_appending(path, chance)
            assert b"Traceback" not in err, err.decode()
            acknowledged += fresh
            raw = path.read_bytes() if path.exists() else b""
            whole, _, tail = raw.rpartition(b"\n")
            written = [json.loads(text)["episode_id"] for text in entries_of(path)]
            assert ids_of(reader) == written
            with MemoryStore(path, keep_last_n=10**6) as newcomer:
                assert ids_of(newcomer) == written
            assert all(int(a[4:]) < int(b[4:]) for a, b in pairwise(written))
            assert set(acknowledged) <= set(written)
            assert len(set(acknowledged)) == len(acknowledged)
            assert (path.read_bytes() if path.exists() else b"") == raw, "a reader changed the file"
            if tail:
                tails.append(tail)
        with MemoryStore(path) as writer:
            last = writer.append(draft())
        assert int(last.episode_id[4:]) == max((int(name[4:]) for name in written), default=0) + 1
        assert path.read_bytes().startswith(whole)
        assert path.read_bytes().endswith(b"\n")
        assert ids_of(reader) == [*written, last.episode_id]
        # The next writer may itself have been killed before it had the lock: then the same tail is seen twice.
        for tail in tails:
            assert tail in torn_of(path)
    assert acknowledged
    assert tails, "no kill landed inside a write; the test proves nothing about torn lines"


def test_ten_kills_during_appends_lose_no_acknowledged_episode(tmp_path: Path) -> None:
    survive_kills(tmp_path / "store.jsonl", kills=10, seed=20)


def killed_after_some(place: StorePlace, chance: random.Random, *more: str) -> tuple[list[str], bytes]:
    """Kill a writer soon after it acknowledged some episodes; return those and its standard error."""
    command: list[object] = [HERE / "appender.py", place.location, "--source", "리뷰-1", *more]
    with WarmProcess(command, loads_engine=False) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        heard = [child.stdout.readline() for _ in range(chance.randint(1, 6))]
        time.sleep(chance.uniform(0, 0.02))
        child.send_signal(signal.SIGKILL)
        _, err = child.communicate()
    return [word.decode().strip() for word in heard if word.endswith(b"\n")], err


def survive_kills_while_compacting(place: StorePlace, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged: list[str] = []
    done = 0
    # On a busy machine more kills may be needed until enough was acknowledged.
    while done < kills or (len(acknowledged) <= 5 and done < 10 * kills):
        done += 1
        fresh, err = killed_after_some(place, chance, "--compact-to", "5")
        assert b"Traceback" not in err, err.decode()
        acknowledged += fresh
        with opened(place) as reader:
            stored = [int(name[4:]) for name in ids_of(reader)]
        # No id is skipped or repeated, the last five are there, and nothing acknowledged is missing at the end.
        assert len(set(acknowledged)) == len(acknowledged)
        if acknowledged:
            last = stored[-1]
            assert last >= int(acknowledged[-1][4:])
            assert stored == list(range(stored[0], last + 1))
            assert len(stored) >= min(5, last)
    assert len(acknowledged) > 5


def test_kills_during_compaction_leave_the_last_episodes_whole(place: StorePlace) -> None:
    survive_kills_while_compacting(place, kills=5, seed=7)


def test_truncating_at_every_byte_of_the_last_three_records_never_loses_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    records = [short_line(number) for number in (1, 2, 3, 5, 8)]
    whole = b"".join(records)
    ends = [sum(map(len, records[: n + 1])) for n in range(5)]
    names = ["epi_000001", "epi_000002", "epi_000003", "epi_000005", "epi_000008"]
    side = path.with_name("store.jsonl.torn")
    for cut in range(ends[1], len(whole) + 1):
        path.write_bytes(whole[:cut])
        forget_end(path)
        side.unlink(missing_ok=True)
        n = sum(end <= cut for end in ends)
        tail = whole[ends[n - 1] : cut]
        with MemoryStore(path) as reader:
            assert ids_of(reader) == names[:n], cut
            assert path.read_bytes() == whole[:cut], cut
            assert not side.exists(), cut
            with MemoryStore(path) as writer:
                entry = writer.append(draft())
            assert int(entry.episode_id[4:]) == int(names[n - 1][4:]) + 1, cut
            assert path.read_bytes() == whole[: ends[n - 1]] + canonical_json(entry).encode() + b"\n", cut
            assert ids_of(reader) == [*names[:n], entry.episode_id], cut
        if tail:
            assert tail in side.read_bytes(), cut
        else:
            assert not side.exists(), cut


@pytest.mark.parametrize(
    "tail", [b"{", b'"', b"\0" * 4096, b"\xed\x95", b"   ", line(3)[:-1], b"x" * 200_000], ids=range(7)
)
def test_an_unterminated_tail_of_any_kind_is_ignored_by_readers_and_set_aside_by_the_next_writer(
    tmp_path: Path, tail: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(line(1) + line(2) + tail)
    with MemoryStore(path) as reader:
        assert ids_of(reader) == ["epi_000001", "epi_000002"]
        assert path.read_bytes() == line(1) + line(2) + tail
        caplog.clear()
        with MemoryStore(path) as writer:
            assert writer.append(draft("리뷰")).episode_id == "epi_000003"
        assert any(record.levelname == "WARNING" for record in caplog.records)
        assert tail in torn_of(path)
        assert path.read_bytes() == line(1) + line(2) + line(3)
        assert ids_of(reader) == ["epi_000001", "epi_000002", "epi_000003"]


def test_a_store_that_is_only_a_torn_line_is_empty_and_starts_at_one(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(line(1)[:-1])
    with MemoryStore(path) as store:
        assert ids_of(store) == []
        assert store.append(draft()).episode_id == "epi_000001"
        assert ids_of(store) == ["epi_000001"]
    assert line(1)[:-1] in torn_of(path)


def test_later_torn_lines_are_added_to_those_set_aside_before(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    tails = (line(1)[:40], b'{"second', b'{"third')
    for tail in tails:
        with open(path, "ab") as file:
            file.write(tail)
        with MemoryStore(path) as store:
            store.append(draft())
    assert all(tail in torn_of(path) for tail in tails)
    with MemoryStore(path) as store:
        assert ids_of(store) == ["epi_000001", "epi_000002", "epi_000003"]


def test_a_writer_that_is_already_open_sets_aside_what_another_left_torn(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store:
        store.append(draft())
        with open(path, "ab") as file:
            file.write(line(2)[:50])
        assert ids_of(store) == ["epi_000001"]
        assert store.append(draft("리뷰")).episode_id == "epi_000002"
        assert entries_of(path)[1] == line(2)[:-1]
        assert line(2)[:50] in torn_of(path)
        assert ids_of(store) == ["epi_000001", "epi_000002"]


def test_a_reader_that_saw_half_a_line_sees_it_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(line(1) + line(2)[:700])
    with MemoryStore(path) as reader:
        assert ids_of(reader) == ["epi_000001"]
        with open(path, "ab") as file:
            file.write(line(2)[700:] + line(3)[:10])
        assert ids_of(reader) == ["epi_000001", "epi_000002"]
        with open(path, "ab") as file:
            file.write(line(3)[10:])
        assert ids_of(reader) == ["epi_000001", "epi_000002", "epi_000003"]


class FullDisk(DurableFile):
    """Takes `room` more bytes and then none."""

    room: ClassVar[int | None] = None

    def write_some(self, data: Any) -> int:
        if self.room is None:
            return super().write_some(data)
        if self.room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = super().write_some(data[: self.room])
        type(self).room = self.room - written
        return written


class FailingWrite(DurableFile):
    error: ClassVar[int | None] = None

    def write_some(self, data: Any) -> int:
        if self.error is not None:
            raise OSError(self.error, os.strerror(self.error))
        return super().write_some(data)


class FailingSync(DurableFile):
    broken: ClassVar[bool] = False
    calls: ClassVar[int] = 0

    def sync(self) -> None:
        type(self).calls += 1
        if self.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync()


@pytest.mark.parametrize("stored", [0, 1, 3])
@pytest.mark.parametrize("room", [0, 1, 100, 1000])
def test_a_full_disk_is_a_store_error_and_leaves_the_store_as_it_was(tmp_path: Path, stored: int, room: int) -> None:
    class Disk(FullDisk):
        pass

    path = tmp_path / "store.jsonl"
    with MemoryStore(path, open_file=Disk) as store, MemoryStore(path) as reader:
        for _ in range(stored):
            store.append(draft())
        before = path.read_bytes() if path.exists() else b""
        for _ in range(2):
            Disk.room = room
            with pytest.raises(MemoryStoreError) as caught:
                store.append(draft())
            assert caught.value.path == path
            assert path.read_bytes() == before
            assert len(store.load()) == len(reader.load()) == stored
        Disk.room = None
        assert store.append(draft()).episode_id == f"epi_{stored + 1:06d}"
        assert len(store.load()) == len(reader.load()) == stored + 1
        assert path.read_bytes().startswith(before)
        assert len(entries_of(path)) == stored + 1


def test_the_disk_may_fill_up_with_the_last_byte_of_a_line(tmp_path: Path) -> None:
    class Disk(FullDisk):
        pass

    path = tmp_path / "store.jsonl"
    with MemoryStore(path, open_file=Disk) as store:
        store.append(draft())
        store.append(draft())
        before = path.read_bytes()
        Disk.room = len(before.splitlines()[-1])
        with pytest.raises(MemoryStoreError):
            store.append(draft())
        assert path.read_bytes() == before
        Disk.room = len(before.splitlines()[-1]) + 1
        assert store.append(draft()).episode_id == "epi_000003"


def test_a_write_error_is_a_store_error_and_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    class Broken(FailingWrite):
        pass

    path = tmp_path / "store.jsonl"
    with MemoryStore(path, open_file=Broken) as store:
        store.append(draft())
        before = path.read_bytes()
        Broken.error = errno.EIO
        with pytest.raises(MemoryStoreError):
            store.append(draft())
        assert path.read_bytes() == before
        assert ids_of(store) == ["epi_000001"]


@pytest.mark.parametrize("stored", [0, 2])
def test_a_failing_fsync_is_fatal_for_the_store_object_and_harmless_to_the_file(tmp_path: Path, stored: int) -> None:
    class Broken(FailingSync):
        pass

    path = tmp_path / "store.jsonl"
    with MemoryStore(path, open_file=Broken) as store, MemoryStore(path) as reader:
        for _ in range(stored):
            store.append(draft())
        before = path.read_bytes() if path.exists() else b""
        Broken.broken = True
        with pytest.raises(MemoryStoreError) as caught:
            store.append(draft())
        assert caught.value.path == path
        assert path.read_bytes() == before
        assert len(reader.load()) == stored
        Broken.broken = False
        calls = Broken.calls
        for _ in range(2):
            with pytest.raises(MemoryStoreError):
                store.append(draft())
        assert Broken.calls == calls, "an fsync that failed was tried again"
        assert path.read_bytes() == before
    with MemoryStore(path) as again:
        assert len(again.load()) == stored
        assert again.append(draft()).episode_id == f"epi_{stored + 1:06d}"


def test_after_a_failing_fsync_others_are_not_kept_waiting(tmp_path: Path) -> None:
    class Broken(FailingSync):
        broken = True

    path = tmp_path / "store.jsonl"
    with MemoryStore(path, open_file=Broken) as store:
        with pytest.raises(MemoryStoreError):
            store.append(draft())
        with MemoryStore(path, lock_timeout_s=1.0) as other:
            assert other.append(draft()).episode_id == "epi_000001"
        assert ids_of(store) == ["epi_000001"]


def test_a_full_disk_inside_a_writing_block_leaves_it_usable(tmp_path: Path) -> None:
    class Disk(FullDisk):
        pass

    path = tmp_path / "store.jsonl"
    with MemoryStore(path, open_file=Disk) as store, store.writing():
        store.append(draft())
        before = path.read_bytes()
        Disk.room = 10
        with pytest.raises(MemoryStoreError):
            store.append(draft())
        assert path.read_bytes() == before
        Disk.room = None
        assert store.append(draft()).episode_id == "epi_000002"
