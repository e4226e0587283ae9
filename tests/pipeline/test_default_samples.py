"""Whole samples under rules v3, with scripted short answers and with the embedded engine."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.create_backend import BackboneSettings, create_backend
from episodic_absa.conditions import load_condition
from episodic_absa.errors import BackendUnavailableError
from episodic_absa.final_tuples import pairs
from episodic_absa.pipeline.composition import build_pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import DebateSettings, PipelineSettings
from episodic_absa.schemas.reader_view import ReaderView

b: Any = builders
ALWAYS_ASKED = ["joint", "validator", "epm", "tan", "cj", "judge", "stage2_ate", "stage2_atsa"]
UNSEEN = ("C1", "C2_silent", "C2_eval_only")
CHANGED = {
    "en": "The robe was warm and the tea was a nice extra while the dye took.",
    "ko": "클렌징 워터로 지우면 워터프루프 마스카라까지 한 번에 지워져요. 폼클렌징은 따로 안 하고 있어요.",
}
PLAIN = {"en": "The room was clean, but the breakfast was cold.", "ko": "음식은 맛있었지만 서비스가 느렸어요."}
P_TARGET, P_POLARITY = 0.731973, 0.654321
"""Numbers that nothing else in a sample has."""


class Listening(PassedOnFacts):
    """Passes questions on and remembers their prompts."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._backend = backend
        self.asks: list[Ask[Any]] = []

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        self.asks.append(ask)
        return await self._backend.answer(ask)

    async def close(self) -> None:
        await self._backend.close()


def run(tmp_path: Path, *answers: Any, **more: Any) -> tuple[Any, Any]:
    backend = b.default_backend(*answers)
    return backend, b.run_default_sample(backend, tmp_path / "store.jsonl", **more)


def run_embedded(tmp_path: Path, text: str, condition: str = "C1") -> tuple[Any, Any]:
    backend = Listening(create_backend(BackboneSettings()))
    pipeline = build_pipeline(
        backend=backend, condition=load_condition(condition, "v3_0"), store=tmp_path / f"{condition}.jsonl"
    )
    try:
        memory = MemoryView(pipeline.memory)
        return backend, asyncio.run(pipeline.supervisor.run(Sample(uid="u1", text=text), memory))
    finally:
        asyncio.run(pipeline.close())


def prompts_of(backend: Any) -> dict[str, tuple[str, str]]:
    return {ask.role: (ask.prompt.system, ask.prompt.user) for ask in backend.asks}


def final_pairs(result: Any) -> list[tuple[str, str | None]]:
    return [(pair.aspect_term, pair.polarity) for pair in result.final_result.final_tuples]


def test_validator2_is_asked_last_and_only_where_a_proposed_change_is_in(tmp_path: Path) -> None:
    backend, result = run(tmp_path, b.DEFAULT_FLIP)
    assert backend.roles[8:] == ["stage2_validator"]
    assert len(result.calls) == 9
    assert json.loads(backend.asked("stage2_validator").prompt.user)["pairs"] == ["food: positive", "service: positive"]
    assert (result.moderator.selected_stage, result.adoption.adopt) == ("stage2", True)
    refused, result = run(tmp_path, {"epm": b.DEFAULT_FLIP["epm"]})
    assert "stage2_validator" not in refused.roles
    assert [(pair.is_in, pair.reason) for pair in result.candidates if not pair.is_of_stage1] == [(False, "one_agent")]
    assert (result.moderator.selected_stage, result.adoption.adopt) == ("stage1", False)


@pytest.mark.parametrize("settings", [PipelineSettings(), PipelineSettings(effort="stage1")])
def test_a_risk_stands_where_validator2_is_not_asked(tmp_path: Path, settings: PipelineSettings) -> None:
    backend, result = run(tmp_path, b.DEFAULT_RISKY, settings=settings)
    assert "stage2_validator" not in backend.roles
    (risk,) = result.stage1.validator.structural_risks
    assert result.stage2.validator.structural_risks == (risk,)
    assert result.stage2.validator.remaining_risk_ids == (risk.id,)
    assert result.adoption.components.validator_resolved == 0


def test_speakers_are_asked_side_by_side_and_see_only_what_they_may(tmp_path: Path) -> None:
    backend, _ = run(tmp_path, b.DEFAULT_FLIP)
    seen = {ask.role: json.loads(ask.prompt.user) for ask in backend.asks}
    assert seen["tan"] == {"text": b.TEXT}
    assert seen["epm"] == {"text": b.TEXT, "targets": ["food", "service"]}
    assert seen["cj"] == {"text": b.TEXT, "pairs": ["food: positive", "service: negative"]}
    assert seen["judge"] == {**seen["cj"], "claims": ["epm: service positive"]}
    assert seen["stage2_ate"] == seen["epm"]
    assert seen["stage2_atsa"] == seen["cj"]


