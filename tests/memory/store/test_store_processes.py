"""Several processes share one file, its lock and its numbering."""

import copy
import fcntl
import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import IO, Any

import pytest
from tests.memory.store_places import FilePlace, StorePlace, opened
from tests.warm_python import WarmProcess, run_warm

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.store_maintenance import repair_store
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1
from episodic_absa.serialization.canonical_json import canonical_json

HERE = Path(__file__).parent
BASE: dict[str, Any] = json.loads((HERE.parent / "episode.json").read_text(encoding="utf-8"))


def draft(source_id: str = "s-1") -> dict[str, Any]:
    episode = copy.deepcopy(BASE)
    episode["provenance"]["source_id"] = source_id
    return episode


def line(number: int) -> bytes:
    return canonical_json({**draft(), "episode_id": f"epi_{number:06d}"}).encode() + b"\n"


class Writer:
    """Another process that appends, and then reads and appends on demand."""

    def __init__(self, location: str, source: str, count: int, *more: str) -> None:
        self.source = source
        heard, said = os.pipe()
        command = [HERE / "appender.py", location, "--source", source, "--count", count, *more]
        self.process = WarmProcess(command, stdin=heard, loads_engine=False)
        os.close(heard)
        assert self.process.stdout is not None
        self.to: IO[bytes] = open(said, "wb")  # noqa: SIM115 - closed by end
        self.answers: IO[bytes] = self.process.stdout
        assert self.answers.readline() == b"ready\n"

    def acknowledged(self) -> list[str]:
        words = []
        while (word := self.answers.readline().decode().strip()) not in {"done", ""}:
            words.append(word)
        return words

    def ask(self, word: str) -> str:
        self.to.write(word.encode() + b"\n")
        self.to.flush()
        return self.answers.readline().decode().strip()

    def end(self) -> tuple[int, str]:
        self.to.close()
        with self.process:
            _, err = self.process.communicate(timeout=60)
            return self.process.wait(timeout=60), err.decode()


@pytest.mark.parametrize(("place", "each"), [("file", 500), ("postgres", 200)], indirect=["place"])
def test_four_processes_append_to_one_store_and_see_each_other_also_after_a_compaction(
    place: StorePlace, each: int
) -> None:
    writers = [Writer(place.location, f"w-{i}", each, "--talk") for i in range(4)]
    with opened(place, keep_last_n=10**6) as reader:
        last = 0
        while last < 4 * each and all(w.process.poll() is None for w in writers):
            seen = len(reader.load())
            assert seen >= last, "a reader lost what it had seen"
            last = seen
            time.sleep(0.05)
        acknowledged = {w.source: w.acknowledged() for w in writers}
        entries = [EpisodicMemoryEntryV1_1.model_validate_json(text) for text in place.lines()]
        expected = [(f"epi_{i:06d}", e.provenance.source_id) for i, e in enumerate(entries, 1)]
        assert len(entries) == 4 * each
        assert [(e.episode_id, e.provenance.source_id) for e in entries] == expected
        assert Counter(source for _, source in expected) == {w.source: each for w in writers}
        for source, ids in acknowledged.items():
            assert ids == [name for name, owner in expected if owner == source]
        assert list(reader.load()) == entries
        for writer in writers:
            assert json.loads(writer.ask("read")) == [list(pair) for pair in expected]

        reader.compact(each)
        kept = expected[-each:]
        for number, writer in enumerate(writers, 4 * each + 1):
            assert json.loads(writer.ask("read")) == [list(pair) for pair in kept]
            assert writer.ask("append") == f"epi_{number:06d}"
            kept.append((f"epi_{number:06d}", writer.source))
        for writer in writers:
            assert json.loads(writer.ask("read")) == [list(pair) for pair in kept]
            assert writer.end() == (0, "")
        assert [(e.episode_id, e.provenance.source_id) for e in reader.load()] == kept
        assert reader.check().is_sound
    if isinstance(place, FilePlace):
        assert not place.path.with_name(place.path.name + ".torn").exists()


def test_compacting_while_others_append_loses_no_id_and_repeats_none(place: StorePlace) -> None:
    writers = [Writer(place.location, f"w-{i}", 200, "--talk") for i in range(2)]
    with opened(place, keep_last_n=10**6) as reader:
        highest = 0
        compactions = 0
        while highest < 400 and all(w.process.poll() is None for w in writers):
            newest = next(reader.newest_episodes(), None) if reader.exists() else None
            if newest is not None:
                highest = max(highest, int(newest.episode_id[4:]))
                reader.compact(5)
                compactions += 1
        acknowledged = [name for w in writers for name in w.acknowledged()]
        assert sorted(acknowledged) == [f"epi_{i:06d}" for i in range(1, 401)]
        assert compactions  # how many there is time for depends on the machine
        assert [w.ask("append") for w in writers] == ["epi_000401", "epi_000402"]
        assert [e.episode_id for e in reader.load()][-2:] == ["epi_000401", "epi_000402"]
        for writer in writers:
            writer.ask("end")
            assert writer.end() == (0, "")


