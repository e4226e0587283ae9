"""A program reads a store file from its end, filters episodes, and finds one by its number."""

import json
from itertools import islice
from pathlib import Path

import pytest

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.reading.newest_episodes import (
    EpisodeFilter,
    find_episode,
    newest_episodes,
    oldest_episode,
)

EPISODE = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as writer:
        for _ in range(3):
            writer.append(EPISODE)
    return path


def test_episodes_come_newest_first_and_the_oldest_is_the_first_line(store: Path) -> None:
    ids = [episode.episode_id for episode in newest_episodes(store)]
    assert ids == ["epi_000003", "epi_000002", "epi_000001"]
    oldest = oldest_episode(store)
    assert oldest is not None
    assert oldest.episode_id == "epi_000001"


def test_lines_that_are_not_consumed_are_not_parsed(store: Path) -> None:
    store.write_bytes(b"not an episode\n" + store.read_bytes())
    assert len(list(islice(newest_episodes(store), 3))) == 3
    with pytest.raises(MemoryStoreError) as caught:
        list(newest_episodes(store))
    assert caught.value.line == 1
    assert "Run `episodic-absa memory repair --store " in str(caught.value)


def test_an_unfinished_end_is_not_an_episode(store: Path) -> None:
    with open(store, "ab") as file:
        file.write(b'{"episode_id":"epi_000004"')
    assert next(newest_episodes(store)).episode_id == "epi_000003"
    assert find_episode(store, 4) is None


def test_an_episode_is_found_by_its_number(store: Path) -> None:
    episode = find_episode(store, 2)
    assert episode is not None
    assert episode.episode_id == "epi_000002"
    assert find_episode(store, 9) is None


def test_a_filter_admits_what_matches_all_its_values(store: Path) -> None:
    episode = next(newest_episodes(store))
    language, outcome = episode.input_signature.language, episode.episode_type
    assert EpisodeFilter().admits(episode)
    assert EpisodeFilter(language, outcome).admits(episode)
    assert not EpisodeFilter("other", outcome).admits(episode)
