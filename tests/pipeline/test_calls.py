"""Which questions a sample asks, in which order, and what each of them sees."""

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.conditions import load_condition
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore, Retriever
from episodic_absa.memory.episodes.episode_builder import EpisodeBuilder
from episodic_absa.memory.signature_builder import SignatureBuilder
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import DebateSettings, PipelineSettings, Stage1Settings
from episodic_absa.seed import SEED_FORM

b: Any = builders

CONDITIONS = ["C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen"]


def seen(ask: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ask.prompt.user)
    return found


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_sample_asks_ten_questions_in_order_in_every_condition(tmp_path: Path, condition: str) -> None:
    backend = b.ScriptedBackend()
    result = b.run_sample(backend, tmp_path / "store.jsonl", condition=condition)
    assert backend.roles[:7] == ["ate", "atsa", "validator", "epm", "tan", "cj", "judge"]
    assert sorted(backend.roles[7:9]) == ["stage2_ate", "stage2_atsa"]
    assert backend.roles[9] == "stage2_validator"
    assert len(backend.roles) == 10
    assert sorted(call.agent for call in result.calls) == sorted(b.EVERY_ROLE)
    assert [call.call_index for call in result.calls] == list(range(10))


def test_independent_stage1_agents_see_only_the_text(tmp_path: Path) -> None:
    backend = b.ScriptedBackend()
    settings = PipelineSettings(stage1=Stage1Settings(independent=True))
    result = b.run_sample(backend, tmp_path / "s", settings=settings)
    first = seen(backend.asked("ate"))
    for role in ("atsa", "validator"):
        ask = backend.asked(role)
        assert ask.inputs.aspects is None
        assert getattr(ask.inputs, "sentiments", None) is None
        found = {key: value for key, value in seen(ask).items() if value is not None}
        assert found == first
    assert b.pairs_of(result.stage1.atsa.sentiments) == [("food", "positive"), ("service", "negative")]


@pytest.mark.parametrize(
    ("settings", "roles"),
    [
        (PipelineSettings(enable_debate=False), ["ate", "atsa", "validator", *b.EVERY_ROLE[7:]]),
        (PipelineSettings(enable_stage2=False), list(b.EVERY_ROLE[:7])),
        (
            PipelineSettings(enable_validator=False),
            ["ate", "atsa", "epm", "tan", "cj", "judge", "stage2_ate", "stage2_atsa"],
        ),
        (PipelineSettings(enable_debate=False, enable_stage2=False), ["ate", "atsa", "validator"]),
        (
            PipelineSettings(enable_debate=False, enable_stage2=False, enable_validator=False),
            ["ate", "atsa"],
        ),
        (PipelineSettings(enable_debate_override=False), list(b.EVERY_ROLE)),
        (
            PipelineSettings(debate=DebateSettings(order=("cj", "epm", "tan"))),
            ["ate", "atsa", "validator", "cj", "epm", "tan", *b.EVERY_ROLE[6:]],
        ),
        (
            PipelineSettings(debate=DebateSettings(rounds=2)),
            ["ate", "atsa", "validator", "epm", "tan", "cj", "epm", "tan", "cj", *b.EVERY_ROLE[6:]],
        ),
        (
            PipelineSettings(debate=DebateSettings(rounds=3)),
            ["ate", "atsa", "validator", *(["epm", "tan", "cj"] * 3), *b.EVERY_ROLE[6:]],
        ),
    ],
)
def test_switches_decide_which_questions_are_asked(
    tmp_path: Path, settings: PipelineSettings, roles: list[str]
) -> None:
    backend = b.ScriptedBackend(b.OVERRIDING_ANSWERS)
    result = b.run_sample(backend, tmp_path / "s", settings=settings)
    assert backend.roles == roles
    assert [call.agent for call in result.calls] == roles
    assert (result.debate is not None) is settings.enable_debate
    if not settings.enable_stage2:
        assert result.stage2 is None or not (result.stage2.ate_reviews or result.stage2.atsa_reviews)


def test_a_second_round_sees_the_first(tmp_path: Path) -> None:
    backend = b.ScriptedBackend()
    result = b.run_sample(backend, tmp_path / "s", settings=PipelineSettings(debate=DebateSettings(rounds=2)))
    turns = [len(ask.inputs.turns) for ask in backend.asks if ask.role in {"epm", "tan", "cj", "judge"}]
    assert turns == [0, 1, 2, 3, 4, 5, 6]
    assert [ask.inputs.round_index for ask in backend.asks if ask.role == "epm"] == [1, 2]
    assert [one.round_index for one in result.debate.rounds] == [1, 2]


