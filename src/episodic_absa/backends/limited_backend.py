"""Limits how many questions a backend answers at once."""

import asyncio
import time
from dataclasses import replace

from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT
from episodic_absa.backends.backend_facts import PassedOnFacts


class LimitedBackend(PassedOnFacts):
    """Passes on at most `most` questions at once; the others wait in order. Waiting is no part of the time limit."""

    def __init__(self, backend: Backend, most: int) -> None:
        super().__init__(backend)
        self._backend = backend
        self._places = asyncio.Semaphore(most)

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Wait for a free place, then return the backend's answer."""
        start = time.perf_counter()
        async with self._places:
            waited_s = time.perf_counter() - start
            answer = await self._backend.answer(ask)
        return replace(answer, waited_s=answer.waited_s + waited_s)

    async def close(self) -> None:
        """Close the backend."""
        await self._backend.close()