def test_a_second_round_sees_the_claims_of_the_first(tmp_path: Path) -> None:
    backend, result = run(tmp_path, b.DEFAULT_FLIP, settings=PipelineSettings(debate=DebateSettings(rounds=2)))
    asked = [json.loads(ask.prompt.user) for ask in backend.asks if ask.role == "tan"]
    assert [("claims" in seen, seen.get("claims")) for seen in asked] == [
        (False, None),
        (True, ["epm: service positive"]),
    ]
    assert len(result.calls) == 12


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"epm": {"judgements": [{"target": "food", "quote": "great", "polarity": "negative"}]}},
        {"tan": {"targets": []}},
        {"cj": {"wrong": [{"target": "service", "quote": "slow", "should_be": "drop"}]}},
        {"judge": {"decisions": [{"target": "food", "quote": "great", "decision": "drop"}], "label": None}},
        {"stage2_atsa": {"verdicts": [{"target": "food", "quote": "great", "verdict": "neutral"}]}},
    ],
)
def test_one_agent_alone_changes_no_pair(tmp_path: Path, answers: Any) -> None:
    _, result = run(tmp_path, answers)
    assert final_pairs(result) == [("food", "positive"), ("service", "negative")]
    assert (result.moderator.selected_stage, result.stage2.accepted_changes) == ("stage1", ())
    confidences = {pair.aspect_term: pair.p for pair in result.candidates if pair.is_in}
    assert {pair.aspect_term: pair.confidence for pair in result.final_result.final_tuples} == confidences


@pytest.mark.parametrize(
    ("answers", "kind", "expected"),
    [
        (b.DEFAULT_FLIP, "flip", [("food", "positive"), ("service", "positive")]),
        (
            {
                "tan": {"targets": [{"quote": "great", "target": "food"}]},
                "cj": {"wrong": [{"target": "service", "quote": "slow", "should_be": "drop"}]},
            },
            "drop",
            [("food", "positive")],
        ),
        (
            {
                "stage2_ate": {
                    **b.DEFAULT_ANSWERS["stage2_ate"],
                    "add": [{"quote": "fair", "target": "price", "polarity": "positive"}],
                }
            },
            "add",
            [("food", "positive"), ("service", "negative"), ("price", "positive")],
        ),
    ],
)
def test_a_made_change_of_each_kind_selects_stage2(tmp_path: Path, answers: Any, kind: str, expected: Any) -> None:
    sure = {"price": ReaderView(0.9, "positive", 0.9)}
    reader = b.TableReader(finds=sure) if kind == "add" else None
    _, result = run(tmp_path, answers, reader=reader)
    assert [entry.what for entry in result.patch_log if entry.applied] == [kind]
    assert [change.reasoning.split()[0] for change in result.stage2.accepted_changes] == [kind]
    assert result.moderator.selected_stage == "stage2"
    assert final_pairs(result) == expected
    recorded = result.to_output()["decision"]["candidates"]
    assert {(pair["aspect_term"], pair["polarity"]) for pair in recorded if pair["is_in"]} == set(expected)


def test_a_polarity_that_only_the_reader_gives_stands_in_no_prompt(tmp_path: Path) -> None:
    named = [{"quote": "great", "target": "food"}, {"quote": "slow", "target": "service"}, {"target": "price"}]
    backend, result = run(
        tmp_path,
        {"tan": {"targets": named}},
        reader=b.TableReader(finds={"price": ReaderView(0.9, "neutral", 0.9)}),
    )
    (added,) = [pair for pair in result.candidates if pair.is_polarity_of_reader and pair.is_in]
    assert (added.aspect_term, added.polarity) == ("price", "neutral")
    assert ("price", "neutral") in final_pairs(result)
    assert all("price: " not in prompt for prompt in prompts_of(backend).values())


@pytest.mark.parametrize("polarity", ["positive", "negative"])
def test_the_readers_judgement_stands_in_outputs_and_in_no_prompt(tmp_path: Path, polarity: Any) -> None:
    alone, _ = run(tmp_path, b.DEFAULT_FLIP)
    backend, result = run(
        tmp_path, b.DEFAULT_FLIP, reader=b.TableReader(otherwise=ReaderView(P_TARGET, polarity, P_POLARITY))
    )
    (turned,) = [pair for pair in result.candidates if (pair.aspect_term, pair.polarity) == ("service", "positive")]
    (reader,) = [witness for witness in turned.witnesses if witness.who == "reader"]
    assert reader.p == round(ReaderView(P_TARGET, polarity, P_POLARITY).p_of("positive"), 3)
    assert turned.is_in is (polarity == "positive")
    for ask in backend.asks:
        for number in (P_TARGET, P_POLARITY):
            assert str(number) not in ask.prompt.system + ask.prompt.user
    # Validator2 sees the final pairs, which the reader may have kept as they were.
    with_reader, without = prompts_of(backend), prompts_of(alone)
    assert {role: with_reader[role] for role in ALWAYS_ASKED} == {role: without[role] for role in ALWAYS_ASKED}


