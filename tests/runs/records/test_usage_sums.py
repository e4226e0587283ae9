"""The usage of a scorecard covers every call of its sample."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.backends.backend import Answer, Ask, OutputT, Usage
from episodic_absa.conditions import load_condition
from episodic_absa.errors import BackendUnavailableError
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.runs.records.scoring import Scorer, usage_of
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run_files.scorecard import UsageSums

b: Any = builders
EVERY_CALL = 2**10 - 1
SCORER = Scorer(run_id="r", condition=load_condition("C1"), seed=1, cfg_hash="0")


class MeteredBackend(builders.ScriptedBackend):
    """Answers call n with 2^n tokens and attempts, so that a sum tells which calls it holds."""

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        power = 2 ** len(self.asks)
        answer = await super().answer(ask)
        return replace(answer, usage=Usage(power, 1024 * power, power / 8), attempts=3 * power)


def test_the_scorecard_sums_attempts_tokens_and_cost_over_all_ten_calls(tmp_path: Path) -> None:
    result = b.run_sample(MeteredBackend(), tmp_path / "store.jsonl")
    card = SCORER.score(result, sample_index=0, gold=None, store_size=0)
    assert card.usage == UsageSums(
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
    card = SCORER.score_failure(sample, sample_index=0, error_type="provider_error", gold=None, calls=asking.calls)
    assert (card.usage.calls, card.usage.tokens_in, card.usage.tokens_out) == (7, 2**6 - 1, 1024 * (2**6 - 1))


@pytest.mark.parametrize("place", range(10))
def test_one_unknown_price_makes_the_cost_unknown_and_leaves_the_other_sums(tmp_path: Path, place: int) -> None:
    calls = list(b.run_sample(MeteredBackend(), tmp_path / "store.jsonl").calls)
    calls[place] = calls[place].model_copy(update={"cost_usd": None})
    usage = usage_of(calls)
    assert usage.cost_usd is None
    assert (usage.tokens_in, usage.tokens_out, usage.attempts) == (EVERY_CALL, 1024 * EVERY_CALL, 3 * EVERY_CALL)
