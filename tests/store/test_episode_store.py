"""What every store does, in a file and in PostgreSQL."""

import threading

import pytest
from pydantic import BaseModel
from tests.store.places import Place, draft, ids, opened

from episodic_absa.errors import LeakageError, MemoryStoreError
from episodic_absa.schemas.stored.memory_v1_3 import AnsweredPairV1_3, AnswerV1_3, VerdictV1_3
from episodic_absa.store.episode_store import EpisodeStore
from episodic_absa.store.tables import MIGRATIONS


def verdict(word: str, *, uid: str = "review-1", aspect: str | None = "room", person: str = "local") -> VerdictV1_3:
    return VerdictV1_3.model_validate(
        {"source_id": uid, "aspect": aspect, "verdict": word, "language": "en", "person": person}
    )


def answer(uid: str = "review-1") -> AnswerV1_3:
    return AnswerV1_3(
        source_id=uid, language="en", pairs=(AnsweredPairV1_3(aspect="room", p=0.5, polarity="positive"),)
    )


def test_nothing_is_created_before_the_first_append(place: Place) -> None:
    with opened(place) as store:
        assert (store.exists(), len(store), store.get("epi_000001"), store.numbers()) == (False, 0, None, [])
        assert list(store.newest_episodes()) == []
        assert not store.exists()
        store.append(draft(1))
        assert store.exists()
        assert store.dialect.size() > 0


def test_an_append_returns_the_episode_that_readers_find(place: Place) -> None:
    with opened(place) as store, opened(place) as reader:
        entries = [store.append(draft(number)) for number in range(1, 4)]
        assert ids(entries) == ["epi_000001", "epi_000002", "epi_000003"]
        for found in (store, reader):
            assert list(found.newest_episodes()) == entries[::-1]
            assert found.get("epi_000002") == entries[1]
            assert found.episodes_of("review-3") == (entries[2],)
            assert [found.get(unknown) for unknown in ("epi_000009", "nonsense", "epi_" + "9" * 5000)] == [None] * 3


def test_a_refused_append_uses_up_no_id(place: Place) -> None:
    def refuse(_: BaseModel) -> None:
        raise LeakageError("it holds text", field="symptom")

    with opened(place) as store:
        store.append(draft(1))
        for unfit in (
            draft(2, correction__principle_id="\ud800"),
            draft(2, case_summary__target_aspect_type="x" * 2**20),
        ):
            with pytest.raises(MemoryStoreError, match="nothing is stored"):
                store.append(unfit)
        with pytest.raises(LeakageError), EpisodeStore(place.dialect(), guard=refuse) as guarded:
            guarded.append(draft(2))
        assert store.append(draft(2)).episode_id == "epi_000002"


def test_namespaces_cannot_read_each_other(place: Place) -> None:
    with opened(place) as ours, opened(place, namespace="theirs") as theirs:
        ours.append(draft(1, uid="same"))
        their = theirs.append(draft(2, uid="same", namespace="theirs"))
        theirs.append_verdict(
            VerdictV1_3(source_id="same", aspect="x", verdict="right", language="en", namespace="theirs")
        )
        assert their.episode_id == "epi_000002"
        assert (len(ours), ids(list(ours.newest_episodes())), ours.numbers()) == (1, ["epi_000001"], [1])
        assert ours.get("epi_000002") is None
        assert ids(list(ours.episodes_of("same"))) == ["epi_000001"]
        assert (ours.verdicts_on("same"), dict(ours.terms("en"))) == ((), {})
        with pytest.raises(MemoryStoreError, match="namespace default alone"):
            ours.append(draft(3, namespace="theirs"))
        ours.forget("same")
        assert theirs.get("epi_000002") == their


def test_a_busy_writer_is_named_after_the_stated_time(place: Place) -> None:
    with opened(place) as store, opened(place, busy_timeout_s=0.2) as waiting:
        store.append(draft(1))
        with (
            store.dialect.writing(),
            pytest.raises(MemoryStoreError, match=r"another writer|locked by another process"),
        ):
            waiting.append(draft(2))
        assert len(waiting) == 1
        assert waiting.append(draft(2)).episode_id == "epi_000002"


def test_a_reader_does_not_wait_for_a_writer(place: Place) -> None:
    with opened(place) as store, opened(place, busy_timeout_s=0) as reader:
        store.append(draft(1))
        with store.dialect.writing() as writer:
            writer.rows("DELETE FROM episodes")
            assert ids(list(reader.newest_episodes())) == ["epi_000001"]


