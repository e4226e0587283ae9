"""The reviews of a file on a Ray cluster: workers stand in for the processes of a batch."""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from episodic_absa.batch import ChunkAnalysis, EngineEndedError, EngineSettings, Outcome, Processes
from episodic_absa.contrib.ray.ray_cluster import Trouble, connect, installed, require_installed, worker_number
from episodic_absa.errors import BackendUnavailableError, ConfigError, EpisodicAbsaError
from episodic_absa.schemas.absa import Sample


@contextmanager
def ray_processes(address: str | None = None, number: int | None = None) -> Iterator[Processes]:
    """Yield the workers of a cluster as the `processes` of `Analyzer.analyze_many`.

    Args:
        address: `HOST:PORT`, `auto` for the cluster of this machine, or None to start one here.
        number: how many workers; None for as many as the cluster has CPUs and memory for.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigError: the cluster cannot be reached or is too small.

    Example:
        >>> from episodic_absa import Analyzer
        >>> with ray_processes() as processes, Analyzer() as analyzer:  # doctest: +SKIP
        ...     results = list(analyzer.analyze_many(["The room was clean."], processes=processes))
    """
    with connect(address, feature="--engine ray", key="--ray-address") as ray:
        yield Processes(worker_number(ray, number), lambda settings: _RayProcess(ray, settings))


class _RayProcess:
    """A worker of the cluster, as a batch sees it."""

    def __init__(self, ray: Any, settings: EngineSettings) -> None:
        self._ray = ray
        self._provider = settings.backbone.provider
        backbone = settings.backbone
        if backbone.recording is not None:
            backbone = backbone.model_copy(update={"recording": backbone.recording.resolve()})
        store = settings.store if "://" in settings.store else str(Path(settings.store).resolve())
        # Workers have a working directory of their own.
        there = replace(settings, backbone=backbone, store=store)
        actor = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(_ReviewWorker)
        self._actor = actor.remote(there, installed(), _store_sum(there))
        self._is_ready = False

    def wait_until_ready(self) -> None:
        if not self._is_ready:
            self._answer(self._actor.ready.remote())
            self._is_ready = True

    def analyse(self, samples: Sequence[Sample]) -> list[Outcome]:
        outcomes: list[Outcome] = self._answer(self._actor.analyse.remote(list(samples)))
        return outcomes

    def close(self) -> None:
        self._ray.kill(self._actor)

    def _answer(self, call: Any) -> Any:
        try:
            answer = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            raise EngineEndedError from error
        if isinstance(answer, Trouble):
            raise BackendUnavailableError(str(answer), backend=self._provider, kind="provider_error") from answer.error
        return answer


class _ReviewWorker:
    """Loads the engine once and analyses one chunk after another."""

    def __init__(self, settings: EngineSettings, there: str, store_sum: str) -> None:
        self._runner = asyncio.Runner()
        self._settings, self._there, self._store_sum = settings, there, store_sum
        self._analysis: ChunkAnalysis | None = None

    def ready(self) -> Trouble | None:
        try:
            require_installed(self._there)
            if _store_sum(self._settings) != self._store_sum:
                raise ConfigError(
                    "the store of the memory is another one there; put it on a disk that all nodes share, "
                    "or use a store in PostgreSQL",
                    key="store",
                )
            self._analysis = ChunkAnalysis(self._settings)
        except EpisodicAbsaError as error:
            return Trouble.of(error)
        return None

    def analyse(self, samples: Sequence[Sample]) -> list[Outcome] | Trouble:
        assert self._analysis is not None  # noqa: S101 - it was ready
        try:
            return self._runner.run(self._analysis.outcomes_of(samples))
        except EpisodicAbsaError as error:
            return Trouble.of(error)


def _store_sum(settings: EngineSettings) -> str:
    """Return the hash of the store file that a condition reads; "" for none, or for a database that all nodes share."""
    if not settings.condition.retrieval_execute or "://" in settings.store:
        return ""
    path = Path(settings.store)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "none"
