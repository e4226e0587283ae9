"""Asks a scripted server through the backend. What hangs is ended."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from tests.backends.llm.loopback_model import Entry, LoopbackModel

from episodic_absa.backends.backend import Answer, Ask, OutputT, Prompt, RepairingBackend
from episodic_absa.backends.cache import CachingReplier, ResponseCache
from episodic_absa.backends.llm import LlmReplier, LlmSettings
from episodic_absa.errors import BackendError
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.seed_answers import AteAnswer

SCREEN = '{"aspects": [{"aspect_term": "screen"}]}'
REVIEW = "The screen is great, and the battery lasts for days."
KEY = "sk-a-secret-of-ours"
RETRY_BASE_S = 0.005
T = TypeVar("T")


def make_ask(output_model: type[OutputT], *, seed: int = 7, prompt: Prompt | None = None) -> Ask[OutputT]:
    prompt = prompt or Prompt("stage1_ate", "List the aspects.", REVIEW)
    return Ask("ate", AteInputs(text=REVIEW, language="en"), prompt, output_model, seed)


def run(
    act: Callable[[LlmReplier], Awaitable[T]], address: str, *, places: asyncio.Semaphore | None = None, **settings: Any
) -> T:
    """Do something with a replier, which asks at the address unless the settings name another."""

    async def guarded() -> T:
        chosen = {"provider": "openai", "model": "m", "base_url": address, "retry_base_s": RETRY_BASE_S, **settings}
        replier = LlmReplier(LlmSettings.model_validate(chosen), places)
        try:
            async with asyncio.timeout(120):
                return await act(replier)
        finally:
            await replier.close()

    return asyncio.run(guarded())


def kept_in(cache: ResponseCache, replier: LlmReplier) -> CachingReplier:
    return CachingReplier(replier, cache, provider="p", model="m", base_url=None, parameters={}, share="all")


def answered(
    server: LoopbackModel, ask: Ask[OutputT], *, total_timeout_s: float | None = None, **settings: Any
) -> Answer[OutputT]:
    return run(
        lambda replier: RepairingBackend(replier, total_timeout_s=total_timeout_s, max_tokens=1024).answer(ask),
        server.base_url,
        **settings,
    )


def asked(server: LoopbackModel, *, total_timeout_s: float | None = None, **settings: Any) -> Answer[AteAnswer]:
    return answered(server, make_ask(AteAnswer), total_timeout_s=total_timeout_s, **settings)


def failed(*script: Entry, total_timeout_s: float | None = None, **settings: Any) -> tuple[BackendError, LoopbackModel]:
    """Return what a question ends as, and the server that has stopped."""
    with LoopbackModel(*script) as server, pytest.raises(BackendError) as caught:
        asked(server, total_timeout_s=total_timeout_s, **settings)
    return caught.value, server
