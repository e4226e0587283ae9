"""A call that fails still cost something: attempts and tokens are counted up to the point where it failed."""

import asyncio

import pytest

from episodic_absa.backends.backend import Ask, Prompt, RepairingBackend, Reply, Request, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.errors import BackendError, BackendResponseError, BackendUnavailableError
from episodic_absa.pipeline.asking import Asking
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.seed_answers import AteAnswer

INPUTS = AteInputs(text="The screen is great.", language="en")


class Mumbling(RemoteFacts):
    """Never answers in the asked form; from one attempt on it is gone, or hangs."""

    name = "own:mumbling"

    def __init__(self, *, gone_at: int = 99, hangs_at: int = 99, cost_usd: float | None = 0.25) -> None:
        self._gone_at = gone_at
        self._hangs_at = hangs_at
        self._cost_usd = cost_usd

    async def reply(self, request: Request) -> Reply:
        if request.attempt >= self._gone_at:
            raise BackendUnavailableError("no connection", backend=self.name, kind="provider_error")
        if request.attempt >= self._hangs_at:
            await asyncio.sleep(60)
        return Reply("Well, the screen.", Usage(20, 8, self._cost_usd))

    async def close(self) -> None:
        pass


def failure(replier: Mumbling, total_timeout_s: float | None = None) -> BackendError:
    ask = Ask("ate", INPUTS, Prompt("ate", "List.", "text"), AteAnswer)
    with pytest.raises(BackendError) as raised:
        asyncio.run(RepairingBackend(replier, total_timeout_s=total_timeout_s).answer(ask))
    return raised.value


def spent(error: BackendError) -> tuple[int, int, int, float | None]:
    return error.attempts, error.usage.tokens_in, error.usage.tokens_out, error.usage.cost_usd


def test_three_unusable_answers_cost_three_answers() -> None:
    error = failure(Mumbling())
    assert isinstance(error, BackendResponseError)
    assert spent(error) == (3, 60, 24, 0.75)


def test_a_server_that_goes_away_leaves_what_was_answered_before() -> None:
    assert spent(failure(Mumbling(gone_at=3))) == (3, 40, 16, None), "what the lost request costs is unknown"
    assert spent(failure(Mumbling(gone_at=1))) == (1, 0, 0, None)


def test_a_call_that_takes_too_long_leaves_what_was_answered_before() -> None:
    error = failure(Mumbling(hangs_at=2), total_timeout_s=1)
    assert isinstance(error, BackendUnavailableError)
    assert error.kind == "timeout"
    assert spent(error) == (2, 20, 8, None)


def test_the_record_of_a_failed_call_holds_what_was_spent() -> None:
    asking = Asking(RepairingBackend(Mumbling()), ())
    with pytest.raises(BackendResponseError):
        asyncio.run(asking.ask("ate", INPUTS, [("text", INPUTS.text)], AteAnswer))
    (call,) = asking.calls
    assert (call.attempts, call.tokens_in, call.tokens_out, call.cost_usd) == (3, 60, 24, 0.75)
    assert call.error == "BackendResponseError"
