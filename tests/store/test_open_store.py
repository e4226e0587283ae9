"""A location says which database holds a store."""

import logging
from pathlib import Path

import pytest
from tests.store.old_stores import write_store_of_0_2, write_tables_of_0_2
from tests.store.places import PostgresPlace, draft
from tests.store.places import opened_at as opened

from episodic_absa.errors import ConfigError, InputError, MemoryStoreError
from episodic_absa.postgres.connection import connect
from episodic_absa.postgres.location import SCHEMA, PostgresLocation
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.store.uids import stored_uid


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
        opened(tmp_path / "a.sqlite", keep_last_n=0)


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
    write_store_of_0_2(path, 10)
    location = PostgresLocation.parse(postgres_place.location)
    write_tables_of_0_2(location, path)
    with opened(postgres_place.location) as store, opened(path) as copy:
        assert list(store.newest_episodes()) == list(copy.newest_episodes())
        assert store.terms("en")["room"].right == 1
        assert store.append(draft(11)).episode_id == "epi_000011"
    with opened(postgres_place.location) as store:
        assert len(store) == 11
    with connect(location) as connection:
        assert connection.execute(f"SELECT count(*) FROM {SCHEMA}.episodes".encode()).fetchall() == [(10,)]  # noqa: S608
