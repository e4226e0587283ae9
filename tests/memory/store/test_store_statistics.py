"""A program counts what a store holds without the command line."""

import json
from pathlib import Path

from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.store_statistics import compute_store_statistics, file_extent

EPISODE = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))


def test_a_store_is_counted_with_its_lock_and_its_unfinished_end(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as writer, writer.writing():
        for _ in range(2):
            writer.append(EPISODE)
        assert compute_store_statistics(path).lock == "held"
    with open(path, "ab") as file:
        file.write(b"torn")
    statistics = compute_store_statistics(path)
    assert (statistics.live_n, statistics.in_file_n, statistics.torn_bytes) == (2, 2, 4)
    assert (statistics.first_id, statistics.last_id, statistics.lock) == ("epi_000001", "epi_000002", "free")
    assert sum(statistics.by_language.values()) == sum(statistics.by_principle.values()) == 2


def test_an_empty_store_has_neither_ids_nor_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    statistics = compute_store_statistics(path)
    assert (statistics.live_n, statistics.first_id, statistics.last_id, statistics.lock) == (0, None, None, "none")
    assert file_extent(path) == (0, 0, 0)