@pytest.mark.parametrize("enable_debate", [True, False])
def test_without_stage2_the_final_result_is_stage1(tmp_path: Path, enable_debate: bool) -> None:
    settings = PipelineSettings(enable_stage2=False, enable_debate=enable_debate)
    result = b.run_sample(b.ScriptedBackend(b.OVERRIDING_ANSWERS), tmp_path / "s", settings=settings)
    assert result.final_result.final_tuples == result.final_result.stage1_tuples
    assert not result.adoption.adopt
    assert result.moderator.selected_stage == "stage1"
    assert not result.override.applied


def test_without_debate_override_a_strong_debate_changes_nothing(tmp_path: Path) -> None:
    settings = PipelineSettings(enable_debate_override=False)
    result = b.run_sample(b.ScriptedBackend(b.OVERRIDING_ANSWERS), tmp_path / "s", settings=settings)
    assert result.final_result.final_tuples == result.final_result.stage1_tuples
    assert not [one for one in result.override_decisions if one.decision == "APPLY"]
    on = b.run_sample(b.ScriptedBackend(b.OVERRIDING_ANSWERS), tmp_path / "s")
    assert on.final_result.final_tuples != on.final_result.stage1_tuples


def test_without_a_debate_there_is_no_retrieval_and_an_empty_bundle(tmp_path: Path) -> None:
    store = b.filled_store(tmp_path / "store.jsonl")
    result = b.run_sample(
        b.ScriptedBackend(b.RISKY_ANSWERS), store, condition="C2", settings=PipelineSettings(enable_debate=False)
    )
    assert result.memory.retrieval_calls == 0
    assert result.memory.retrieved_ids == ()
    assert result.memory_bundle["retrieved"] == []
    assert result.memory_bundle["meta"]["retrieval_executed"] is False
    assert not any(call.memory_slot_present for call in result.calls)
    assert not result.memory.stage2_memory_injected


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_retriever_is_asked_once_before_the_debate_with_the_signature_of_stage1(
    tmp_path: Path, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_sentiment = {"atsa": {"sentiments": [{"aspect_term": "food", "polarity": "positive"}]}}
    three_aspects = {"ate": {"aspects": [{"aspect_term": term} for term in ("food", "service", "price")]}}
    implicit = {"aspect_term": "", "polarity": "negative"}
    one_sentiment["atsa"]["sentiments"] += [implicit, {**implicit, "polarity": "positive"}]
    backend = b.ScriptedBackend(b.RISKY_ANSWERS | one_sentiment | three_aspects)
    retrieve = Retriever.retrieve
    asked: list[tuple[list[str], Any]] = []

    def watched_retrieve(retriever: Retriever, entries: Any, signature: Any, *rest: Any, **keywords: Any) -> Any:
        asked.append((list(backend.roles), signature))
        return retrieve(retriever, entries, signature, *rest, **keywords)

    monkeypatch.setattr(Retriever, "retrieve", watched_retrieve)
    result = b.run_sample(backend, tmp_path / "store.jsonl", condition=condition)
    assert len(result.stage1.atsa.sentiments) == 5
    signature = SignatureBuilder().build(b.TEXT, None, 3)
    expected = [] if condition == "C1" else [(["ate", "atsa", "validator"], signature)]
    assert asked == expected
    assert result.memory.retrieval_calls == len(asked)


@pytest.mark.parametrize(
    ("code", "text", "language"),
    [
        (None, b.TEXT, "en"),
        ("unknown", "음식이 맛있어요", "ko"),
        ("EN-us", b.TEXT, "en"),
        ("ko_KR", b.TEXT, "ko"),
        ("fr", b.TEXT, "other"),
        ("other", b.TEXT, "other"),
    ],
)
def test_every_call_is_told_the_effective_language(tmp_path: Path, code: Any, text: str, language: str) -> None:
    backend = b.ScriptedBackend()
    result = b.run_sample(backend, tmp_path / "s", language_code=code, text=text)
    assert result.language == language
    assert {ask.inputs.language for ask in backend.asks} == {language}


def test_a_sample_keeps_its_split_domain_and_case_type(tmp_path: Path) -> None:
    sample = Sample(uid="u7", text=b.TEXT, split="valid", language_code="en", domain_id="rest", case_type="contrast")
    agent = SupervisorAgent(b.ScriptedBackend())
    output = asyncio.run(agent.run(sample, b.memory_of(tmp_path / "s"), seed=7)).to_output()
    found = {key: output["meta"][key] for key in ("split", "domain_id", "case_type", "language_code", "seed")}
    assert found == {"split": "valid", "domain_id": "rest", "case_type": "contrast", "language_code": "en", "seed": 7}
    assert output["uid"] == "u7"


def test_the_seed_and_the_condition_reach_every_question(tmp_path: Path) -> None:
    backend = b.ScriptedBackend()
    agent = SupervisorAgent(backend)
    asyncio.run(agent.run(Sample(uid="u", text=b.TEXT), b.memory_of(tmp_path / "s", "C2_silent"), seed=11))
    assert {ask.seed for ask in backend.asks} == {11}
    assert {ask.condition for ask in backend.asks} == {"C2_silent"}


class WatchedOrchestrator(EpisodicOrchestrator):
    """A real orchestrator that also notes when it was called."""

    backend: Any
    reads: list[list[str]]
    read_inputs: list[tuple[Any, ...]]
    writes: list[list[str]]

    def get_slot_payload_for_current_sample(self, *args: Any, **kwargs: Any) -> Any:
        self.reads.append(list(self.backend.roles))
        self.read_inputs.append((*args, kwargs))
        return super().get_slot_payload_for_current_sample(*args, **kwargs)

    def append_episode_if_needed(self, *args: Any, **kwargs: Any) -> Any:
        self.writes.append(list(self.backend.roles))
        return super().append_episode_if_needed(*args, **kwargs)


def watched(
    tmp_path: Path, condition: str, settings: PipelineSettings | None = None
) -> tuple[WatchedOrchestrator, Any]:
    orchestrator = WatchedOrchestrator(
        load_condition(condition, "v1_3"), MemoryStore(tmp_path / "store.jsonl"), form=SEED_FORM
    )
    orchestrator.backend = b.ScriptedBackend(b.RISKY_ANSWERS)
    orchestrator.reads, orchestrator.read_inputs, orchestrator.writes = [], [], []
    agent = SupervisorAgent(orchestrator.backend, settings)
    result = asyncio.run(agent.run(Sample(uid="u1", text=b.TEXT, language_code="en"), MemoryView(orchestrator)))
    return orchestrator, result


@pytest.mark.parametrize("condition", CONDITIONS)
def test_memory_is_read_once_before_the_debate_and_written_once_at_the_end(tmp_path: Path, condition: str) -> None:
    orchestrator, result = watched(tmp_path, condition)
    assert orchestrator.reads == [["ate", "atsa", "validator"]]
    assert [sorted(one) for one in orchestrator.writes] == [sorted(b.EVERY_ROLE)]
    assert result.memory.retrieval_calls == (0 if condition == "C1" else 1)
    text, ate, atsa, validator, language, keywords = orchestrator.read_inputs[0]
    assert (text, ate, atsa) == (b.TEXT, result.stage1.ate, result.stage1.atsa)
    assert (validator, language, keywords) == (result.stage1.validator, "en", {"sample_id": "u1"})


def test_the_read_takes_stage1_by_position_and_the_uid_by_keyword() -> None:
    parameters = inspect.signature(EpisodicOrchestrator.get_slot_payload_for_current_sample).parameters
    assert list(parameters) == [
        *("self", "text", "stage1_ate", "stage1_atsa", "stage1_validator", "language_code", "sample_id")
    ]
    assert parameters["sample_id"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["sample_id"].default is None


@pytest.mark.parametrize("condition", CONDITIONS)
def test_one_episode_is_built_per_sample_exactly_where_the_condition_writes(
    tmp_path: Path, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = EpisodeBuilder.build
    built: list[Any] = []

    def watched_build(builder: EpisodeBuilder, *given: Any) -> Any:
        built.append(build(builder, *given))
        return built[-1]

    monkeypatch.setattr(EpisodeBuilder, "build", watched_build)
    store = tmp_path / "store.jsonl"
    decisions = [
        b.run_sample(b.ScriptedBackend(), store, condition=condition, uid=uid).store.store_decision
        for uid in ("u1", "u2")
    ]
    writes = load_condition(condition, "v1_3").store_write
    # The second sample teaches nothing new: its episode is built and not kept.
    assert decisions == (["stored", "skipped"] if writes else ["skipped", "skipped"])
    assert [draft.provenance.source_id for draft in built] == (["u1", "u2"] if writes else [])
    assert len(MemoryStore(store).load()) == (1 if writes else 0)
