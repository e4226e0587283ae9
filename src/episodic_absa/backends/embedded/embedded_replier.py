"""The Replier of the embedded engine: it replies with JSON like any model."""

import asyncio
import time
from typing import Final

from episodic_absa.backends.backend import Reply, Request, Usage
from episodic_absa.backends.embedded.role_answers import answer_of
from episodic_absa.reader.reader import Reader, default_reader
from episodic_absa.serialization.canonical_json import canonical_json

ENGINE_NAME: Final = "embedded:reader-1"


class EmbeddedReplier:
    """Answers all roles from the reader: deterministic, offline, without a key. It is no language model."""

    name = ENGINE_NAME
    is_local = True
    is_reproducible = True
    needs_key = False
    honours_seed = False
    shares_the_reader = True

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader or default_reader()

    @property
    def fingerprint(self) -> str:
        """The hash of the reader's weights and tables."""
        return self._reader.fingerprint

    async def reply(self, request: Request) -> Reply:
        """Answer from the typed inputs of the question; the prompt is not read."""
        start = time.perf_counter()
        await asyncio.sleep(0)  # thousands of answers that never wait would let no interrupt through
        waited_s = time.perf_counter() - start
        answer = answer_of(request.ask.inputs, request.ask.output_model, self._reader)
        return Reply(canonical_json(answer), Usage(0, 0, cost_usd=0.0), self.name, waited_s=waited_s)

    async def close(self) -> None:
        """Nothing is held open."""
