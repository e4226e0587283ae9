"""The Replier of the embedded engine: it replies with JSON like any model."""

import asyncio
import time

from episodic_absa.backends.backend import Reply, Request, Usage
from episodic_absa.backends.embedded.embedded_engine import ENGINE_NAME, EmbeddedEngine
from episodic_absa.serialization.canonical_json import canonical_json


class EmbeddedReplier:
    """Answers all roles by rule: deterministic, offline, without a key. It is an engine, not a language model."""

    name = ENGINE_NAME
    is_local = True
    is_reproducible = True
    needs_key = False
    honours_seed = False
    shares_the_reader = True

    def __init__(self, engine: EmbeddedEngine | None = None) -> None:
        self._engine = engine or EmbeddedEngine()

    @property
    def fingerprint(self) -> str:
        """The hash of the engine's rules, word lists and weights."""
        return self._engine.fingerprint

    async def reply(self, request: Request) -> Reply:
        """Answer from the typed inputs of the question; the prompt is not read."""
        start = time.perf_counter()
        await asyncio.sleep(0)  # thousands of answers that never wait would let no interrupt through
        waited_s = time.perf_counter() - start
        answer = self._engine.answer(request.ask.role, request.ask.inputs, request.ask.output_model)
        return Reply(canonical_json(answer), Usage(0, 0, cost_usd=0.0), self.name, waited_s=waited_s)

    async def close(self) -> None:
        """Nothing is held open."""
