"""Kills, crashes, full disks, other programs: nothing acknowledged is lost, and nothing foreign is changed."""

import itertools
import os
import random
import sqlite3
import stat
from collections import deque
from pathlib import Path

import pytest
from tests.store.killed import crash_server, kill_writers
from tests.store.places import BUSY_TIMEOUT_S, Place, PostgresPlace, SqlitePlace, draft, ids, opened

from episodic_absa.errors import InputError, MemoryStoreError
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect
from episodic_absa.store.maintenance import check_store


def test_nothing_acknowledged_is_lost_when_writers_are_killed(place: Place) -> None:
    outcome = kill_writers(place, 12, at_once=3, seed=1)
    assert (outcome.lost, outcome.is_sound) == ([], True)
    assert outcome.acknowledged >= outcome.ends


def test_nothing_acknowledged_is_lost_when_the_server_crashes(postgres_place: PostgresPlace) -> None:
    outcome = crash_server(postgres_place, postgres_place.server, 2, at_once=2, seed=1)
    assert (outcome.lost, outcome.is_sound) == ([], True)


def test_every_commit_is_synced_to_the_disk(sqlite_place: SqlitePlace) -> None:
    with opened(sqlite_place) as store:
        store.append(draft(1))
        assert store.dialect.rows("PRAGMA synchronous") == [(2,)]
        assert store.dialect.rows("PRAGMA journal_mode") == [("wal",)]


def test_a_power_cut_leaves_what_was_synced_whatever_became_of_the_rest(sqlite_place: SqlitePlace) -> None:
    path = Path(sqlite_place.location)
    log = path.with_name(f"{path.name}-wal")
    rng = random.Random(3)
    with opened(sqlite_place) as store:
        states = []
        for number in range(1, 12):
            store.append(draft(number))
            states.append((number, path.read_bytes(), log.read_bytes()))
    for acknowledged, content, synced in states:
        later = states[-1][2][len(synced) :]
        for rest in (
            later[: rng.randrange(len(later) + 1)],
            rng.randbytes(3000),
            b"\0" * 5000,
            later[:2000] + b"\0" * 9000,
        ):
            place = SqlitePlace(path.parent)
            Path(place.location).write_bytes(content)
            Path(f"{place.location}-wal").write_bytes(synced + rest)
            with opened(place) as after:
                assert after.numbers()[:acknowledged] == list(range(1, acknowledged + 1))
                after.append(draft(50))
            assert check_store(place.dialect()).is_sound


def test_a_forked_child_has_a_connection_of_its_own(place: Place) -> None:
    store = opened(place)
    store.append(draft(1))
    child = os.fork()
    if child == 0:
        try:
            store.append(draft(2))
            store.close()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.append(draft(3)).episode_id == "epi_000003"
    assert store.numbers() == [1, 2, 3]
    store.close()


def test_a_forked_child_leaves_a_write_of_its_parent_alone(sqlite_place: SqlitePlace) -> None:
    with opened(sqlite_place) as store:
        store.append(draft(1))
        with store.dialect.writing() as writer:
            writer.rows("DELETE FROM facts")
            child = os.fork()
            if child:
                assert os.waitpid(child, 0)[1] == 0
                assert store.dialect.rows("SELECT count(*) FROM episodes") == [(1,)]
        if not child:
            os._exit(0 if store.numbers() == [1] else 1)
        store.append(draft(2))
    assert check_store(sqlite_place.dialect()).is_sound


def test_a_file_with_two_names_is_refused(sqlite_place: SqlitePlace) -> None:
    path = Path(sqlite_place.location)
    with opened(sqlite_place) as store:
        store.append(draft(1))
    path.with_name("second").hardlink_to(path)
    with opened(sqlite_place) as store, pytest.raises(MemoryStoreError, match="second name"):
        store.append(draft(2))


def test_a_full_disk_leaves_the_store_readable_and_the_error_clear(sqlite_place: SqlitePlace) -> None:
    with opened(sqlite_place) as store:
        store.append(draft(1))
        page_n = store.dialect.rows("PRAGMA page_count")[0][0]
        store.dialect.rows(f"PRAGMA max_page_count={page_n}")
        with pytest.raises(MemoryStoreError, match="the disk is full; it is unchanged; free space"):
            deque(map(store.append, map(draft, itertools.count(2))), maxlen=0)
        appended = len(store.numbers())
        assert store.numbers() == list(range(1, appended + 1))
        store.dialect.rows("PRAGMA max_page_count=100000")
        assert store.append(draft(99)).episode_id == f"epi_{appended + 1:06d}"


