"""Opens the backend of a run: with its cache, its request counts, and a limit on the asks under way."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.create_backend import create_backend
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.request_counts import CountingCache


class OpenBackend(NamedTuple):
    """A backend and the cache behind it."""

    backend: Backend
    cache: CountingCache


@asynccontextmanager
async def open_backend(
    config: ExperimentConfig, *, use_cache_file: bool, backend: Backend | None = None
) -> AsyncIterator[OpenBackend]:
    """Open the backend that the config names, and close it at the end.

    Args:
        config: names the backend and its cache.
        use_cache_file: False keeps answers in memory only.
        backend: answers instead; it is closed at the end, too.
    """
    experiment = config.file.experiment
    cache = CountingCache(config.resolve(config.file.cache.path)) if use_cache_file else CountingCache.in_memory()
    try:
        opened = backend or create_backend(
            config.file.backbone, cache=cache, share=config.file.cache.share, concurrency=experiment.concurrency
        )
        try:
            # Equal asks of all conditions wait for one request: so many asks keep every place for a request taken.
            yield OpenBackend(AskLimit(opened, experiment.concurrency * len(config.conditions)), cache)
        finally:
            await opened.close()
    finally:
        cache.close()


class AskLimit(PassedOnFacts):
    """Lets a limited number of asks begin, so that an ask's time limit does not run out in a long queue."""

    def __init__(self, backend: Backend, ask_n: int) -> None:
        super().__init__(backend)
        self._backend = backend
        self._places = asyncio.Semaphore(ask_n)

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Ask the backend when a place is free."""
        start = time.perf_counter()
        async with self._places:
            waited_s = time.perf_counter() - start
            answer = await self._backend.answer(ask)
        return replace(answer, waited_s=answer.waited_s + waited_s)

    async def close(self) -> None:
        """Close the backend."""
        await self._backend.close()
