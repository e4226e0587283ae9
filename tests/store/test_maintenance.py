"""Damage is found, the affected episodes are named, and a repair keeps the sound ones."""

import random
from pathlib import Path

import pytest
from tests.store.places import Place, SqlitePlace, draft, ids, opened

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.store.maintenance import check_store, repair_store


def filled(place: Place, episode_n: int = 20) -> None:
    with opened(place) as store:
        for number in range(1, episode_n + 1):
            store.append(draft(number))
            if number % 4 == 0:
                given = VerdictV1_3(source_id=f"review-{number}", aspect="room", verdict="right", language="en")
                store.append_verdict(given)
        store.forget("review-7")


def change(place: Place, statement: str) -> None:
    dialect = place.dialect()
    with dialect.writing() as writer:
        writer.rows(statement)
    dialect.close()


def test_a_store_as_it_was_written_is_sound(place: Place) -> None:
    filled(place)
    report = check_store(place.dialect())
    assert report.is_sound
    assert report.row_n == {"tombstones": 1, "episodes": 19, "verdicts": 5, "answers": 0}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (
            "UPDATE episodes SET body = (SELECT body FROM episodes WHERE number = 4) WHERE number = 5",
            "seal does not fit",
        ),
        (
            "UPDATE episodes SET seal = (SELECT seal FROM episodes WHERE number = 4) WHERE number = 5",
            "seal does not fit",
        ),
        ("UPDATE episodes SET source = 1 WHERE number = 5", "another source"),
        ("UPDATE episodes SET group_id = 77 WHERE number = 5", "another group"),
        ("UPDATE episodes SET body = substr(body, 1, 0) WHERE number = 5", "no tombstone"),
    ],
)
def test_a_changed_row_is_named_and_no_other(place: Place, statement: str, reason: str) -> None:
    filled(place)
    change(place, statement)
    report = check_store(place.dialect())
    assert report.affected_ids == ("epi_000005",)
    assert reason in report.findings[0].reason


def test_a_changed_row_is_never_read(place: Place) -> None:
    filled(place)
    change(place, "UPDATE episodes SET body = (SELECT body FROM episodes WHERE number = 4) WHERE number = 5")
    with opened(place) as store:
        assert store.get("epi_000004") is not None
        with pytest.raises(MemoryStoreError, match="memory check"):
            store.get("epi_000005")


def test_removed_rows_are_missed_at_the_end_and_in_the_middle(place: Place) -> None:
    filled(place)
    change(place, "DELETE FROM episodes WHERE number IN (5, 20)")
    report = check_store(place.dialect())
    assert report.findings == ()
    assert report.damage == (
        "rows 5 to 5 of episodes are gone",
        "row 20 of episodes, or one of the last before it, is not what was written",
    )
    with opened(place) as store:
        assert store.append(draft(21)).episode_id == "epi_000021", "the id of a lost episode is not given again"


def test_counts_of_terms_are_held_to_the_verdicts(place: Place) -> None:
    filled(place)
    change(place, "UPDATE terms SET judged_right = 9")
    assert check_store(place.dialect()).damage == ("the counts of terms are not those of the verdicts",)


def test_a_repair_keeps_every_sound_row_under_its_id_and_the_damaged_file_beside_it(sqlite_place: SqlitePlace) -> None:
    filled(sqlite_place)
    change(sqlite_place, "UPDATE episodes SET source = 1 WHERE number = 5")
    change(sqlite_place, "DELETE FROM episodes WHERE number = 20")
    change(sqlite_place, "UPDATE terms SET judged_right = 9")
    with opened(sqlite_place) as store:
        before = {episode.episode_id: episode for episode in store.newest_episodes()}
    dialect = sqlite_place.dialect()
    repaired = repair_store(dialect)
    assert repaired.damaged_path is not None
    assert repaired.damaged_path.exists()
    assert check_store(dialect).is_sound
    assert repair_store(dialect).damaged_path is None
    with opened(sqlite_place) as store:
        kept = {episode.episode_id: episode for episode in store.newest_episodes()}
        assert kept == {key: episode for key, episode in before.items() if key != "epi_000005"}
        assert store.terms("en")["room"].right == 5
        # The lost id is not given again.
        assert store.append(draft(21)).episode_id == "epi_000021"
        assert len(store) == len(kept) + 1


def test_a_file_with_broken_pages_gives_only_true_episodes_and_can_be_repaired(sqlite_place: SqlitePlace) -> None:
    filled(sqlite_place, 120)
    with opened(sqlite_place) as store:
        true = {episode.episode_id: episode for episode in store.newest_episodes()}
    path = Path(sqlite_place.location)
    whole = path.read_bytes()
    rng = random.Random(5)
    found_n = 0
    for _ in range(40):
        broken = bytearray(whole)
        # Behind the header, which says that the file is a store.
        start = rng.randrange(100, len(broken) - 64)
        broken[start : start + 64] = rng.randbytes(64)
        for beside in path.parent.glob(f"{path.name}*"):
            beside.unlink()
        path.write_bytes(broken)
        dialect = sqlite_place.dialect()
        try:
            report = check_store(dialect)
            found_n += not report.is_sound
            repair_store(dialect)
        except MemoryStoreError:
            # The first page says which tables there are: without it nothing can be read.
            assert start < 4096
            found_n += 1
            continue
        finally:
            dialect.close()
        with opened(sqlite_place) as store:
            kept = {episode.episode_id: episode for episode in store.newest_episodes()}
        assert kept.items() <= true.items()
        assert len(kept) >= len(true) - 10 - len(report.affected_ids)
    # A change of free space, or of bytes to the same bytes, is no damage.
    assert found_n > 20


def test_ids_of_episodes_that_cannot_be_read_are_named(sqlite_place: SqlitePlace) -> None:
    filled(sqlite_place, 60)
    path = Path(sqlite_place.location)
    content = bytearray(path.read_bytes())
    start = content.find(b'"epi_000030"')
    content[start + 8] = ord("9")
    path.write_bytes(content)
    assert check_store(sqlite_place.dialect()).affected_ids == ("epi_000030",)
    with opened(sqlite_place) as store:
        assert ids([store.get("epi_000031")])[0] == "epi_000031"
