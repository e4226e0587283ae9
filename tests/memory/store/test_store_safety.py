"""What a reviewer broke: removed lock files, threads, directories, silly settings, and an fsync that must be real."""

import gc
import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from episodic_absa.errors import ConfigError, MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.store_maintenance import check_store, compact_store
from episodic_absa.serialization.durable_file import DurableFile

EPISODE = json.loads((Path(__file__).parents[1] / "episode.json").read_text("utf-8"))


def test_a_removed_lock_file_lets_no_second_writer_in(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "store.jsonl"
    with MemoryStore(path, lock_timeout_s=0.2) as first, MemoryStore(path, lock_timeout_s=0.2) as second:
        first.append(EPISODE)
        shutil.rmtree(path.parent)
        second.append(EPISODE)
        with first.writing(), pytest.raises(MemoryStoreError, match="another writer"):
            second.append(EPISODE)
        first.append(EPISODE)
        second.append(EPISODE)
    assert check_store(path).is_sound
    assert check_store(path).episode_n == 3


def test_threads_may_share_a_store_for_single_calls(tmp_path: Path) -> None:
    errors: list[BaseException] = []
    with MemoryStore(tmp_path / "store.jsonl") as store:

        def work(action: str) -> None:
            try:
                for _ in range(60):
                    store.append(EPISODE) if action == "append" else len(store.load())
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test must see it
                errors.append(error)

        threads = [threading.Thread(target=work, args=(action,)) for action in ("append", "append", "load", "load")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert len(store) == 120


def test_a_store_that_nobody_closed_gives_its_descriptors_back(tmp_path: Path) -> None:
    def open_and_forget() -> None:
        MemoryStore(tmp_path / "store.jsonl").append(EPISODE)

    open_and_forget()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        open_and_forget()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_compaction_removes_the_recorded_end_durably_before_it_replaces_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store:
        store.append(EPISODE)
        store.append(EPISODE)
    events: list[tuple[str, int]] = []
    real_fsync, real_replace = os.fsync, Path.replace

    def watched_fsync(descriptor: int) -> None:
        events.append(("synced", os.fstat(descriptor).st_ino))
        real_fsync(descriptor)

    def watched_replace(draft: Path, target: Path) -> Path:
        events.append(("replaced", 0))
        return real_replace(draft, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "replace", watched_replace)
    compact_store(path, keep_last_n=1, lock_timeout_s=5.0)
    lock = ("synced", (tmp_path / "store.jsonl.lock").stat().st_ino)
    assert events.index(lock) < events.index(("replaced", 0))


def test_an_append_returns_only_after_a_real_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store:
        for count in (1, 2, 3):
            store.append(EPISODE)
            assert synced.count(path.stat().st_ino) == count
    DurableFile(tmp_path / "other").close()
    assert tmp_path.stat().st_ino in synced, "a new name must be durable too"


@pytest.mark.parametrize("keep_last_n", [0, -1])
def test_keeping_nothing_is_refused(tmp_path: Path, keep_last_n: int) -> None:
    with pytest.raises(ConfigError, match="keep_last_n"):
        MemoryStore(tmp_path / "store.jsonl", keep_last_n=keep_last_n)


def test_a_directory_or_a_loop_of_links_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MemoryStoreError):
        MemoryStore(tmp_path).load()
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(MemoryStoreError):
        MemoryStore(loop).load()


def test_an_error_about_a_line_does_not_quote_what_stands_in_it(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    bad = json.loads(json.dumps(EPISODE)) | {"episode_id": "epi_000001"}
    bad["stage_snapshot"]["final"]["polarities"]["a whole secret sentence of a review"] = "great"
    path.write_text(json.dumps(bad) + "\n", encoding="utf-8")
    with pytest.raises(MemoryStoreError) as refused:
        MemoryStore(path).load()
    assert "secret" not in str(refused.value)


def test_an_id_of_thousands_of_digits_is_a_bad_line_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_text(json.dumps(EPISODE | {"episode_id": "epi_" + "1" * 5000}) + "\n", encoding="utf-8")
    assert [finding.line for finding in check_store(path).bad_lines] == [1]
    with pytest.raises(MemoryStoreError, match="line 1"):
        MemoryStore(path).load()
