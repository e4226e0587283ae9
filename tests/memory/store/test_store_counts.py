"""Tallies and verdicts stand in the store's own file, as durable and as free of text as episodes."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.memory.store_places import FilePlace, StorePlace, opened
from tests.stored_lines import entries_of, rewrite

from episodic_absa.errors import LeakageError, MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.reading.newest_episodes import oldest_episode
from episodic_absa.memory.store.store_maintenance import check_store, repair_store
from episodic_absa.schemas.memory_v1_2 import TallyV1_2, VerdictV1_2
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.durable_file import DurableFile

BASE: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))


def draft(source_id: str) -> dict[str, Any]:
    episode = copy.deepcopy(BASE)
    episode["provenance"]["source_id"] = source_id
    return episode


def tally(source_id: str, *terms: str) -> TallyV1_2:
    return TallyV1_2(language="en", source_id=source_id, terms=terms)


def wrong(source_id: str, aspect: str | None = None) -> VerdictV1_2:
    return VerdictV1_2(source_id=source_id, verdict="wrong", aspect=aspect)


def right(source_id: str, aspect: str | None = None) -> VerdictV1_2:
    return VerdictV1_2(source_id=source_id, verdict="right", aspect=aspect)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Build a store file: a plain sample, two with episodes, one tallied again, a verdict that was changed."""
    place = FilePlace(tmp_path / "store.jsonl")
    fill(place)
    return place.path


def fill(place: StorePlace) -> None:
    with opened(place) as store:
        store.append_tally(tally("plain", "room"))
        store.append(draft("u1"), tally=tally("u1", "bed", "room"))
        assert store.append_verdict(wrong("u1"))
        store.append(draft("u2"), tally=tally("u2"))
        store.append_tally(tally("u1", "staff"))
        assert store.append_verdict(right("u1"))
        assert not store.append_verdict(right("u1"))
        assert store.append_verdict(wrong("u1", "bed"))


def test_episode_and_tally_of_a_sample_are_one_write(tmp_path: Path) -> None:
    writes: list[bytes] = []

    class Watched(DurableFile):
        def write_some(self, data: bytes) -> int:
            writes.append(data)
            return super().write_some(data)

    with MemoryStore(tmp_path / "store.jsonl", open_file=Watched) as store:
        entry = store.append(draft("u1"), tally=tally("u1", "room"))
        assert store.load()[0] == entry
    # The first append brings the header with it.
    assert [written.count(b"\n") for written in writes] == [3]
    assert entries_of(tmp_path / "store.jsonl")[1] == (
        b'{"kind":"tally","language":"en","schema_version":"1.2","source_id":"u1","terms":["room"]}'
    )


def test_every_reader_of_episodes_passes_over_the_other_lines(place: StorePlace) -> None:
    fill(place)
    with opened(place) as store:
        assert [episode.provenance.source_id for episode in store.load()] == ["u1", "u2"]
        assert store.get("epi_000002") == store.find_episode(2) == store.load()[1]
        assert store.append(draft("u3")).episode_id == "epi_000003"
        newest = [episode.episode_id for episode in store.newest_episodes()]
        assert newest == ["epi_000003", "epi_000002", "epi_000001"]
        assert store.verdicts_on("u1") == (right("u1"), wrong("u1", "bed"))
        assert [line.source_id for line in store.lines_of("plain") if isinstance(line, TallyV1_2)] == ["plain"]
        assert len(list(store.lines_of("u1"))) == 6
        assert list(store.lines_of("nobody")) == []
        stats = store.statistics()
    assert (stats.in_file_n, stats.live_n, stats.first_id, stats.last_id) == (3, 3, "epi_000001", "epi_000003")
    assert stats.reviews_by_language == {"ko": 0, "en": 3, "other": 0}
    assert stats.by_verdict == {"right": 1, "wrong": 1, "unsure": 0}
    assert stats.lock == "free"


def test_the_oldest_episode_of_a_file_is_its_first(mixed: Path) -> None:
    oldest = oldest_episode(mixed)
    assert oldest is not None
    assert oldest.episode_id == "epi_000001"


def test_compacting_keeps_what_counts_and_the_sequence_of_ids(place: StorePlace) -> None:
    fill(place)
    with opened(place) as store, opened(place) as reader:
        assert len(reader.load()) == 2
        compacted = store.compact(1)
        assert (compacted.kept_n, compacted.dropped_n) == (1, 1)
        assert 0 < compacted.bytes_after < compacted.bytes_before
        assert compacted.bytes_after == store.statistics().bytes_on_disk
        report = store.check()
        assert (report.episode_n, report.tally_n, report.verdict_n, report.remarks) == (1, 3, 2, ())
        assert report.is_sound
        assert [episode.episode_id for episode in reader.load()] == ["epi_000002"]
        assert store.get("epi_000001") is None
        samples = reader.load().episode_index.samples
        assert sorted(samples.tallied()) == ["plain", "u1", "u2"]
        assert [samples.is_tallied(uid) for uid in ("u1", "nobody")] == [True, False]
        assert samples.verdicts_on("u1") == {None: "right", "bed": "wrong"}
        (first,) = (line for line in store.lines_of("u1") if isinstance(line, TallyV1_2))
        assert first.terms == ("bed", "room")
        assert store.append(draft("u3")).episode_id == "epi_000003"


