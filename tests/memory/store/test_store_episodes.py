"""Which episodes reach the store, and that they hold outcomes and never the text."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.stored_lines import entries_of

from episodic_absa.conditions import load_condition
from episodic_absa.memory import (
    EpisodeBuilder,
    EpisodicMemorySettings,
    EpisodicOrchestrator,
    MemoryStore,
    SignatureBuilder,
    load_catalogue,
)
from episodic_absa.schemas.absa import (
    AspectItem,
    ModeratorSummary,
    Proposal,
    ReviewOutcome,
    SentimentItem,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    StructuralRisk,
    ValidatorOutput,
)
from episodic_absa.schemas.memory_v1_1 import ProvenanceV1_1
from episodic_absa.schemas.run import StoreDecision
from episodic_absa.seed import SEED_FORM
from episodic_absa.serialization.canonical_json import canonical_json

KEPT = ModeratorSummary(label="positive", selected_stage="stage1", adopt_reason="low_signal")
ADOPTED = ModeratorSummary(label="negative", selected_stage="stage2", adopt_reason="debate_action", ev_score=0.4)


def sentiment(term: str, polarity: Any, confidence: float = 0.6) -> SentimentItem:
    return SentimentItem(aspect_term=term, polarity=polarity, confidence=confidence, evidence="a secret quotation")


def stage1(*sentiments: SentimentItem, risks: tuple[StructuralRisk, ...] = ()) -> Stage1Result:
    aspects = tuple(AspectItem(aspect_term=s.aspect_term, rationale="a secret rationale") for s in sentiments)
    proposal = Proposal(aspect_term="battery", proposal_type="FLIP_POLARITY", rationale="a secret proposal")
    return Stage1Result(
        ate=Stage1Ate(aspects=aspects),
        atsa=Stage1Atsa(sentiments=sentiments),
        validator=ValidatorOutput(structural_risks=risks, correction_proposals=(proposal,) if risks else ()),
    )


def outcome(*sentiments: SentimentItem, risks: tuple[StructuralRisk, ...] = ()) -> ReviewOutcome:
    aspects = tuple(AspectItem(aspect_term=s.aspect_term) for s in sentiments)
    return ReviewOutcome(aspects=aspects, sentiments=sentiments, structural_risks=risks)


def orchestrator(condition: str, path: Path, *, selective: bool = True) -> EpisodicOrchestrator:
    chosen = load_condition(condition, "v1_3")
    settings = EpisodicMemorySettings(selective_storage=selective)
    return EpisodicOrchestrator(chosen, MemoryStore(path), settings=settings, form=SEED_FORM)


def write(memory: EpisodicOrchestrator, text: str = "The battery is fine.", uid: str = "u-1") -> StoreDecision:
    first = sentiment("battery", "positive")
    return memory.append_episode_if_needed(text, uid, stage1(first), outcome(first), KEPT, language_code="en")


@pytest.mark.parametrize("condition", ["C1", "C2_eval_only", "C2_frozen"])
def test_a_condition_that_does_not_write_leaves_no_file_and_says_why(tmp_path: Path, condition: str) -> None:
    decision = write(orchestrator(condition, tmp_path / "store.jsonl"))
    assert (decision.store_decision, decision.store_skip_reason) == ("skipped", "store_write_disabled")
    assert decision.episode_id is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("condition", ["C2", "C2_silent"])
def test_a_writing_condition_stores_one_episode_per_sample_that_passes_the_gate(tmp_path: Path, condition: str) -> None:
    path = tmp_path / "store.jsonl"
    memory = orchestrator(condition, path)
    first = write(memory)
    assert (first.store_decision, first.store_skip_reason, first.episode_id) == ("stored", "", "epi_000001")
    assert first.store_reason_tags == ("novelty",)
    before = path.read_bytes()
    again = write(memory, uid="u-2")
    assert (again.store_decision, again.store_skip_reason, again.episode_id) == ("skipped", "no_gate_passed", None)
    assert path.read_bytes() == before
    assert len(entries_of(path)) == 1


def test_without_selective_storage_everything_is_stored_and_tagged_so(tmp_path: Path) -> None:
    memory = orchestrator("C2", tmp_path / "store.jsonl", selective=False)
    decisions = [write(memory, uid=f"u-{i}") for i in (1, 2, 3)]
    assert [d.episode_id for d in decisions] == ["epi_000001", "epi_000002", "epi_000003"]
    assert {d.store_reason_tags for d in decisions} == {("gate_disabled",)}


@pytest.mark.parametrize(("summary", "polarity", "confidence"), [(KEPT, "positive", 0.6), (ADOPTED, "negative", 0.9)])
def test_the_final_snapshot_is_the_patched_result_exactly_when_it_was_adopted(
    tmp_path: Path, summary: ModeratorSummary, polarity: str, confidence: float
) -> None:
    memory = orchestrator("C2", tmp_path / "store.jsonl")
    memory.append_episode_if_needed(
        "The battery is fine.",
        "u-1",
        stage1(sentiment("battery", "positive", 0.6)),
        outcome(sentiment("battery", "negative", 0.9)),
        summary,
        language_code="en",
    )
    (entry,) = memory.store.load()
    assert entry.stage_snapshot.stage1.polarities == {"battery": "positive"}
    assert entry.stage_snapshot.final.polarities == {"battery": polarity}
    assert entry.stage_snapshot.final.confidence == confidence
    assert entry.provenance.source_id == "u-1"


@pytest.mark.parametrize(
    ("language", "one", "two", "term"),
    [
        ("en", "The battery is not good at all.", "I would never praise this battery.", "battery"),
        ("ko", "배터리 전혀 안 좋네요.", "이 배터리 저는 안 씁니다.", "배터리"),
    ],
)
def test_equal_cases_with_different_texts_give_byte_identical_episodes_apart_from_id_and_provenance(
    tmp_path: Path, language: Any, one: str, two: str, term: str
) -> None:
    risk = StructuralRisk(id="r1", type="NEGATION_SCOPE", severity="high", description="a secret description")
    builder = EpisodeBuilder(load_catalogue())
    drafts = []
    for index, text in enumerate((one, two)):
        signature = SignatureBuilder().build(text, language, 1)
        assert signature.detected_structure == ("negation",)
        drafts.append(
            builder.build(
                text,
                signature,
                stage1(sentiment(term, "positive"), risks=(risk,)),
                outcome(sentiment(term, "negative")),
                ADOPTED,
                ProvenanceV1_1(
                    source_id=f"u-{index}", created_from_split="test", used_in_eval=True, sample_index=index, seed=index
                ),
            )
        )
    bare = [{**json.loads(canonical_json(d)), "provenance": None} for d in drafts]
    assert canonical_json(bare[0]) == canonical_json(bare[1])
    with MemoryStore(tmp_path / "store.jsonl") as store:
        for made in drafts:
            store.append(made)
    stored = (tmp_path / "store.jsonl").read_text(encoding="utf-8")
    assert "secret" not in stored
    assert one not in stored
    assert two not in stored


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        memory = orchestrator("C2", tmp_path / name, selective=False)
        for index in range(3):
            write(memory, uid=f"u-{index}")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
