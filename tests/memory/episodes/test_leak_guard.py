"""Leak guard and selective storage: what may enter the store, and what is worth entering it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory.builders import moderated, risks, signature

from episodic_absa.errors import EpisodicAbsaError, LeakageError
from episodic_absa.memory import EpisodeBuilder, MemoryStore, load_catalogue
from episodic_absa.memory.episodes.leak_guard import FORBIDDEN_KEYS, refuse_forbidden_keys, refuse_text_runs
from episodic_absa.memory.episodes.selective_storage import storage_tags
from episodic_absa.schemas.absa import (
    AspectItem,
    ReviewOutcome,
    SentimentItem,
    Span,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    ValidatorOutput,
)
from episodic_absa.schemas.memory_v1_1 import ProvenanceV1_1, StageSnapshotV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.store.uids import stored_uid
from episodic_absa.vocabulary import Language, Polarity, RiskId, Severity, Structure

CATALOGUE = load_catalogue()
KEYS = ["raw_text", "raw_text_hash", "text", "gold", "gold_label", "gold_polarity", "cot", "chain_of_thought"]


def judged(draft: EpisodeDraftV1_3) -> StageSnapshotV1_1:
    assert draft.stage_snapshot is not None
    return draft.stage_snapshot


def draft(
    *,
    language: Language = "en",
    structures: tuple[Structure, ...] = ("none",),
    polarities: tuple[Polarity, ...] = ("positive",),
    before: tuple[tuple[RiskId, Severity], ...] = (),
    after: tuple[tuple[RiskId, Severity], ...] | None = None,
    patched: tuple[Polarity, ...] | None = None,
    adopted: bool = False,
    source_id: str = "u1",
    term: str = "food",
    **flags: Any,
) -> EpisodeDraftV1_3:
    text = f"{term} {'q' * 40}"
    span = Span(start=0, end=len(term))
    aspects = (AspectItem(aspect_term=term, span=span),)

    def sentiments(values: tuple[Polarity, ...]) -> tuple[SentimentItem, ...]:
        return tuple(SentimentItem(aspect_term=term, span=span, polarity=p) for p in values)

    return EpisodeBuilder(CATALOGUE).build(
        text,
        signature(language, structures),
        Stage1Result(
            ate=Stage1Ate(aspects=aspects),
            atsa=Stage1Atsa(sentiments=sentiments(polarities)),
            validator=ValidatorOutput(structural_risks=risks(*before)),
        ),
        ReviewOutcome(
            aspects=aspects,
            sentiments=sentiments(polarities if patched is None else patched),
            structural_risks=risks(*(before if after is None else after)),
            **flags,
        ),
        moderated(adopted=adopted),
        ProvenanceV1_1(source_id=source_id, created_from_split="train", used_in_eval=False, sample_index=0, seed=1),
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "store.jsonl") as opened:
        yield opened


# Forbidden keys


def test_the_forbidden_keys_are_the_listed_ones() -> None:
    assert set(FORBIDDEN_KEYS) == set(KEYS)


@given(
    st.recursive(
        st.none() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["polarities", "a", "b", *KEYS]), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_exactly_the_values_with_a_forbidden_key_outside_polarities_are_refused(value: Any) -> None:
    def leaks(inner: Any, *, excused: bool = False) -> bool:
        if isinstance(inner, list):
            return any(leaks(item) for item in inner)
        if isinstance(inner, dict):
            return any(
                (key in KEYS and not excused) or leaks(item, excused=key == "polarities") for key, item in inner.items()
            )
        return False

    if leaks(value):
        with pytest.raises(LeakageError):
            refuse_forbidden_keys(value)
    else:
        refuse_forbidden_keys(value)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", [(), ("case_summary",), ("stage_snapshot", "final"), ("provenance",)])
def test_the_store_refuses_a_forbidden_key_and_writes_nothing(
    store: MemoryStore, key: str, place: tuple[str, ...]
) -> None:
    document = draft().model_dump(mode="json")
    part = document
    for step in place:
        part = part[step]
    part[key] = None
    with pytest.raises(LeakageError):
        store.append(document)
    assert not store.exists()
    assert store.append(draft()).episode_id == "epi_000001"


@pytest.mark.parametrize("key", ["text", "gold", "cot"])
def test_an_aspect_that_is_called_like_a_forbidden_key_can_be_stored(store: MemoryStore, key: str) -> None:
    assert judged(store.append(draft(term=key))).final.polarities == {key: "positive"}


@pytest.mark.parametrize("key", KEYS)
def test_a_stored_line_with_a_forbidden_key_is_refused_on_load(tmp_path: Path, key: str) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path) as writer:
        writer.append(draft())
    line = path.read_text(encoding="utf-8")
    path.write_text(line.replace("{", f'{{"{key}":null,', 1), encoding="utf-8")
    with MemoryStore(path) as reader, pytest.raises(EpisodicAbsaError):
        reader.load()


# Text runs


PRINCIPLE = draft(before=(("NEGATION_SCOPE", "mid"),), structures=("negation",))
WORDS = PRINCIPLE.correction.corrective_principle.rstrip(".").split()
PHRASE = " ".join(WORDS)


@given(start=st.integers(0, len(WORDS) - 1), n=st.integers(1, len(WORDS)), language=st.sampled_from(["en", "other"]))
def test_five_words_in_common_with_an_english_text_are_a_leak_and_four_are_none(
    start: int, n: int, language: Language
) -> None:
    shared = WORDS[start : start + n]
    text = f"qzx {' '.join(shared)} xzq"
    leaks = len(shared) >= 5 or (language == "other" and len(" ".join(shared)) >= 12)
    if leaks:
        with pytest.raises(LeakageError):
            refuse_text_runs(PRINCIPLE, text, language)
    elif language == "en":
        refuse_text_runs(PRINCIPLE, text, language)


@given(start=st.integers(0, len(PHRASE) - 1), n=st.integers(1, 40))
def test_twelve_characters_in_common_with_a_korean_text_are_a_leak_and_eleven_are_none(start: int, n: int) -> None:
    shared = PHRASE[start : start + n]
    if shared != shared.strip():
        return
    for language in ("ko", "other"):
        if len(shared) >= 12:
            with pytest.raises(LeakageError):
                refuse_text_runs(PRINCIPLE, f"정말{shared}했다", language)
        else:
            refuse_text_runs(PRINCIPLE, f"정말{shared}했다", language)


@pytest.mark.parametrize(
    "shared",
    [
        "risks=NEGATION_SCOPE",
        "max_severity=mid",
        "proposals=none",
        "adopt=low_signal",
        "structure=negation",
        "risk=NEGATION_SCOPE",
    ],
)
def test_every_string_of_an_episode_is_guarded(shared: str) -> None:
    with pytest.raises(LeakageError):
        refuse_text_runs(PRINCIPLE, f"정말 {shared} 했다", "ko")


@pytest.mark.parametrize(
    ("uid", "text", "leaks"),
    [
        ("order-2026-000117", "{} 주문한 음식은 맛있었지만 배송은 느렸어요.", False),
        ("a/b/c/d/e/f/g.txt", "{} 주문한 음식은 맛있었지만 배송은 느렸어요.", False),
        ("리뷰-2026-000117", "{} 주문한 음식은 맛있었지만 배송은 느렸어요.", False),
        # The store hashes it.
        ("배송이 정말 빨라서 마음에 들어요", "{}", False),
        ("배송이빨라서마음에들어요", "{}!", True),
    ],
)
def test_a_review_may_name_its_own_uid_and_no_part_of_it_may_be_one(uid: str, text: str, leaks: bool) -> None:
    assert (stored_uid(uid) == uid) is (" " not in uid)
    named = draft(language="ko", source_id=uid)
    if leaks:
        with pytest.raises(LeakageError):
            refuse_text_runs(named, text.format(uid), "ko")
    else:
        refuse_text_runs(named, text.format(uid), "ko")


@pytest.mark.parametrize("language", ["ko", "en", "other"])
def test_aspect_terms_are_no_leak(language: Language) -> None:
    term = "아주 매운 국물 떡볶이" if language == "ko" else "very hot soup noodle"
    refuse_text_runs(draft(language=language, term=term), f"{term} 좋아요 really", language)


# Selective storage


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (draft(), set()),
        (draft(before=(("OTHER", "mid"),)), set()),
        (draft(before=(("OTHER", "high"),)), {"failure_asset"}),
        (draft(before=(("OTHER", "mid"), ("EVIDENCE_GAP", "low"))), {"failure_asset"}),
        (draft(before=(("IRONY", "low"),)), {"failure_asset"}),
        (draft(polarities=("positive", "negative")), {"failure_asset"}),
        (draft(patched=("negative",), adopted=True, override_applied=True), set()),
        (draft(patched=("negative",), adopted=True, override_applied=True, override_success=True), {"utility"}),
        (draft(patched=("negative",), adopted=True, override_applied=True, override_harm=True), {"utility"}),
        (
            draft(polarities=("positive", "negative"), patched=("negative",), adopted=True, override_applied=True),
            {"failure_asset", "utility"},
        ),
        (draft(polarities=("positive", "negative"), patched=("negative",), adopted=True), {"failure_asset"}),
        (
            draft(before=(("IRONY", "low"),), after=(), adopted=True, override_applied=True, override_success=True),
            {"failure_asset", "utility"},
        ),
    ],
)
def test_the_tags_of_an_episode_seen_before_and_of_one_never_seen(
    store: MemoryStore, entry: EpisodeDraftV1_3, expected: set[str]
) -> None:
    assert set(storage_tags(entry, store.is_novel)) == expected | {"novelty"}
    store.append(entry)
    assert set(storage_tags(entry, store.is_novel)) == expected


@pytest.mark.parametrize(
    ("entry", "novel"),
    [
        (draft(source_id="u2"), False),
        (draft(term="price"), False),
        (draft(polarities=("negative",)), False),
        (draft(language="ko"), True),
        (draft(structures=("negation",)), True),
        (draft(before=(("OTHER", "low"),)), True),
    ],
)
def test_novelty_looks_at_language_structures_risks_and_symptom(
    store: MemoryStore, entry: EpisodeDraftV1_3, novel: bool
) -> None:
    store.append(draft())
    assert ("novelty" in storage_tags(entry, store.is_novel)) is novel


def test_a_higher_severity_of_the_same_risk_is_another_symptom(store: MemoryStore) -> None:
    store.append(draft(before=(("OTHER", "low"),)))
    assert "novelty" in storage_tags(draft(before=(("OTHER", "mid"),)), store.is_novel)


def test_novelty_forgets_after_two_hundred_entries(store: MemoryStore) -> None:
    common, rare = draft(), draft(structures=("contrast",))
    store.append(rare)
    for _ in range(199):
        store.append(common)
    assert "novelty" not in storage_tags(rare, store.is_novel)
    store.append(common)
    assert "novelty" in storage_tags(rare, store.is_novel)
