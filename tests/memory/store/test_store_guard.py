"""The leak guard of the store: no forbidden key at any depth, no unknown key, no run of the text in the store."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from episodic_absa.conditions import load_condition
from episodic_absa.errors import EpisodicAbsaError, LeakageError, MemoryStoreError
from episodic_absa.memory import EpisodicMemorySettings, EpisodicOrchestrator, MemoryStore
from episodic_absa.memory.episodes.leak_guard import FORBIDDEN_KEYS, refuse_forbidden_keys, refuse_text_runs
from episodic_absa.schemas.absa import ModeratorSummary, ReviewOutcome, Stage1Result
from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1
from episodic_absa.serialization.canonical_json import canonical_json

BASE: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))
FORBIDDEN = ("raw_text", "raw_text_hash", "text", "gold", "gold_label", "gold_polarity", "cot", "chain_of_thought")


def draft(**blocks: Any) -> dict[str, Any]:
    episode = copy.deepcopy(BASE)
    for name, value in blocks.items():
        episode[name] = {**episode[name], **value} if isinstance(value, dict) else value
    return episode


def line(number: int, value: dict[str, Any]) -> bytes:
    return json.dumps({**value, "episode_id": f"epi_{number:06d}"}, ensure_ascii=False).encode() + b"\n"


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a tree of dicts and lists, the root and the leaves included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield from places(child, (*path, key))


PLACES = list(places(BASE))


def at(tree: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def planted(path: tuple[str | int, ...], key: str, value: Any) -> dict[str, Any]:
    """Return an episode that holds `key` at `path`: inside the dict there, or in a dict put there."""
    tree = draft()
    there = at(tree, path)
    if isinstance(there, dict) and path[-1:] != ("polarities",):
        there[key] = value
    elif isinstance(there, list):
        there.append({key: value})
    elif isinstance(there, dict):
        there["battery"] = {key: value}
    else:
        at(tree, path[:-1])[path[-1]] = {key: value}
    return tree


values = st.one_of(
    st.none(),
    st.booleans(),
    st.just(""),
    st.text(max_size=5),
    st.integers(),
    st.just([]),
    st.just({"a": [1]}),
)


def test_the_forbidden_keys_are_those_of_the_specification() -> None:
    assert set(FORBIDDEN_KEYS) == set(FORBIDDEN)


@settings(deadline=None, max_examples=300)
@given(
    path=st.sampled_from(PLACES),
    key=st.sampled_from(FORBIDDEN),
    value=values,
    nested=st.lists(st.sampled_from(["x", "note", "polarity", "0"]), max_size=3),
)
@example(path=("stage_snapshot", "final", "polarities"), key="text", value=None, nested=[])
@example(path=(), key="gold", value=None, nested=["polarities"])
def test_a_forbidden_key_anywhere_is_refused_on_append_and_on_load(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[str | int, ...], key: str, value: Any, nested: list[str]
) -> None:
    for name in nested:
        value = {key: value, name: [value]}
    if nested == ["polarities"]:
        value = {"polarities": {"battery": {key: None}}}
    bad = planted(path, key, value)
    store_path = tmp_path_factory.mktemp("guard") / "store.jsonl"
    with pytest.raises(LeakageError):
        refuse_forbidden_keys(bad)
    with MemoryStore(store_path) as store:
        with pytest.raises(LeakageError):
            store.append(bad)
        assert not store_path.exists() or store_path.read_bytes() == b""
    store_path.write_bytes(line(1, draft()) + line(2, bad) + line(3, draft()))
    with MemoryStore(store_path) as store:
        with pytest.raises(MemoryStoreError) as caught:
            list(store.load())
        assert caught.value.path == store_path
        assert caught.value.line == 2
        assert str(store_path) in str(caught.value)
        assert "2" in str(caught.value).replace(str(store_path), "")
        assert "episodic-absa memory repair" in str(caught.value)
        before = store_path.read_bytes()
        with pytest.raises(MemoryStoreError):
            store.append(draft())
        assert store_path.read_bytes() == before


@settings(deadline=None, max_examples=150)
@given(
    path=st.sampled_from([p for p in PLACES if isinstance(at(BASE, p), dict) and p[-1:] != ("polarities",)]),
    key=st.text(min_size=1, max_size=8) | st.sampled_from(["Text", "label", "accuracy", "created_at", "polarities"]),
    value=values,
)
def test_an_unknown_key_anywhere_is_refused_on_append_and_on_load(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[str | int, ...], key: str, value: Any
) -> None:
    if key in at(BASE, path) or key == "episode_id":
        return
    bad = planted(path, key, value)
    store_path = tmp_path_factory.mktemp("guard") / "store.jsonl"
    store_path.write_bytes(line(1, draft()))
    before = store_path.read_bytes()
    with MemoryStore(store_path) as store:
        with pytest.raises((EpisodicAbsaError, ValueError)):
            store.append(bad)
        assert store_path.read_bytes() == before
        assert store.append(draft()).episode_id == "epi_000002"
    store_path.write_bytes(line(1, draft()) + line(2, bad))
    with MemoryStore(store_path) as store:
        with pytest.raises(MemoryStoreError) as caught:
            list(store.load())
        assert caught.value.line == 2


@settings(deadline=None, max_examples=30)
@given(keys=st.lists(st.sampled_from(FORBIDDEN), min_size=1, unique=True), polarity=st.sampled_from(["positive"]))
def test_forbidden_words_are_welcome_as_aspects_in_polarities(
    tmp_path_factory: pytest.TempPathFactory, keys: list[str], polarity: str
) -> None:
    snapshot = {"aspects_norm": keys, "polarities": dict.fromkeys(keys, polarity), "confidence": 0.5}
    good = draft(stage_snapshot={"stage1": snapshot, "final": snapshot}, case_summary={"target_aspect_type": keys[0]})
    refuse_forbidden_keys(good)
    path = tmp_path_factory.mktemp("guard") / "store.jsonl"
    with MemoryStore(path) as store:
        entry = store.append(good)
    with MemoryStore(path) as store:
        assert list(store.load()) == [entry]
        assert set(entry.stage_snapshot.final.polarities) == set(keys)


@pytest.mark.parametrize(
    "value",
    [
        {"gold": None},
        [{"a": [[{"text": 1}]]}],
        ({"cot": 1},),
        {"polarities": {"battery": {"text": 1}}},
        {"polarities": [{"text": 1}]},
        {"a": {"polarities": {"text": "positive"}}, "raw_text": ""},
    ],
)
def test_the_guard_looks_into_lists_tuples_and_below_polarities(value: Any) -> None:
    with pytest.raises(LeakageError):
        refuse_forbidden_keys(value)


@pytest.mark.parametrize(
    "value", [{}, [], None, "text", ["gold"], {"a": "raw_text"}, {"has_gold": False}, {"polarities": {"text": "x"}}]
)
def test_the_guard_minds_keys_and_not_values(value: Any) -> None:
    refuse_forbidden_keys(value)


PLAIN = EpisodeDraftV1_1.model_validate(draft())


@pytest.mark.parametrize(
    ("text", "language", "leaks"),
    [
        ("배터리structure=no좋아요", "ko", True),
        ("배터리structure=n좋아요", "ko", False),
        ("배터리structure=no좋아요", "other", True),
        ("배터리structure=n좋아요", "other", False),
        ("배터리structure=no좋아요", "en", False),
        ("you must tie a knot to an exact quotation, then stop", "en", True),
        ("you must go to an exact quotation, friend", "en", False),
        ("ok every judgement to a target", "en", True),
        ("ok every judgement to a", "en", False),
        ("ok every judgement to a target", "other", True),
        ("", "ko", False),
        ("", "en", False),
        ("battery", "en", False),
    ],
)
def test_a_run_of_the_text_outside_aspect_terms_is_a_leak(text: str, language: Any, leaks: bool) -> None:
    if leaks:
        with pytest.raises(LeakageError):
            refuse_text_runs(PLAIN, text, language)
    else:
        refuse_text_runs(PLAIN, text, language)


def test_aspect_terms_may_be_words_of_the_text() -> None:
    term = "one two three fours"
    snapshot = {"aspects_norm": [term], "polarities": {term: "positive"}, "confidence": 0.5}
    korean = "배터리 지속 시간 표시등"
    ko_snapshot = {"aspects_norm": [korean], "polarities": {korean: "positive"}, "confidence": 0.5}
    for word, shot, language in ((term, snapshot, "en"), (korean, ko_snapshot, "ko")):
        blocks = {"stage_snapshot": {"stage1": shot, "final": shot}, "case_summary": {"target_aspect_type": word}}
        refuse_text_runs(EpisodeDraftV1_1.model_validate(draft(**blocks)), f"so {word} it is", language)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "language", "uid"),
    [
        ("배터리structure=no좋아요", "ko", "u-1"),
        ("Well, cue the first reading held dear", "en", "u-1"),
        ("배터리가 정말 오래가서 좋아요", "ko", "배터리가 정말 오래가서 좋아요"),
        ("I liked the bright screen best", "en", "I liked the bright screen best"),
    ],
    ids=["ko", "en", "ko uid", "en uid"],
)
def test_a_leaking_episode_is_refused_and_nothing_is_written(
    tmp_path: Path, text: str, language: str, uid: str
) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store:
        memory = EpisodicOrchestrator(
            load_condition("C2"), store, settings=EpisodicMemorySettings(selective_storage=False)
        )

        def write(some_text: str, text_id: str) -> str | None:
            return memory.append_episode_if_needed(
                some_text,
                text_id,
                Stage1Result(),
                ReviewOutcome(aspects=(), sentiments=()),
                ModeratorSummary(label="neutral", selected_stage="stage1", adopt_reason="low_signal"),
                language_code=language,
            ).episode_id

        assert write("Fine.", "u-0") == "epi_000001"
        before = path.read_bytes()
        with pytest.raises(LeakageError):
            write(text, uid)
        assert path.read_bytes() == before
        assert write("Fine.", "u-2") == "epi_000002"


@pytest.mark.parametrize(
    "blocks",
    [
        {"case_summary": {"symptom": "risks=NEW_RISK; structure=none; max_severity=none"}},
        {"case_summary": {"symptom": "risks=none; structure=none; max_severity=none; the battery is fine"}},
        {"case_summary": {"rationale_summary": "proposals=none; action=shout; adopt=low_signal"}},
        {"case_summary": {"target_aspect_type": "a term of more than four words"}},
        {"correction": {"corrective_principle": "배터리는 좋다고 하라."}},
        {"correction": {"anti_pattern": "배터리는 나쁘다고 하라."}},
        {"correction": {"applicable_conditions": ["language=en", "structure=none", "the battery is fine"]}},
        {"input_signature": {"contrast_marker": "the battery is fine"}},
    ],
    ids=str,
)
def test_free_text_in_any_field_of_closed_vocabulary_is_refused(tmp_path: Path, blocks: dict[str, Any]) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as store:
        with pytest.raises(LeakageError):
            store.append(draft(**blocks))
        assert not path.exists() or path.read_bytes() == b""


@pytest.mark.parametrize("term", ["x" * 21, "a b c d e", "Battery", " battery"])
def test_a_snapshot_term_that_is_too_long_or_not_normalised_is_refused(tmp_path: Path, term: str) -> None:
    snapshot = {"aspects_norm": [term], "polarities": {term: "positive"}, "confidence": 0.5}
    with MemoryStore(tmp_path / "store.jsonl") as store, pytest.raises(LeakageError):
        store.append(draft(stage_snapshot={"final": snapshot}))


def test_a_line_loaded_from_a_file_is_compared_by_schema_only(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    older = draft(correction={"corrective_principle": "A principle of an older catalogue.", "principle_id": "P-OLD-01"})
    path.write_bytes(line(1, older))
    with MemoryStore(path) as store:
        assert store.load()[0].correction.principle_id == "P-OLD-01"
        assert canonical_json(store.load()[0]).encode() != b""