def test_answers_without_references_are_mapped_by_their_terms(tmp_path: Path) -> None:
    _, result = run(tmp_path, b.DEFAULT_FLIP)
    assert [(item.aspect_term, item.span) for item in result.stage1.atsa.sentiments] == [
        ("food", b.span_of("food")),
        ("service", b.span_of("service")),
    ]
    edits = [edit for turn in result.debate.turns for edit in turn.proposed_edits]
    assert {edit.target.aspect_ref for edit in edits} == {"food", "service"}
    assert [patch.target.aspect_ref for patch in result.debate.summary.final_patch] == ["service"]
    assert {verdict.aspect_term for verdict in result.stage2.atsa_reviews} == {"food", "service"}


def test_unexposed_conditions_send_byte_identical_prompts(tmp_path: Path) -> None:
    store = tmp_path / "filled.jsonl"
    teacher = b.run_default_sample(b.default_backend(b.DEFAULT_RISKY), store, condition="C2_silent", uid="teacher")
    assert teacher.store.store_decision == "stored"
    sent = []
    for condition in UNSEEN:
        copy = tmp_path / f"{condition}.jsonl"
        copy.write_bytes(store.read_bytes())
        backend = b.default_backend(b.DEFAULT_RISKY, b.DEFAULT_FLIP)
        result = b.run_default_sample(backend, copy, condition=condition)
        assert result.memory.retrieved_k == (0 if condition == "C1" else 1)
        assert not any(call.memory_slot_present for call in result.calls)
        sent.append((prompts_of(backend), final_pairs(result)))
    assert sent[0] == sent[1] == sent[2]
    shown = b.default_backend(b.DEFAULT_RISKY, b.DEFAULT_FLIP)
    b.run_default_sample(shown, store, condition="C2")
    assert prompts_of(shown)["judge"] != sent[0][0]["judge"]
    assert prompts_of(shown)["joint"] == sent[0][0]["joint"]


@pytest.mark.parametrize("role", [*ALWAYS_ASKED, "stage2_validator"])
def test_a_failing_question_fails_the_sample_and_stores_nothing(tmp_path: Path, role: str) -> None:
    error = BackendUnavailableError("down", backend="scripted", kind="provider_error")
    backend = b.default_backend(
        b.DEFAULT_RISKY, b.DEFAULT_FLIP, failing=lambda ask: error if ask.role == role else None
    )
    store = tmp_path / "store.jsonl"
    with pytest.raises(BackendUnavailableError):
        b.run_default_sample(backend, store, condition="C2")
    assert not store.exists() or store.read_bytes() == b""


@pytest.mark.parametrize("language", PLAIN)
def test_the_embedded_engine_leaves_a_plain_review_as_stage1_has_it(tmp_path: Path, language: str) -> None:
    backend, result = run_embedded(tmp_path, PLAIN[language])
    assert sorted(ask.role for ask in backend.asks) == sorted(ALWAYS_ASKED)
    assert {ask.prompt.name.rpartition(".")[2] for ask in backend.asks} == {language}
    assert len(final_pairs(result)) == 2
    assert pairs(result.final_result.final_tuples) == pairs(result.final_result.stage1_tuples)
    assert result.moderator.selected_stage == "stage1"


@pytest.mark.parametrize("text", CHANGED.values())
def test_the_embedded_engine_proposes_no_change_and_its_reader_is_no_witness_of_its_own_words(
    tmp_path: Path, text: str
) -> None:
    backend, result = run_embedded(tmp_path, text)
    assert {witness.who for pair in result.candidates for witness in pair.witnesses} <= {"stage1"}
    assert "stage2_validator" not in {ask.role for ask in backend.asks}
    assert pairs(result.final_result.final_tuples) == pairs(result.final_result.stage1_tuples)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The room was clean, but my brother called at noon.", "en"),
        ("방은 깨끗했지만 회사에서 전화가 왔어요.", "ko"),
    ],
)
def test_a_guess_that_nobody_judged_is_in_no_result(tmp_path: Path, text: str, language: str) -> None:
    _, result = run_embedded(tmp_path, text)
    stage1, final = result.stage1, result.final_result
    assert any(item.origin == "second_aspect_guess" for item in stage1.ate.aspects), language
    assert not any(item.is_backfilled for item in stage1.atsa.sentiments)
    assert final.final_tuples
    assert not any(item.is_backfilled for item in (*final.stage1_tuples, *final.final_tuples))