def test_threads_share_a_store(place: Place) -> None:
    with opened(place) as store:
        threads = [
            threading.Thread(
                target=lambda first: [store.append(draft(first + n)) for n in range(5)], args=(100 * worker,)
            )
            for worker in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.numbers() == list(range(1, 21))


def test_the_last_verdict_of_a_person_counts_and_each_person_saturates(place: Place) -> None:
    with opened(place) as store:
        assert [store.append_verdict(verdict(word)) for word in ("right", "right", "wrong_target")] == [
            True,
            False,
            True,
        ]
        assert store.append_verdict(verdict("missed", person="p2"))
        assert [given.verdict for given in store.verdicts_on("review-1")] == ["wrong_target", "missed"]
        assert store.terms("en")["room"] == (0, 0, 1, 0, 1)
        for number in range(2, 30):
            store.append_verdict(verdict("right", uid=f"review-{number}"))
        assert store.terms("en")["room"].right == 20
        store.append_verdict(verdict("all_right", aspect=None))
        assert list(store.terms("en")) == ["room"]
        assert dict(store.terms("ko")) == {}


def test_an_answer_is_found_by_its_review_and_stored_with_its_episode(place: Place) -> None:
    with opened(place) as store:
        store.append(draft(1), answer=answer())
        store.append_answers([answer("review-2")])
        assert store.answers_of("review-1") == (answer(),)
        assert store.answers_of("review-2") == (answer("review-2"),)


def test_what_is_forgotten_is_gone_and_the_rest_is_still_proven(place: Place) -> None:
    with opened(place) as store, opened(place) as reader:
        for number in (1, 2, 3):
            store.append(draft(number), answer=answer(f"review-{number}"))
        store.append_verdict(verdict("right", uid="review-2"))
        assert reader.get("epi_000002") is not None
        assert store.forget("review-2") == 3
        assert store.forget("review-2") == 0
        for found in (store, reader):
            assert ids(list(found.newest_episodes())) == ["epi_000003", "epi_000001"]
            assert (found.get("epi_000002"), len(found)) == (None, 2)
            assert (found.answers_of("review-2"), found.verdicts_on("review-2"), dict(found.terms("en"))) == (
                (),
                (),
                {},
            )
        assert store.append(draft(4)).episode_id == "epi_000004"


def test_all_but_the_newest_episodes_can_be_forgotten_and_no_id_is_given_again(place: Place) -> None:
    with opened(place) as store:
        for number in range(1, 8):
            store.append(draft(number))
        store.append_verdict(verdict("right", uid="review-2"))
        assert (store.forget_all_but(2), store.forget_all_but(2)) == (5, 0)
        assert store.numbers() == [6, 7]
        assert store.terms("en")["room"].right == 1
        assert store.append(draft(8)).episode_id == "epi_000008"


def test_a_search_keeps_to_the_newest_episodes_of_its_namespace(place: Place) -> None:
    with opened(place, keep_last_n=2) as store, opened(place, namespace="other") as other:
        for number in range(1, 5):
            store.append(draft(number, input_signature__language="ko" if number == 3 else "en"))
            other.append(draft(number, namespace="other"))
        assert (store.live_numbers(), store.live_numbers("ko"), len(store)) == ([5, 7], [5], 2)


def test_a_store_of_the_version_before_is_brought_up_to_date(place: Place) -> None:
    with opened(place) as store:
        entry = store.append(draft(1))
        store.append_verdict(verdict("right"))
    make_version_1(place)
    with opened(place) as later:
        assert list(later.newest_episodes()) == [entry]
        assert later.append_verdict(verdict("right"))
        assert later.append(draft(2)).episode_id == "epi_000002"


def make_version_1(place: Place) -> None:
    """Take back what the migration to version 2 made."""
    dialect = place.dialect()
    made = [statement.split()[2] for statement in MIGRATIONS[1] if statement.startswith("CREATE TABLE")]
    made = [table.replace("{table}", "") for table in made]
    with dialect.writing() as writer:
        for table in made:
            writer.rows(f"DROP TABLE {table}")
        writer.rows("DELETE FROM heads WHERE name IN ('verdicts', 'answers')")
        if not place.location.startswith("postgresql"):
            writer.rows("PRAGMA user_version=1")
        else:
            writer.rows("UPDATE facts SET value = '1' WHERE name = 'tables.version'")
    dialect.close()


def test_a_store_of_a_later_version_is_refused_and_stays_as_it_is(place: Place) -> None:
    with opened(place) as store:
        store.append(draft(1))
        with store.dialect.writing() as writer:
            if place.location.startswith("postgresql"):
                writer.rows("UPDATE facts SET value = '99' WHERE name = 'tables.version'")
            else:
                writer.rows("PRAGMA user_version=99")
    with pytest.raises(MemoryStoreError, match="version 99"), opened(place) as later:
        later.append(draft(2))