def test_compacting_with_upgrade_makes_episodes_of_1_2_with_an_open_outcome(place: StorePlace) -> None:
    fill(place)
    with opened(place) as store:
        assert {episode.schema_version for episode in store.load()} == {"1.1"}
        store.compact(2, upgrade=True)
        # A person has judged u1; the other outcome is open.
        assert {episode.schema_version for episode in store.load()} == {"1.2"}
        assert [episode.episode_type for episode in store.load()] == ["success", "neutral"]
        assert store.check().is_sound


def test_a_bad_tally_is_named_by_its_line_and_a_repair_moves_it_away(mixed: Path) -> None:
    lines = entries_of(mixed)
    bad = lines[0].replace(b'"language":"en"', b'"language":"fr"')
    long_term = lines[0].replace(b'"room"', b'"a term that is much too long"').replace(b"plain", b"other")
    rewrite(mixed, [*lines[:3], bad, long_term, *lines[3:]])
    with pytest.raises(MemoryStoreError, match=r"line 5: language") as caught:
        MemoryStore(mixed).load()
    assert caught.value.line == 5
    report = check_store(mixed)
    assert [finding.line for finding in report.bad_lines] == [5]
    assert [(remark.line, "terms" in remark.reason) for remark in report.remarks] == [(6, True)]
    repaired = repair_store(mixed)
    assert (repaired.kept_n, len(repaired.rejected)) == (2, 1)
    assert check_store(mixed).is_sound


@pytest.mark.parametrize("torn_n", [1, 40])
def test_an_unfinished_tally_is_set_aside_and_its_episode_stands(mixed: Path, torn_n: int) -> None:
    with MemoryStore(mixed) as store:
        store.append(draft("u3"), tally=tally("u3", "bed"))
    forget_end(mixed)
    mixed.write_bytes(mixed.read_bytes()[:-torn_n])
    with MemoryStore(mixed) as store:
        assert not store.load().episode_index.samples.is_tallied("u3")
        store.append_tally(tally("u3", "bed"))
        assert [episode.provenance.source_id for episode in store.load()] == ["u1", "u2", "u3"]
        assert store.load().episode_index.samples.is_tallied("u3")
    assert check_store(mixed).is_sound
    assert mixed.with_name("store.jsonl.torn").exists()


def test_text_is_refused_as_a_term_and_nothing_is_written(place: StorePlace) -> None:
    with opened(place) as store:
        for terms in (("the room that we had booked",), ("무척이나 친절했던 호텔 직원분들의 서비스",), ("Room",)):
            with pytest.raises(LeakageError):
                store.append_tally(tally("u1", *terms))
            with pytest.raises(LeakageError):
                store.append(draft("u1"), tally=tally("u1", *terms))
            with pytest.raises(LeakageError):
                store.append_verdict(right("u1", terms[0]))
        with pytest.raises(MemoryStoreError, match="Unicode"):
            store.append_tally(tally("\ud800"))
        assert not store.exists()


def test_a_disk_that_fails_leaves_neither_line_nor_count(mixed: Path) -> None:
    class Full(DurableFile):
        def write_some(self, data: bytes) -> int:
            if b'"u9"' in data:
                super().write_some(data[:20])
                raise OSError(28, "No space left on device")
            return super().write_some(data)

    before = mixed.read_bytes()
    with MemoryStore(mixed, open_file=Full) as store:
        with pytest.raises(MemoryStoreError, match="the tally was not stored"):
            store.append_tally(tally("u9", "room"))
        with pytest.raises(MemoryStoreError, match="the verdict was not stored"):
            store.append_verdict(right("u9"))
        with pytest.raises(MemoryStoreError, match="the episode was not stored"):
            store.append(draft("u9"), tally=tally("u9", "room"))
        assert not store.load().episode_index.samples.is_tallied("u9")
        assert store.load().episode_index.samples.verdicts_on("u9") == {}
    assert mixed.read_bytes() == before


def test_the_list_of_a_store_reads_the_outcome_that_persons_give(place: StorePlace) -> None:
    with opened(place) as store:
        for source in ("u1", "u2", "u3"):
            store.append({**draft(source), "schema_version": "1.2"})
        for verdict in (wrong("u1"), right("u2"), wrong("u2"), wrong("u1", "no target of it"), right("u2")):
            store.append_verdict(verdict)
        judged = [store.load()[place].episode_type for place in (2, 1, 0)]
        assert [episode.episode_type for episode in store.newest_episodes()] == judged == ["neutral", "success", "harm"]
        assert store.statistics().by_outcome == {"success": 1, "harm": 1, "neutral": 1}


def test_uids_and_terms_may_hold_any_character(place: StorePlace) -> None:
    uids = ("리뷰\u0000 1", "x" * 5000, "%s", "'; DROP TABLE episodes; --", "\\")
    with opened(place) as store:
        for uid in uids:
            store.append(draft(uid), tally=tally(uid, "o'방%s"))
            assert store.append_verdict(right(uid))
            assert not store.append_verdict(right(uid))
        assert [episode.provenance.source_id for episode in store.load()] == list(uids)
        assert list(store.load().episode_index.samples.tallied()) == list(uids)
        assert store.statistics().reviews_by_language["en"] == len(uids)
        assert store.check().is_sound