def test_a_held_lock_makes_anothers_append_wait_until_it_is_released(place: StorePlace) -> None:
    with opened(place) as store:
        with store.writing():
            store.append(draft("held"))
            writer = Writer(place.location, "waiting", 1, "--talk")
            time.sleep(0.5)
            assert writer.process.poll() is None
            store.append(draft("held"))
            assert [e.provenance.source_id for e in store.load()] == ["held", "held"]
            assert len(place.lines()) == 2
        assert writer.acknowledged() == ["epi_000003"]
        assert [e.provenance.source_id for e in store.load()] == ["held", "held", "waiting"]
        assert store.append(draft()).episode_id == "epi_000004"
        writer.ask("end")
        assert writer.end() == (0, "")


def test_a_lock_that_stays_held_is_a_clear_store_error_after_the_timeout(place: StorePlace) -> None:
    with opened(place) as store, store.writing():
        store.append(draft())
        before = place.lines()
        started = time.monotonic()
        writer = Writer(place.location, "late", 1, "--lock-timeout-s", "0.4")
        code, err = writer.end()
        assert code == 3, err
        assert time.monotonic() - started >= 0.4
        assert err.startswith("MemoryStoreError: ")
        assert store.shown in err
        assert "lock" in err.lower()
        assert place.lines() == before
        assert store.append(draft()).episode_id == "epi_000002"


def test_a_second_store_object_of_the_same_process_waits_for_the_lock_too(place: StorePlace) -> None:
    with opened(place) as store, opened(place, lock_timeout_s=0.1) as late:
        with store.writing():
            store.append(draft())
            started = time.monotonic()
            with pytest.raises(MemoryStoreError):
                late.append(draft())
            assert time.monotonic() - started >= 0.1
            with pytest.raises(MemoryStoreError), late.writing():
                pytest.fail("two writers hold one lock")
        assert late.append(draft()).episode_id == "epi_000002"


def test_the_lock_is_an_exclusive_flock_on_the_file_beside_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path, lock_timeout_s=0.1) as store:
        store.append(draft())
        with open(tmp_path / "store.jsonl.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with pytest.raises(MemoryStoreError):
                store.append(draft())
            assert len(store.load()) == 1
        with store.writing(), open(tmp_path / "store.jsonl.lock", "a") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open(tmp_path / "store.jsonl.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_lock_is_released_when_the_writing_block_fails(place: StorePlace) -> None:
    with opened(place) as store:
        with pytest.raises(KeyError), store.writing():
            raise KeyError
        with opened(place, lock_timeout_s=0.5) as other:
            assert other.append(draft()).episode_id == "epi_000001"


def test_compacting_waits_for_the_lock_like_every_writer(place: StorePlace) -> None:
    with opened(place) as store, store.writing(), opened(place, lock_timeout_s=0.1) as late:
        store.append(draft())
        store.append(draft())
        before = place.lines()
        with pytest.raises(MemoryStoreError):
            late.compact(1)
        assert late.check().episode_n == 2
        assert len(late.load()) == 2
        assert place.lines() == before


def test_a_repair_waits_for_the_lock_like_every_writer(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store, store.writing():
        store.append(draft())
        before = path.read_bytes()
        with pytest.raises(MemoryStoreError):
            repair_store(path, lock_timeout_s=0.1)
        assert path.read_bytes() == before


def test_readers_are_neither_hindered_by_a_held_lock_nor_do_they_truncate(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(line(1) + line(2))
    with MemoryStore(path) as store, store.writing():
        with open(path, "ab") as file:
            file.write(line(3)[:200])
        before = path.read_bytes()
        reading = "import sys; from episodic_absa.memory import MemoryStore as M; print(len(M(sys.argv[1]).load()))"
        seen = run_warm(["-c", reading, path], loads_engine=False)
        assert seen.stdout == "2\n"
        assert seen.stderr == ""
        assert path.read_bytes() == before
        assert not (tmp_path / "store.jsonl.torn").exists()


def test_a_killed_holder_of_the_lock_does_not_block_the_next_writer(place: StorePlace) -> None:
    holding = (
        "import sys, time; from episodic_absa.memory import open_store\n"
        "with open_store(sys.argv[1]).writing(): print('held', flush=True); time.sleep(600)"
    )
    with WarmProcess(["-c", holding, place.location], loads_engine=False) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with opened(place, lock_timeout_s=0.1) as store:
            with pytest.raises(MemoryStoreError):
                store.append(draft())
            holder.send_signal(signal.SIGKILL)
            holder.wait(timeout=60)
        with opened(place) as store:
            assert store.append(draft()).episode_id == "epi_000001"


@pytest.mark.parametrize("numbers", [(7, 9), (1, 2, 3), (1, 2, 3, 4, 5, 6), ()])
def test_a_reader_reopens_a_store_that_was_replaced_by_another_file(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(line(1) + line(2) + line(3))
    with MemoryStore(path) as store:
        assert len(store.load()) == 3
        other = tmp_path / "other.jsonl"
        other.write_bytes(b"".join(map(line, numbers)))
        other.replace(path)
        assert [e.episode_id for e in store.load()] == [f"epi_{n:06d}" for n in numbers]
        assert store.get("epi_000009") == (store.load()[1] if 9 in numbers else None)
