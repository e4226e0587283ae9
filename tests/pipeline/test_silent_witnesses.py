"""A witness whose answer cannot be read is silent; a backend that cannot be reached fails the sample."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.backends.backend import Answer, Ask, OutputT, RepairingBackend, Reply, Request, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.errors import BackendError, BackendResponseError, BackendUnavailableError
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import PipelineSettings, Stage1Settings

b: Any = builders
WITNESSES = ("validator", "epm", "tan", "cj", "judge", "stage2_ate", "stage2_atsa", "stage2_validator")
ADDED: dict[str, Any] = {
    "stage2_ate": {
        **b.DEFAULT_ANSWERS["stage2_ate"],
        "add": [{"quote": "fair", "target": "price", "polarity": "positive"}],
    }
}


def unreadable(role: str) -> BackendResponseError:
    return BackendResponseError(f"{role} answered in verse", backend="scripted", raw="roses", kind="json_parse_error")


def unreachable(role: str) -> BackendUnavailableError:
    return BackendUnavailableError(f"{role} cannot be asked", backend="scripted", kind="provider_error")


def failing(*roles: str, error: Any = unreadable) -> Any:
    return b.default_backend(
        b.DEFAULT_RISKY, b.DEFAULT_FLIP, ADDED, failing=lambda ask: error(ask.role) if ask.role in roles else None
    )


@pytest.mark.parametrize("role", WITNESSES)
def test_a_witness_whose_answer_cannot_be_read_is_silent_and_its_call_is_recorded(tmp_path: Path, role: str) -> None:
    backend = failing(role)
    result = b.run_default_sample(backend, tmp_path / "store.jsonl")
    assert {call.agent: call.error for call in result.calls if call.error} == {role: "BackendResponseError"}
    assert [call.agent for call in result.calls] == backend.roles
    # EPM and the judge ask for the flip: without either of them no change is made, and Validator2 is not asked.
    assert len(backend.roles) == (8 if role in ("epm", "judge") else 9)
    assert role not in {witness.who for pair in result.candidates for witness in pair.witnesses}
    said = {
        "validator": not result.stage1.validator.structural_risks,
        "judge": not result.debate.summary.final_patch,
        "stage2_ate": not result.stage2.ate_reviews,
        "stage2_atsa": all(verdict.action == "add" for verdict in result.stage2.atsa_reviews),
        # Nobody says that a risk is gone, so those of Stage1 stand.
        "stage2_validator": result.stage2.validator.structural_risks == result.stage1.validator.structural_risks,
    }
    turns = {turn.agent: turn.proposed_edits for turn in result.debate.turns}
    assert said.get(role, turns.get(role) == ())
    assert result.to_output()["status"] == "ok"


def test_a_sample_whose_witnesses_are_all_silent_is_exactly_stage1(tmp_path: Path) -> None:
    result = b.run_default_sample(failing(*WITNESSES), tmp_path / "store.jsonl")
    assert all(pair.is_in and pair.is_of_stage1 for pair in result.candidates)
    assert len(result.final_sentiments) == len(result.stage1.atsa.sentiments) == 2
    assert result.moderator.selected_stage == "stage1"


@pytest.mark.parametrize(
    ("role", "settings"),
    [
        ("joint", PipelineSettings()),
        ("joint", PipelineSettings(effort="one_call", votes=3)),
        ("ate", PipelineSettings(stage1=Stage1Settings(joint=False))),
        ("atsa", PipelineSettings(stage1=Stage1Settings(joint=False))),
    ],
)
def test_a_sample_without_readable_pairs_fails(tmp_path: Path, role: str, settings: PipelineSettings) -> None:
    backend = failing(role)
    backend.answers["ate"] = {"terms": ["food"]}
    with pytest.raises(BackendResponseError, match=role):
        b.run_default_sample(backend, tmp_path / "store.jsonl", settings=settings)
    assert backend.roles[-1] == role


class Hesitating(builders.ScriptedBackend):
    """Fails one role at once and takes some turns of the event loop for every other answer."""

    def __init__(self, role: str) -> None:
        super().__init__({**b.DEFAULT_ANSWERS, **b.DEFAULT_RISKY, **b.DEFAULT_FLIP})
        self._role = role

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        if ask.role == self._role and ask.seed in (0, 1):
            raise unreachable(ask.role)
        for _ in range(5):
            await asyncio.sleep(0)
        return await super().answer(ask)


def failed_calls(tmp_path: Path, backend: Any, settings: PipelineSettings | None = None) -> list[Any]:
    """Return the records of a sample that fails."""
    agent = SupervisorAgent(backend, settings, rules="v3")
    memory: MemoryView = b.memory_of(tmp_path / "store.jsonl", source="v3_0")
    asking = agent.new_asking(memory.condition, 0)
    with pytest.raises(BackendError):
        asyncio.run(agent.run(Sample(uid="u1", text=b.TEXT), memory, asking=asking))
    return [(call.agent, call.error) for call in asking.calls]


@pytest.mark.parametrize(
    ("role", "beside"),
    [
        ("validator", []),
        ("epm", ["tan", "cj"]),
        ("cj", ["epm", "tan"]),
        ("judge", []),
        ("stage2_ate", ["stage2_atsa"]),
        ("stage2_validator", []),
    ],
)
def test_a_backend_that_cannot_be_reached_fails_the_sample_after_the_questions_beside_it(
    tmp_path: Path, role: str, beside: list[str]
) -> None:
    calls = failed_calls(tmp_path, Hesitating(role))
    assert [call for call in calls if call[1]] == [(role, "BackendUnavailableError")]
    # What was asked at the same time is answered and counted, whoever is first.
    asked_together = {agent for agent, _ in calls[-1 - len(beside) :]}
    assert asked_together == {role, *beside}


def test_votes_all_end_before_the_sample_fails(tmp_path: Path) -> None:
    calls = failed_calls(tmp_path, Hesitating("joint"), PipelineSettings(effort="one_call", votes=4))
    assert sorted(map(str, calls)) == sorted(
        map(str, [("joint", "BackendUnavailableError")] * 2 + [("joint", None)] * 2)
    )


class Mumbling(RemoteFacts):
    """Answers the judge in prose, and everybody else from a table of texts."""

    name = "mumbling"
    honours_seed = False

    def __init__(self) -> None:
        self._scripted = b.default_backend(b.DEFAULT_FLIP)

    async def reply(self, request: Request) -> Reply:
        if request.ask.role == "judge":
            return Reply("The service was slow, so there.", Usage(7, 3, 0.25))
        return Reply(b.as_json(self._scripted.answers[request.ask.role]), Usage(3, 2, 0.5))

    async def close(self) -> None:
        return None


def test_what_an_unreadable_witness_costs_is_recorded_with_its_three_attempts(tmp_path: Path) -> None:
    result = b.run_default_sample(RepairingBackend(Mumbling()), tmp_path / "store.jsonl")
    (judge,) = [call for call in result.calls if call.agent == "judge"]
    assert (judge.error, judge.attempts, judge.tokens_in, judge.tokens_out) == ("BackendResponseError", 3, 21, 9)
    assert judge.cost_usd == 0.75
    assert result.label == "mixed"
