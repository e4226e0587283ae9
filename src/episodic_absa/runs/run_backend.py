"""Opens the backend of a run: with its cache, its request counts, and a limit on the asks under way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

from episodic_absa.backends.backend import Backend
from episodic_absa.backends.cache.response_cache import Turns
from episodic_absa.backends.create_backend import BackboneSettings, create_backend
from episodic_absa.backends.limited_backend import LimitedBackend
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.request_counts import CountingCache


class ClusterLimits(NamedTuple):
    """What the processes of a cluster agree on."""

    in_flight: AbstractAsyncContextManager[object]
    """Entered around every request: it limits those of all processes together."""
    turns: Turns


class OpenBackend(NamedTuple):
    """A backend and the cache behind it."""

    backend: Backend
    cache: CountingCache


@asynccontextmanager
async def open_backend(
    config: ExperimentConfig,
    *,
    use_cache_file: bool,
    backend: Backend | None = None,
    limits: ClusterLimits | None = None,
) -> AsyncIterator[OpenBackend]:
    """Open the backend that the config names, and close it at the end.

    Args:
        config: names the backend and its cache.
        use_cache_file: False keeps answers in memory only.
        backend: answers instead; it is closed at the end, too.
        limits: of the processes that run together; None if this one runs alone.
    """
    experiment = config.file.experiment
    turns = limits.turns if limits else None
    cache = CountingCache(config.cache_location, turns=turns) if use_cache_file else CountingCache.in_memory()
    in_flight = limits.in_flight if limits else asyncio.Semaphore(experiment.concurrency)
    try:
        opened = backend or create_backend(
            _backbone(config), cache=cache, share=config.file.cache.share, in_flight=in_flight
        )
        try:
            # Equal asks of all conditions wait for one request: so many asks keep every place for a request taken.
            yield OpenBackend(LimitedBackend(opened, experiment.concurrency * len(config.conditions)), cache)
        finally:
            await opened.close()
    finally:
        cache.close()


def _backbone(config: ExperimentConfig) -> BackboneSettings:
    """Return the settings of the config; its recordings lie beside it, wherever the command was given."""
    backbone = config.file.backbone
    paths = {name: config.resolve(path) for name in ("record", "recording") if (path := getattr(backbone, name))}
    return backbone.model_copy(update=paths)
