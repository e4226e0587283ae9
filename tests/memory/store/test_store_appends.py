"""The store: what one append writes, which id it gets, what is pruned, and what is never created."""

import copy
import json
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.store_places import StorePlace, opened
from tests.stored_lines import entries_of

from episodic_absa.errors import EpisodicAbsaError, LeakageError
from episodic_absa.memory import MemoryStore
from episodic_absa.schemas import json_schema_files
from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1, EpisodicMemoryEntryV1_1
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import DurableFile

BASE: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))
ENTRY_SCHEMA: dict[str, Any] = json.loads(
    (json_schema_files.SCHEMA_FOLDER / "episodic_memory_entry_v1_1.json").read_text(encoding="utf-8")
)


def draft(source_id: str = "s-1", **blocks: Any) -> dict[str, Any]:
    episode = copy.deepcopy(BASE)
    episode["provenance"]["source_id"] = source_id
    for name, value in blocks.items():
        episode[name] = {**episode[name], **value} if isinstance(value, dict) else value
    return episode


def names_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def lines_of(path: Path) -> list[dict[str, Any]]:
    assert path.read_bytes().endswith(b"\n")
    return [json.loads(line) for line in entries_of(path)]


def test_a_store_that_is_only_read_is_empty_and_does_not_come_to_be(place: StorePlace) -> None:
    with opened(place) as store:
        assert not store.exists()
        assert list(store.load()) == []
        assert len(store) == 0
        assert store.get("epi_000001") is None
        assert list(store.lines_of("s-1")) == []
        assert not store.exists()
    assert place.lines() == []


def test_a_store_that_is_only_made_and_read_creates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "store.jsonl"
    with MemoryStore(path) as store:
        assert store.path == path
        assert list(store.load()) == []
        assert len(store) == 0
        assert store.get("epi_000001") is None
    assert names_in(tmp_path) == []


def test_reading_an_existing_store_creates_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_text(canonical_json({**draft(), "episode_id": "epi_000007"}) + "\n", encoding="utf-8")
    before = path.read_bytes()
    with MemoryStore(path) as store:
        assert [e.episode_id for e in store.load()] == ["epi_000007"]
    assert names_in(tmp_path) == ["store.jsonl"]
    assert path.read_bytes() == before


def test_an_empty_file_is_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.touch()
    with MemoryStore(path) as store:
        assert len(store.load()) == 0
        assert store.append(draft()).episode_id == "epi_000001"


def test_ids_are_the_store_sequence_and_an_incoming_id_is_ignored(place: StorePlace) -> None:
    with opened(place) as store:
        assert store.append({**draft("a"), "episode_id": "epi_000900"}).episode_id == "epi_000001"
        assert store.append(EpisodeDraftV1_1.model_validate(draft("b"))).episode_id == "epi_000002"
    with opened(place) as store:
        assert store.append(draft("c")).episode_id == "epi_000003"
        assert [(e.episode_id, e.provenance.source_id) for e in store.load()] == [
            ("epi_000001", "a"),
            ("epi_000002", "b"),
            ("epi_000003", "c"),
        ]


