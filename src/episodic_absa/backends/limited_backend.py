"""Limits how many questions a backend answers at once."""

import asyncio
import time
from dataclasses import replace

from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT
from episodic_absa.backends.backend_facts import PassedOnFacts


class LimitedBackend(PassedOnFacts):
    """Passes on at most `most` questions at once; the others wait in order. Waiting is no part of the time limit.

    A question that waits for its retry, or for an equal request, gives its place back for good: what it sends later is
    limited with all other requests.
    """

    def __init__(self, backend: Backend, most: int) -> None:
        super().__init__(backend)
        self._backend = backend
        self._places = asyncio.Semaphore(most)

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Wait for a free place, then return the backend's answer."""
        start = time.perf_counter()
        await self._places.acquire()
        waited_s = time.perf_counter() - start
        place = _Place(self._places)
        try:
            answer = await self._backend.answer(replace(ask, on_wait=place.give_back))
        finally:
            place.give_back()
        return replace(answer, waited_s=answer.waited_s + waited_s)

    async def close(self) -> None:
        """Close the backend."""
        await self._backend.close()


class _Place:
    """One taken place; giving it back twice does nothing."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._is_taken = True

    def give_back(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self._places.release()
