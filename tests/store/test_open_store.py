"""A location says which database holds a store."""

import logging
from pathlib import Path

import pytest
from tests.store.old_stores import write_store_of_0_2
from tests.store.places import PostgresPlace, admit, draft

from episodic_absa.errors import ConfigError, InputError, MemoryStoreError
from episodic_absa.memory import MemoryStore, open_store
from episodic_absa.schemas.memory_v1_2 import TallyV1_2, VerdictV1_2
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.store.episode_store import EpisodeStore
from episodic_absa.store.open_store import open_episode_store
from episodic_absa.store.uids import stored_uid


def opened(location: str | Path, **options: bool) -> EpisodeStore:
    return open_episode_store(location, guard=admit, **options)  # type: ignore[arg-type]


def test_a_path_an_exported_file_and_an_address_are_stores(tmp_path: Path, postgres_place: PostgresPlace) -> None:
    for location in (tmp_path / "a.sqlite", str(tmp_path / "b.jsonl"), postgres_place.location):
        with opened(location) as store:
            assert not store.exists()
            assert store.append(draft(1)).episode_id == "epi_000001"
        with opened(location) as store:
            assert len(store) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"a.sqlite", "b.jsonl", "b.sqlite"}


def test_what_is_no_location_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        opened(3)  # type: ignore[arg-type]
    with pytest.raises(MemoryStoreError, match="password"):
        opened("postgresql://ann:secret@host/db")
    with pytest.raises(ConfigError, match="keep_last_n"):
        open_episode_store(tmp_path / "a.sqlite", guard=admit, keep_last_n=0)


def test_a_donors_file_is_read_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "donor.jsonl"
    write_store_of_0_2(path, 12)
    with opened(path, reads_only=True) as store:
        assert len(store) == 12
        with pytest.raises(MemoryStoreError, match="reading alone"):
            store.append(draft(1))
    assert list(tmp_path.iterdir()) == [path]
    with opened(tmp_path / "missing.jsonl", reads_only=True) as store:
        assert (store.exists(), len(store)) == (False, 0)


def test_an_id_that_looks_like_text_is_stored_as_its_hash_and_found_by_the_users_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "방이깨끗하고직원이친절해서다시오고싶어요"
    path = tmp_path / "store.sqlite"
    with caplog.at_level(logging.WARNING), opened(path) as store:
        for uid in (text, "the soup was cold", "order-17"):
            store.append(draft(1, uid=uid))
            store.append_verdict(VerdictV1_3(source_id=uid, aspect="room", verdict="right", language="en"))
            assert len(store.episodes_of(uid)) == len(store.verdicts_on(uid)) == 1
        assert store.episodes_of("order-17")[0].provenance.source_id == "order-17"
        assert store.episodes_of(text)[0].provenance.source_id == stored_uid(text) == stored_uid(stored_uid(text))
        assert store.forget(text) == 2
    assert caplog.text.count("stored as hashes") == 1
    assert b"soup" not in path.read_bytes()
    assert text.encode() not in path.read_bytes()


def test_a_store_of_0_2_in_postgresql_is_taken_over_once_and_its_tables_stay(
    postgres_place: PostgresPlace, tmp_path: Path
) -> None:
    path = tmp_path / "old.jsonl"
    write_store_of_0_2(path, 9)
    with open_store(postgres_place.location) as old, MemoryStore(path) as source:
        for number, episode in enumerate(source.load(), start=1):
            old.append(episode.model_dump(mode="json"))
            old.append_tally(TallyV1_2(language="ko", source_id=f"tallied-{number}", terms=("room",)))
        old.append_verdict(VerdictV1_2(source_id="tallied-3", aspect="room", verdict="wrong"))
        with opened(postgres_place.location) as store, opened(path) as copy:
            assert list(store.newest_episodes()) == list(copy.newest_episodes())
            assert store.terms("ko")["room"].wrong == 1
            assert store.append(draft(10)).episode_id == "epi_000010"
        with opened(postgres_place.location) as store:
            assert len(store) == 10
        assert len(old) == 9