def test_the_next_id_is_the_highest_plus_one_and_may_outgrow_six_digits(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    entries = [{**draft(), "episode_id": name} for name in ("epi_000004", "epi_999999")]
    path.write_text("".join(canonical_json(e) + "\n" for e in entries), encoding="utf-8")
    with MemoryStore(path) as store:
        assert store.append(draft()).episode_id == "epi_1000000"
        assert store.append(draft()).episode_id == "epi_1000001"
    with MemoryStore(path) as store:
        assert [int(e.episode_id[4:]) for e in store.load()] == [4, 999999, 1000000, 1000001]


@pytest.mark.parametrize(
    "refused",
    [
        {**draft(), "text": "Great battery."},
        {**draft(), "surprise": 1},
        {k: v for k, v in draft().items() if k != "evaluation"},
        draft(provenance={"has_gold": True}),
        draft(case_summary={"symptom": "The battery lasts long."}),
        draft(correction={"corrective_principle": "Say that it is fine."}),
        draft(correction={"principle_id": "P-ZZZ-99"}),
        draft(provenance={"source_id": "lone \ud800 surrogate"}),
    ],
    ids=[
        "forbidden key",
        "unknown key",
        "missing block",
        "gold",
        "free symptom",
        "free principle",
        "no such principle",
        "surrogate",
    ],
)
def test_a_refused_write_leaves_the_bytes_alone_and_consumes_no_id(place: StorePlace, refused: dict[str, Any]) -> None:
    with opened(place) as store:
        store.append(draft())
        before = place.lines()
        with pytest.raises((EpisodicAbsaError, ValueError)):
            store.append(refused)
        assert place.lines() == before
        assert len(store.load()) == 1
        assert store.append(draft()).episode_id == "epi_000002"


def test_a_refused_first_write_leaves_a_store_without_entries(place: StorePlace) -> None:
    with opened(place) as store:
        with pytest.raises(LeakageError):
            store.append({**draft(), "gold": None})
        assert place.lines() == []
        assert store.append(draft()).episode_id == "epi_000001"


def test_a_line_holds_exactly_the_fields_of_the_specification(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store:
        store.append(draft())
    (line,) = lines_of(path)
    snapshot = {"aspects_norm", "polarities", "confidence"}
    assert set(line) == {
        "schema_version",
        "episode_id",
        "episode_type",
        "error_category",
        "risk_type",
        "action_taken",
        "input_signature",
        "case_summary",
        "stage_snapshot",
        "correction",
        "evaluation",
        "outcome_delta",
        "provenance",
    }
    assert set(line["input_signature"]) == {
        "schema_version",
        "language",
        "detected_structure",
        "contrast_marker",
        "has_negation",
        "num_aspects",
        "length_bucket",
    }
    assert set(line["case_summary"]) == {"target_aspect_type", "symptom", "rationale_summary"}
    assert set(line["stage_snapshot"]) == {"stage1", "final"}
    assert set(line["stage_snapshot"]["stage1"]) == set(line["stage_snapshot"]["final"]) == snapshot
    assert set(line["correction"]) == {"corrective_principle", "applicable_conditions", "principle_id", "anti_pattern"}
    assert set(line["evaluation"]) == {
        "risk_before",
        "risk_after",
        "override_applied",
        "override_success",
        "override_harm",
    }
    assert set(line["evaluation"]["risk_before"]) == set(line["evaluation"]["risk_after"]) == {"severity_sum", "tags"}
    assert set(line["outcome_delta"]) == {"conflict_resolved", "delta_risk"}
    assert set(line["provenance"]) == {
        "source_id",
        "created_from_split",
        "used_in_eval",
        "sample_index",
        "seed",
        "version",
        "has_gold",
    }
    assert line["provenance"]["has_gold"] is False
    assert line["schema_version"] == line["provenance"]["version"] == "1.1"


confidences = st.floats(0, 1, allow_nan=False)
uids = st.text(min_size=1, max_size=20)
terms = st.sampled_from(["battery", "배터리", "", "text", "gold", "ö", "long_term", "화면 밝기"])
polarities = st.sampled_from(["positive", "negative", "neutral"])


@st.composite
def drafts(draw: st.DrawFn) -> dict[str, Any]:
    def snapshot() -> dict[str, Any]:
        aspects = draw(st.lists(terms, unique=True, max_size=3))
        return {
            "aspects_norm": aspects,
            "polarities": {term: draw(polarities) for term in aspects},
            "confidence": draw(confidences),
        }

    return draft(
        draw(uids),
        stage_snapshot={"stage1": snapshot(), "final": snapshot()},
        case_summary={"target_aspect_type": draw(terms.filter(bool))},
        provenance={
            "source_id": draw(uids),
            "seed": draw(st.integers(-5, 2**40)),
            "sample_index": draw(st.integers(0, 10**6)),
        },
        outcome_delta={
            "conflict_resolved": draw(st.sampled_from([None, True, False])),
            "delta_risk": draw(st.integers(-9, 9)),
        },
    )


@settings(deadline=None, max_examples=150)
@given(made=st.lists(drafts(), min_size=1, max_size=3))
def test_every_line_is_canonical_json_of_the_entry_and_obeys_the_shipped_schema(
    tmp_path_factory: pytest.TempPathFactory, made: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("store") / "store.jsonl"
    validator = jsonschema.Draft202012Validator(ENTRY_SCHEMA)
    with MemoryStore(path) as store:
        returned = [store.append(draft) for draft in made]
        in_memory = list(store.load())
    with MemoryStore(path) as again:
        read_back = list(again.load())
    lines = entries_of(path)
    assert len(lines) == len(made) == path.read_bytes().count(b"\n") - 1
    for line, entry, given_draft in zip(lines, returned, made, strict=True):
        value = json.loads(line.decode("utf-8"))
        validator.validate(value)
        assert json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() == line
        assert canonical_json(entry).encode() == line
        expected = copy.deepcopy(given_draft)
        for stage in ("stage1", "final"):
            block = expected["stage_snapshot"][stage]
            block["confidence"] = round(block["confidence"], 6)
        assert value == {**expected, "episode_id": entry.episode_id}
    assert in_memory == read_back
    assert [canonical_json(e) for e in returned] == [canonical_json(e) for e in read_back]
    assert [e.episode_id for e in read_back] == [f"epi_{i:06d}" for i in range(1, len(made) + 1)]


def test_what_an_append_returns_equals_what_a_new_reader_reads(place: StorePlace) -> None:
    @settings(deadline=None, max_examples=place.examples(100))
    @given(confidence=confidences)
    def holds(confidence: float) -> None:
        place.clear()
        made = draft()
        made["stage_snapshot"]["final"]["confidence"] = confidence
        with opened(place) as store, opened(place) as reader:
            assert [store.append(made)] == list(store.load()) == list(reader.load())

    holds()


def test_hangul_is_written_as_itself_and_not_escaped(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store:
        store.append(draft("리뷰-1"))
    assert "리뷰-1".encode() in path.read_bytes()
    assert b"\\u" not in path.read_bytes()


def test_pruning_is_logical_the_index_forgets_the_oldest_and_the_store_keeps_all(place: StorePlace) -> None:
    with opened(place, keep_last_n=3) as store:
        entries = [store.append(draft(f"s-{i}")) for i in range(1, 8)]
        assert list(store.load()) == entries[-3:]
        assert len(store) == 3
        assert store.load()[0] == entries[4]
        assert store.load()[-1] == entries[6]
        assert store.get("epi_000001") == entries[0]
        assert store.get("epi_000007") == entries[6]
        assert store.get("epi_000008") is None
        assert store.get("nonsense") is None
        assert len(place.lines()) == 7
    with opened(place, keep_last_n=3) as store:
        assert list(store.load()) == entries[-3:]
        assert store.append(draft()).episode_id == "epi_000008"
    with opened(place) as store:
        assert len(store.load()) == 8


def test_five_thousand_entries_are_kept_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    line = canonical_json({**draft(), "episode_id": "epi_000001"})
    path.write_text("".join(line.replace("epi_000001", f"epi_{i:06d}") + "\n" for i in range(1, 5004)), "utf-8")
    with MemoryStore(path) as store:
        loaded = store.load()
        assert len(loaded) == 5000
        assert loaded[0].episode_id == "epi_000004"


class WatchedFile(DurableFile):
    """Notes in which order things happened."""

    seen: list[str]

    def write_some(self, data: Any) -> int:
        self.seen.append("write")
        return super().write_some(data)

    def sync(self) -> None:
        super().sync()
        self.seen.append("sync")


def test_an_append_returns_only_after_everything_it_wrote_was_synced(tmp_path: Path) -> None:
    seen: list[str] = []

    class Watched(WatchedFile):
        pass

    Watched.seen = seen
    with MemoryStore(tmp_path / "store.jsonl", open_file=Watched) as store:
        for _ in range(3):
            seen.clear()
            store.append(draft())
            assert "write" in seen
            assert seen[-1] == "sync"


def test_a_file_that_takes_one_byte_at_a_time_still_gets_whole_lines(tmp_path: Path) -> None:
    class Dripping(DurableFile):
        def write_some(self, data: Any) -> int:
            return super().write_some(data[:1])

    path = tmp_path / "store.jsonl"
    with MemoryStore(path, open_file=Dripping) as store:
        entries = [store.append(draft()), store.append(draft())]
    with MemoryStore(path) as store:
        assert list(store.load()) == entries


def test_two_open_stores_of_one_process_take_turns_and_see_each_other(place: StorePlace) -> None:
    with opened(place) as one, opened(place) as two:
        for i in range(1, 11):
            assert (one, two)[i % 2].append(draft()).episode_id == f"epi_{i:06d}"
            assert len(one.load()) == len(two.load()) == i


@pytest.mark.parametrize("is_shared", [False, True])
def test_threads_with_a_store_each_or_with_one_store_lose_and_repeat_nothing(
    place: StorePlace, is_shared: bool
) -> None:
    shared = opened(place)

    def append_many() -> None:
        with nullcontext(shared) if is_shared else opened(place) as store:
            for _ in range(50):
                store.append(draft())
                assert len(store.load())

    threads = [threading.Thread(target=append_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.close()
    ids = [json.loads(line)["episode_id"] for line in place.lines()]
    assert ids == [f"epi_{number:06d}" for number in range(1, 201)]


def test_an_entry_can_be_read_back_as_the_model_it_was(place: StorePlace) -> None:
    with opened(place) as store:
        entry = store.append(draft())
        assert isinstance(entry, EpisodicMemoryEntryV1_1)
        assert store.get(entry.episode_id) == store.load()[0] == entry
