"""The usage of a scorecard covers every call of its sample."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders
from tests.runs.derived_from import derived_from

from episodic_absa.backends.backend import Answer, Ask, OutputT, Usage
from episodic_absa.conditions import load_condition
from episodic_absa.errors import BackendUnavailableError
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.runs.ordered_run import SampleFailure
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run_files.scorecard import UsageSums

b: Any = builders
EVERY_CALL = 2**10 - 1
CONDITION = load_condition("C2", "v1_3")


class MeteredBackend(builders.ScriptedBackend):
    """Answers call n with 2^n tokens and attempts, so that a sum tells which calls it holds."""

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        power = 2 ** len(self.asks)
        answer = await super().answer(ask)
        return replace(answer, usage=Usage(power, 1024 * power, power / 8), attempts=3 * power)


def test_the_scorecard_sums_attempts_tokens_and_cost_over_all_ten_calls(tmp_path: Path) -> None:
    result = b.run_sample(MeteredBackend(), tmp_path / "store.jsonl")
    assert derived_from(result, CONDITION).card.usage == UsageSums(
        calls=10,
        attempts=3 * EVERY_CALL,
        tokens_in=EVERY_CALL,
        tokens_out=1024 * EVERY_CALL,
        cost_usd=EVERY_CALL / 8,
    )


def test_a_failed_sample_keeps_the_usage_of_the_calls_before_its_failure(tmp_path: Path) -> None:
    error = BackendUnavailableError("down", backend="scripted", kind="provider_error")
    backend = MeteredBackend(failing=lambda ask: error if ask.role == "judge" else None)
    agent = SupervisorAgent(backend)
    sample, memory = Sample(uid="u", text=b.TEXT), b.memory_of(tmp_path / "store.jsonl")
    asking: Asking = agent.new_asking(memory.condition, 0)
    with pytest.raises(BackendUnavailableError):
        asyncio.run(agent.run(sample, memory, asking=asking))
    failure = SampleFailure(sample, error, tuple(asking.calls))
    card = derived_from(failure, CONDITION, empty_slot=memory.without_debate()).card
    assert (card.usage.calls, card.usage.tokens_in, card.usage.tokens_out) == (7, 2**6 - 1, 1024 * (2**6 - 1))


@pytest.mark.parametrize("place", [0, 9])
def test_one_unknown_price_makes_the_cost_unknown_and_leaves_the_other_sums(tmp_path: Path, place: int) -> None:
    result = b.run_sample(MeteredBackend(), tmp_path / "store.jsonl")
    calls = list(result.calls)
    calls[place] = calls[place].model_copy(update={"cost_usd": None})
    usage = derived_from(replace(result, calls=tuple(calls)), CONDITION).card.usage
    assert usage.cost_usd is None
    assert (usage.tokens_in, usage.tokens_out, usage.attempts) == (EVERY_CALL, 1024 * EVERY_CALL, 3 * EVERY_CALL)
