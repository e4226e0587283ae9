"""Which questions each effort asks, and what it makes of the answers."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders
from tests.pipeline.test_prompts import COMPUTED, property_names

from episodic_absa.backends.answer_schemas import json_schema
from episodic_absa.backends.backend import Answer, Ask, OutputT
from episodic_absa.conditions import load_condition
from episodic_absa.schemas.pipeline_settings import DebateSettings, PipelineSettings, Stage1Settings
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.run_files.output_line import OutputLine

b: Any = builders
APART = Stage1Settings(joint=False)
WHOLE = ["epm", "tan", "cj", "judge", "stage2_ate", "stage2_atsa"]
DEFAULT_APART: dict[str, dict[str, Any]] = {
    "ate": {"terms": ["food", "service"]},
    "atsa": b.DEFAULT_ANSWERS["epm"],
}
DROPPED: dict[str, dict[str, Any]] = {
    "tan": {"targets": [{"quote": "great", "target": "food"}]},
    "stage2_ate": {"verdicts": [{"target": "food", "verdict": "keep"}, {"target": "service", "verdict": "drop"}]},
}
"""TAN and Stage2 leave the service out."""
TARGETS = ["tan", "stage2_ate"]


class VotingBackend(builders.ScriptedBackend):
    """Answers each vote with the pairs of its seed."""

    def __init__(self, votes: list[list[tuple[str, str]]]) -> None:
        super().__init__(b.DEFAULT_ANSWERS)
        self._votes = votes

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        pairs = [{"quote": "", "term": term, "polarity": polarity} for term, polarity in self._votes[ask.seed]]
        self.answers["joint"] = {"pairs": pairs}
        return await super().answer(ask)


SURE = {"food": ReaderView(0.8, "positive", 0.95), "service": ReaderView(0.8, "negative", 0.95)}
"""Agrees with the pairs of DEFAULT_ANSWERS."""
DOUBTED = {**SURE, "service": ReaderView(0.1, "negative", 0.95)}
"""Holds the service to be no target."""


def run(tmp_path: Path, *answers: Any, backend: Any = None, condition: str = "C1", **settings: Any) -> tuple[Any, Any]:
    """Run a sample as a pipeline does: with the settings that hold under its condition."""
    more = {name: settings.pop(name) for name in ("reader", "language_code", "text") if name in settings}
    backend = backend or b.default_backend(DEFAULT_APART, *answers)
    in_force = PipelineSettings(**settings).under(load_condition(condition, "v3_0"))
    store = tmp_path / "store.jsonl"
    return backend, b.run_default_sample(backend, store, settings=in_force, condition=condition, **more)


def final_pairs(result: Any) -> list[tuple[str, str]]:
    return [(pair.aspect_term, pair.polarity) for pair in result.final_result.final_tuples]


@pytest.mark.parametrize(
    ("answers", "settings", "roles"),
    [
        ({}, {"effort": "one_call"}, ["joint"]),
        (b.DEFAULT_FLIP, {"effort": "one_call"}, ["joint"]),
        ({}, {"effort": "one_call", "votes": 4}, ["joint"] * 4),
        ({}, {"effort": "stage1"}, ["joint", "validator"]),
        (b.DEFAULT_FLIP, {"effort": "stage1", "stage1": APART}, ["ate", "atsa", "validator"]),
        ({}, {"effort": "full"}, ["joint", "validator", *WHOLE]),
        ({}, {"stage1": APART}, ["ate", "atsa", "validator", *WHOLE]),
        (b.DEFAULT_FLIP, {"effort": "full"}, ["joint", "validator", *WHOLE, "stage2_validator"]),
        (b.DEFAULT_FLIP, {"stage1": APART}, ["ate", "atsa", "validator", *WHOLE, "stage2_validator"]),
    ],
)
def test_each_effort_asks_exactly_its_questions(tmp_path: Path, answers: Any, settings: Any, roles: list[str]) -> None:
    backend, result = run(tmp_path, answers, **settings)
    assert Counter(backend.roles) == Counter(roles)
    assert [call.agent for call in result.calls] == backend.roles
    assert result.second_look is None
    assert "second_look" not in result.to_output()


def test_two_asks_of_stage1_request_nothing_that_the_program_computes_and_are_mapped_by_terms(tmp_path: Path) -> None:
    backend, result = run(tmp_path, effort="stage1", stage1=APART)
    for ask in backend.asks:
        assert not {name.lower() for name in property_names(json_schema(ask.output_model))} & COMPUTED
    joint, in_one = run(tmp_path, effort="stage1")
    assert result.stage1.atsa == in_one.stage1.atsa
    assert backend.asks[-1] == joint.asks[-1]


@pytest.mark.parametrize("condition", ["adaptive", "stage1_only", "one_call", "one_call_votes"])
def test_the_shipped_conditions_ask_what_their_overlays_say(tmp_path: Path, condition: str) -> None:
    asks_n = {"adaptive": 2, "stage1_only": 2, "one_call": 1, "one_call_votes": 5}
    backend, _ = run(tmp_path, condition=condition, reader=builders.TableReader(SURE))
    assert len(backend.asks) == asks_n[condition]


def test_votes_are_drawn_with_their_own_seeds_at_the_vote_temperature(tmp_path: Path) -> None:
    votes = [[("food", "positive"), ("price", "neutral")], [("food", "positive")], [("Food", "positive")]]
    backend, result = run(tmp_path, backend=VotingBackend(votes), effort="one_call", votes=3, vote_temperature=0.4)
    assert [(ask.seed, ask.temperature) for ask in backend.asks] == [(0, 0.4), (1, 0.4), (2, 0.4)]
    assert len({ask.prompt for ask in backend.asks}) == 1
    assert final_pairs(result) == [("food", "positive")]


def test_one_ask_is_made_with_the_seed_of_the_run_at_the_temperature_of_the_backend(tmp_path: Path) -> None:
    backend, _ = run(tmp_path, effort="one_call", vote_temperature=0.4)
    assert [(ask.seed, ask.temperature) for ask in backend.asks] == [(0, None)]
    whole, _ = run(tmp_path)
    assert whole.asks[0] == backend.asks[0]
    assert {ask.temperature for ask in whole.asks} == {None}


@pytest.mark.parametrize("effort", ["stage1", "one_call"])
def test_without_a_second_look_stage1_stands_though_the_reader_doubts_it(tmp_path: Path, effort: str) -> None:
    against = {**SURE, "service": ReaderView(0.05, "positive", 0.99)}
    proposals = {"validator": {"risks": [{"quote": "slow", "type": "POLARITY_MISMATCH"}], "label": "positive"}}
    _, result = run(tmp_path, b.DEFAULT_FLIP, proposals, effort=effort, reader=builders.TableReader(against))
    assert result.changes == ()
    assert [id(item) for item in result.final_sentiments] == [id(item) for item in result.stage1.atsa.sentiments]
    assert result.final_result.final_tuples == result.final_result.stage1_tuples
    assert final_pairs(result) == [("food", "positive"), ("service", "negative")]
    assert (result.moderator.selected_stage, result.label) == ("stage1", "mixed")
    assert (result.debate, result.stage2.ate_reviews, result.stage2.atsa_reviews) == (None, (), ())


@pytest.mark.parametrize(
    ("views", "finds", "look", "stakes", "again"),
    [
        (SURE, SURE, "none", (), []),
        ({}, {}, "none", (), []),
        ({**SURE, "service": ReaderView(0.8, "positive", 0.6)}, {}, "none", (), []),
        (SURE, {"price": ReaderView(0.4, "positive", 0.9)}, "none", (), []),
        (DOUBTED, {}, "targets", ("doubted_target",), TARGETS),
        ({**SURE, "service": ReaderView(0.8, "positive", 0.95)}, {}, "whole", ("doubted_polarity",), WHOLE),
        (
            {**SURE, "service": ReaderView(0.1, "positive", 0.95)},
            {"price": ReaderView(0.9, "positive", 0.9)},
            "whole",
            ("doubted_polarity", "doubted_target", "missed_target"),
            WHOLE,
        ),
    ],
)
def test_adaptive_asks_again_only_about_what_the_reader_doubts(
    tmp_path: Path, views: Any, finds: Any, look: str, stakes: Any, again: list[str]
) -> None:
    backend, result = run(tmp_path, effort="adaptive", reader=builders.TableReader(views, finds=finds))
    assert Counter(backend.roles) == Counter(["joint", "validator", *again])
    line = OutputLine.model_validate({**result.to_output(), "sample_index": 0})
    assert line.second_look is not None
    for recorded in (result.second_look, line.second_look):
        assert (recorded.look, recorded.stakes) == (look, stakes)


def test_for_a_missed_target_nobody_is_asked_about_polarities(tmp_path: Path) -> None:
    finding = builders.TableReader(SURE, finds={"price": ReaderView(0.9, "positive", 0.9)})
    backend, result = run(tmp_path, effort="adaptive", reader=finding)
    assert (result.second_look.look, result.second_look.stakes) == ("targets", ("missed_target",))
    assert backend.roles[:3] == ["joint", "validator", "tan"]
    assert set(backend.roles[3:]) <= {"stage2_ate"}


@pytest.mark.parametrize(
    ("answers", "text", "stakes", "again"),
    [
        ({}, b.TEXT, (), []),
        (b.DEFAULT_RISKY, b.TEXT, ("validator",), WHOLE),
        (
            {"joint": {"pairs": [{"term": "food", "polarity": "positive"}, {"term": "food", "polarity": "negative"}]}},
            b.TEXT,
            ("conflict",),
            WHOLE,
        ),
    ],
)
def test_without_a_reader_the_gates_say_what_is_at_stake(
    tmp_path: Path, answers: Any, text: str, stakes: Any, again: list[str]
) -> None:
    backend, result = run(tmp_path, answers, effort="adaptive", text=text)
    assert set(stakes) <= set(result.second_look.stakes)
    assert bool(stakes) is bool(result.second_look.stakes)
    assert Counter(backend.roles) == Counter(["joint", "validator", *again])


def test_a_reader_that_does_not_know_the_language_leaves_the_decision_to_the_gates(tmp_path: Path) -> None:
    doubting = builders.TableReader({"food": ReaderView(0.0, "negative", 1.0)})
    _, result = run(tmp_path, effort="adaptive", reader=doubting, language_code="de")
    assert (result.language, result.second_look.look) == ("other", "none")


def test_a_look_at_the_targets_adopts_a_drop_and_asks_for_no_risks_of_it(tmp_path: Path) -> None:
    backend, result = run(tmp_path, DROPPED, effort="adaptive", reader=builders.TableReader(DOUBTED))
    assert set(backend.roles[2:]) - {"stage2_ate"} == {"tan"}
    assert [(change.kind, change.adopted) for change in result.changes] == [("drop", True)]
    assert final_pairs(result) == [("food", "positive")]
    _, whole = run(tmp_path, DROPPED, reader=builders.TableReader(DOUBTED))
    assert whole.final_result.final_tuples == result.final_result.final_tuples


def test_a_whole_adaptive_look_decides_as_full_does(tmp_path: Path) -> None:
    views = {**SURE, "service": ReaderView(0.8, "positive", 0.95)}
    asked, result = run(tmp_path, b.DEFAULT_FLIP, effort="adaptive", reader=builders.TableReader(views))
    full, whole = run(tmp_path, b.DEFAULT_FLIP, reader=builders.TableReader(views))
    assert asked.roles == full.roles[:-1]
    assert full.roles[-1] == "stage2_validator"
    assert (result.changes, result.final_result.final_tuples) == (whole.changes, whole.final_result.final_tuples)


def test_a_look_at_the_targets_without_tan_leaves_the_debate_empty(tmp_path: Path) -> None:
    backend, result = run(
        tmp_path, effort="adaptive", reader=builders.TableReader(DOUBTED), debate=DebateSettings(order=("epm", "cj"))
    )
    assert backend.roles == ["joint", "validator", "stage2_ate"]
    assert result.debate.turns == ()


@pytest.mark.parametrize(("visible_to", "chars_are_shown"), [(("tan",), True), (("epm", "judge"), False)])
def test_memory_counts_as_shown_only_where_a_question_that_was_asked_shows_it(
    tmp_path: Path, visible_to: Any, chars_are_shown: bool
) -> None:
    store = tmp_path / "store.jsonl"
    b.run_default_sample(b.default_backend(b.DEFAULT_RISKY), store, condition="C2_silent", uid="teacher")
    _, result = run(
        tmp_path,
        b.DEFAULT_RISKY,
        condition="C2",
        effort="adaptive",
        reader=builders.TableReader(DOUBTED),
        debate=DebateSettings(memory_visible_to=visible_to),
    )
    assert result.second_look.look == "targets"
    shown_to = [call.agent for call in result.calls if call.memory_slot_present]
    assert ("tan" in shown_to) is chars_are_shown
    assert result.memory.memory_debate_slot_present_for == (("tan",) if chars_are_shown else ())
    assert (result.memory.prompt_injection_chars > 0) is chars_are_shown
    assert result.memory.stage2_memory_injected is ("stage2_ate" in shown_to)


@pytest.mark.parametrize("answers", [{}, DROPPED])
def test_memory_counts_as_shown_to_stage2_only_if_stage2_was_asked(tmp_path: Path, answers: Any) -> None:
    store = tmp_path / "store.jsonl"
    b.run_default_sample(b.default_backend(b.DEFAULT_RISKY), store, condition="C2_silent", uid="teacher")
    reader = builders.TableReader(DOUBTED if answers else SURE, finds={"price": ReaderView(0.9, "positive", 0.9)})
    _, result = run(tmp_path, b.DEFAULT_RISKY, answers, condition="C2", effort="adaptive", reader=reader)
    assert result.memory.retrieved_k == 1
    shown = [call.agent for call in result.calls if call.memory_slot_present and call.stage == "stage2"]
    assert result.memory.stage2_memory_injected is bool(shown)
    assert (result.memory.stage2_memory_prompt_injection_chars > 0) is bool(shown)
    assert (result.memory.stage2_injection_skip_reason == "") is bool(shown)


def test_adaptive_reads_memory_only_for_samples_that_it_looks_at_again(tmp_path: Path) -> None:
    _, plain = run(tmp_path, condition="C2", effort="adaptive", reader=builders.TableReader(SURE))
    assert (plain.memory.retrieval_calls, plain.second_look.look) == (0, "none")
    _, doubted = run(tmp_path, condition="C2", effort="adaptive", reader=builders.TableReader(DOUBTED))
    assert (doubted.memory.retrieval_calls, doubted.second_look.look) == (1, "targets")
