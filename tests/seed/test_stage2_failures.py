"""When a reviewer fails, the record of the sample does not depend on who was faster."""

import asyncio
from typing import Any

import pytest

from episodic_absa.backends.backend import Answer, Ask, RepairingBackend
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.conditions import load_condition
from episodic_absa.errors import BackendUnavailableError, ConfigError
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.schemas.absa import Sample


class Failing(RemoteFacts):
    """The embedded engine, but for roles that fail after a while."""

    name = "failing"
    honours_seed = False

    def __init__(self, errors: dict[str, Exception], slow: str) -> None:
        self._engine = RepairingBackend(EmbeddedReplier())
        self._errors = errors
        self._slow = slow

    async def answer(self, ask: Ask[Any]) -> Answer[Any]:
        await asyncio.sleep(0.02 if ask.role == self._slow else 0)
        if ask.role in self._errors:
            raise self._errors[ask.role]
        return await self._engine.answer(ask)

    async def close(self) -> None:
        return


def attempts(errors: dict[str, Exception], slow: str, tmp_path: Any) -> tuple[Exception, list[tuple[str, int]]]:
    supervisor = SupervisorAgent(Failing(errors, slow))
    memory = EpisodicOrchestrator(load_condition("C1"), MemoryStore(tmp_path / "store.jsonl"))
    asking = supervisor.new_asking(memory.condition, 0)
    sample = Sample(uid="u", text="The screen is dark.")
    with pytest.raises(tuple(type(error) for error in errors.values())) as failed:
        asyncio.run(supervisor.run(sample, MemoryView(memory), asking=asking))
    return failed.value, [(call.agent, call.attempts) for call in asking.calls]


def test_a_failing_reviewer_leaves_the_same_record_whoever_is_faster(tmp_path: Any) -> None:
    errors: dict[str, Exception] = {"stage2_ate": BackendUnavailableError("gone", backend="b", kind="timeout")}
    first = attempts(errors, "stage2_ate", tmp_path)
    assert first == attempts(errors, "stage2_atsa", tmp_path)
    assert len(first[1]) == 9


def test_what_fails_more_than_the_sample_is_what_is_raised(tmp_path: Any) -> None:
    errors: dict[str, Exception] = {
        "stage2_ate": BackendUnavailableError("gone", backend="b", kind="timeout"),
        "stage2_atsa": ConfigError("the disk is full"),
    }
    assert isinstance(attempts(errors, "stage2_ate", tmp_path)[0], ConfigError)
