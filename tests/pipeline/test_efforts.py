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
from episodic_absa.schemas.pipeline_settings import PipelineSettings, Stage1Settings
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


SURE = {"food": ReaderView(0.95, "positive", 0.98), "service": ReaderView(0.95, "negative", 0.98)}
"""Agrees with the pairs of DEFAULT_ANSWERS."""
DOUBTED = {**SURE, "service": ReaderView(0.4, "negative", 0.9)}
"""Hardly holds the service to be a target."""


def reading(views: Any = SURE) -> Any:
    """Return a reader that names these terms, sure of the label."""
    return builders.TableReader(finds=views, label="mixed")


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
        ({}, {"effort": "reader"}, []),
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
    assert result.decision.reach is None


def test_two_asks_of_stage1_request_nothing_that_the_program_computes_and_are_mapped_by_terms(tmp_path: Path) -> None:
    backend, result = run(tmp_path, effort="stage1", stage1=APART)
    for ask in backend.asks:
        assert not {name.lower() for name in property_names(json_schema(ask.output_model))} & COMPUTED
    joint, in_one = run(tmp_path, effort="stage1")
    assert result.stage1.atsa == in_one.stage1.atsa
    assert backend.asks[-1] == joint.asks[-1]


@pytest.mark.parametrize("condition", ["reader_only", "adaptive", "stage1_only", "one_call", "one_call_votes"])
def test_the_shipped_conditions_ask_what_their_overlays_say(tmp_path: Path, condition: str) -> None:
    asks_n = {"reader_only": 0, "adaptive": 0, "stage1_only": 2, "one_call": 1, "one_call_votes": 5}
    backend, _ = run(tmp_path, condition=condition, reader=reading())
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


@pytest.mark.parametrize("effort", ["reader", "one_call", "stage1", "adaptive", "full"])
def test_every_effort_ends_in_the_same_decision(tmp_path: Path, effort: str) -> None:
    reader = reading({**SURE, "price": ReaderView(0.99, "positive", 0.99)})
    _, result = run(tmp_path, effort=effort, reader=reader)
    assert final_pairs(result) == [("food", "positive"), ("service", "negative"), ("price", "positive")]
    assert (result.label, result.moderator.applied_rules) == ("mixed", ("P",))
    own = effort in ("reader", "adaptive")
    assert result.decision.weights == ("reader" if own else "conservative")
    assert result.moderator.selected_stage == ("stage1" if own else "stage2")
    # What the reader alone adds is no change that the model proposed.
    assert result.patch_log == ()
    assert len(result.stage2.accepted_changes) == (0 if own else 1)


def test_the_reader_alone_answers_with_its_own_pairs_and_probabilities(tmp_path: Path) -> None:
    backend, result = run(tmp_path, b.DEFAULT_FLIP, effort="reader", reader=reading(DOUBTED))
    assert backend.roles == []
    confidences = {aspect.term: (aspect.polarity, aspect.confidence) for aspect in result.aspects}
    assert confidences == {"food": ("positive", 0.931), "service": ("negative", 0.36)}
    assert result.aspects[0].evidence


def test_the_reader_alone_leaves_a_text_of_another_language_unread(tmp_path: Path) -> None:
    _, result = run(tmp_path, effort="reader", reader=reading(), language_code="de")
    assert (result.label, result.aspects) == ("", ())
    assert "no model was asked" in result.moderator.decision_reason


def test_the_reader_alone_needs_the_reader() -> None:
    with pytest.raises(ValueError, match="leave reader: false out"):
        PipelineSettings(effort="reader", reader=False)


@pytest.mark.parametrize(
    ("views", "answers", "reach", "roles"),
    [
        (SURE, {}, "reader", []),
        ({}, {}, "reader", []),
        (DOUBTED, {}, "stage1", ["joint", "validator"]),
        ({**SURE, "service": ReaderView(0.4, "positive", 0.9)}, {}, "full", ["joint", "validator", *WHOLE]),
    ],
)
def test_adaptive_asks_further_only_where_a_pair_is_in_doubt(
    tmp_path: Path, views: Any, answers: Any, reach: str, roles: list[str]
) -> None:
    backend, result = run(tmp_path, answers, effort="adaptive", reader=reading(views))
    assert (result.decision.reach, Counter(backend.roles)) == (reach, Counter(roles))
    line = OutputLine.model_validate({**result.to_output(), "sample_index": 0})
    assert line.decision == result.decision


def test_without_a_reader_adaptive_asks_the_model_first(tmp_path: Path) -> None:
    for more in ({"reader": None}, {"reader": reading(), "language_code": "de"}):
        backend, result = run(tmp_path, effort="adaptive", **more)
        assert backend.roles[:2] == ["joint", "validator"]
        assert result.decision.reach in ("stage1", "full")


def test_an_adaptive_pipeline_that_asks_everybody_decides_as_full_does(tmp_path: Path) -> None:
    views = {**SURE, "service": ReaderView(0.4, "positive", 0.9)}
    asked, result = run(tmp_path, b.DEFAULT_FLIP, effort="adaptive", reader=reading(views))
    full, whole = run(tmp_path, b.DEFAULT_FLIP, reader=reading(views))
    assert asked.roles == full.roles[:-1]
    assert full.roles[-1] == "stage2_validator"
    assert (result.candidates, result.final_result.final_tuples) == (whole.candidates, whole.final_result.final_tuples)


@pytest.mark.parametrize(
    ("views", "is_read"),
    [(SURE, False), (DOUBTED, False), ({**SURE, "service": ReaderView(0.4, "positive", 0.9)}, True)],
)
def test_adaptive_reads_memory_only_for_samples_that_it_debates(tmp_path: Path, views: Any, is_read: bool) -> None:
    _, result = run(tmp_path, condition="C2", effort="adaptive", reader=reading(views))
    assert result.memory.retrieval_calls == int(is_read)
