"""Opens what an experiment file describes: its backend with cache and counts, and the pipeline of a condition."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from episodic_absa.backends.backend import Backend
from episodic_absa.backends.create_backend import BackboneSettings, create_backend
from episodic_absa.backends.limited_backend import LimitedBackend
from episodic_absa.memory import MemoryStore
from episodic_absa.pipeline.composition import Pipeline, build_pipeline
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.progress import CountingCache
from episodic_absa.schemas.run import Condition


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
) -> AsyncIterator[OpenBackend]:
    """Open the backend that the config names, and close it at the end.

    Args:
        config: names the backend and its cache.
        use_cache_file: False keeps answers in memory only.
        backend: answers instead; it is closed at the end, too.
    """
    experiment = config.file.experiment
    cache = CountingCache(config.cache_location) if use_cache_file else CountingCache.in_memory()
    in_flight = asyncio.Semaphore(experiment.concurrency)
    try:
        opened = backend or create_backend(
            backbone_of(config), cache=cache, share=config.file.cache.share, in_flight=in_flight
        )
        try:
            # Equal asks of all conditions wait for one request: so many asks keep every place for a request taken.
            yield OpenBackend(LimitedBackend(opened, experiment.concurrency * len(config.conditions)), cache)
        finally:
            await opened.close()
    finally:
        cache.close()


def backbone_of(config: ExperimentConfig) -> BackboneSettings:
    """Return the settings of the config; its recordings lie beside it, wherever the command was given."""
    backbone = config.file.backbone
    paths = {name: config.resolve(path) for name in ("record", "recording") if (path := getattr(backbone, name))}
    return backbone.model_copy(update=paths)


def build_experiment_pipeline(
    config: ExperimentConfig,
    *,
    backend: Backend,
    condition: Condition,
    store: MemoryStore,
) -> Pipeline:
    """Return the pipeline of one condition.

    Args:
        config: the experiment.
        backend: answers every call; pipelines of other conditions may share it.
        condition: one of the experiment.
        store: of the condition's memory.

    Raises:
        ConfigError: the allowlist cannot be read.
    """
    file = config.file
    return build_pipeline(
        backend=backend,
        condition=condition,
        store=store,
        settings=file.pipeline,
        memory=file.episodic_memory,
        debate_slot_name=file.io.slot_memory_name,
        keep_last_n=file.episodic_memory.keep_last_n,
        root=config.root,
    )