@pytest.mark.parametrize(
    "content",
    [b'{"aspect":', b'{"action_taken":', b"{", b"buy milk\n", b"SQLite format 3\0" + b"\7" * 200, b"\0\1" * 60],
)
def test_a_file_that_is_no_store_is_never_changed(sqlite_place: SqlitePlace, content: bytes) -> None:
    path = Path(sqlite_place.location)
    path.write_bytes(content)
    with opened(sqlite_place) as store:
        for use in (store.exists, lambda: store.append(draft(1)), lambda: list(store.newest_episodes())):
            with pytest.raises(MemoryStoreError, match="is no store of episodes; it stays as it is"):
                use()
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_database_of_another_program_is_never_changed(sqlite_place: SqlitePlace) -> None:
    path = Path(sqlite_place.location)
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE episodes (number integer)")
    other.close()
    content = path.read_bytes()
    with opened(sqlite_place) as store, pytest.raises(MemoryStoreError, match="is no store of episodes"):
        store.append(draft(1))
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_an_empty_file_becomes_a_store(sqlite_place: SqlitePlace) -> None:
    Path(sqlite_place.location).touch()
    with opened(sqlite_place) as store:
        assert not store.exists()
        assert store.append(draft(1)).episode_id == "epi_000001"


def test_a_folder_a_pipe_and_an_address_with_a_password_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(MemoryStoreError, match="no regular file"):
            SqliteDialect(path, busy_timeout_s=0).exists()
    for unfit in ("", "sqlite://ann:secret@host/x"):
        with pytest.raises(InputError):
            SqliteDialect(unfit, busy_timeout_s=0)


def test_only_the_owner_may_read_a_store(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path / "new" / "folder")
    with opened(place) as store:
        store.append(draft(1))
        modes = {stat.S_IMODE(file.stat().st_mode) for file in Path(place.location).parent.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_store_that_was_moved_away_is_not_written_to(sqlite_place: SqlitePlace) -> None:
    path = Path(sqlite_place.location)
    with opened(sqlite_place) as store:
        store.append(draft(1))
        path.rename(path.with_name("moved.sqlite"))
        with pytest.raises(MemoryStoreError, match="moved, removed or replaced"):
            store.append(draft(2))


def test_a_closed_store_that_nobody_may_write_to_is_read(sqlite_place: SqlitePlace) -> None:
    path = Path(sqlite_place.location)
    with opened(sqlite_place) as store:
        store.append(draft(1))
    path.chmod(0o400)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write to every file")
    with opened(sqlite_place) as store:
        assert len(store) == 1
        with pytest.raises(MemoryStoreError, match="permissions"):
            store.append(draft(2))


def test_on_a_network_file_system_there_is_no_shared_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mounts = tmp_path / "mounts"
    shared = tmp_path / "with space"
    escaped = str(shared).replace(" ", "\\040")
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/x {escaped} nfs4 rw 0 0\n")
    path = shared / "store.sqlite"
    for mounted in (Path("/dev/null"), mounts):
        # Made on a local file system, moved to the network, and opened again.
        dialect = SqliteDialect(path, busy_timeout_s=BUSY_TIMEOUT_S, mounts=mounted)
        with dialect.writing():
            pass
        expected = "delete" if mounted == mounts else "wal"
        assert dialect.rows("PRAGMA journal_mode") == [(expected,)]
        assert dialect.rows("PRAGMA synchronous") == [(2,)]
        dialect.close()
    assert "nfs4" in caplog.text
    assert "PostgreSQL" in caplog.text


def test_what_is_forgotten_is_gone_from_the_files(sqlite_place: SqlitePlace) -> None:
    path = Path(sqlite_place.location)
    with opened(sqlite_place) as store:
        for number in range(1, 40):
            store.append(draft(number, uid=f"customer-{number}-secret"))
        assert store.forget("customer-17-secret") == 1
        left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"customer-17-secret" not in left
    assert b"customer-18-secret" in left
    assert check_store(sqlite_place.dialect()).is_sound


def test_two_stores_of_one_file_in_one_process_do_not_break_each_others_locks(sqlite_place: SqlitePlace) -> None:
    with opened(sqlite_place) as store:
        store.append(draft(1))
        for number in range(2, 6):
            with opened(sqlite_place) as other:
                other.append(draft(number))
        assert ids(list(store.newest_episodes()))[0] == "epi_000005"
        store.append(draft(6))
    assert check_store(sqlite_place.dialect()).is_sound
