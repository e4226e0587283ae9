"""Runs the samples of a grid on a Ray cluster. Run directory, memory of the cells and gold stay with the driver."""

import logging
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from episodic_absa.backends.backend import Backend
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.errors import ConfigError
from episodic_absa.runs.config.cells import all_cells
from episodic_absa.runs.config.cfg_hash import resource_hashes
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.engines.ray_cluster import connect
from episodic_absa.runs.engines.remote_analysis import RemoteAnalysis, slice_size
from episodic_absa.runs.engines.sample_engine import Analysis, CellWork
from episodic_absa.runs.engines.worker_number import usual_workers
from episodic_absa.runs.engines.worker_pool import WorkerPool
from episodic_absa.runs.request_counts import RequestCounts

logger = logging.getLogger("episodic_absa.runs")
_KEY = "experiment.engine"


class RayEngine:
    """Analyses on the workers of a cluster, which starts when the first cell has something to run.

    Raises:
        ConfigError: the experiment holds what workers cannot share.
    """

    def __init__(
        self, config: ExperimentConfig, data: ExperimentData, *, use_cache_file: bool, backend: Backend | None
    ) -> None:
        self._config = config
        self._data = data
        self._asks_a_server = not facts_of(config.file.backbone).is_local
        self._pool: WorkerPool | None = None
        self._connection = ExitStack()
        if backend is not None:
            raise ConfigError("a backend of your own answers in this process only; use engine: local", key=_KEY)
        if config.file.backbone.record is not None:
            raise ConfigError("workers write no recording; leave backbone.record or engine: ray out", key=_KEY)
        if self._asks_a_server and not use_cache_file:
            raise ConfigError(
                "the workers of a Ray cluster share their answers through cache.path, so that equal requests get equal "
                "answers; leave --no-cache or engine: ray out",
                key=_KEY,
            )

    def start(self) -> WorkerPool:
        """Connect to the cluster and start its workers, if that is not done yet.

        Raises:
            MissingExtraError: Ray is not installed.
            ConfigError: the cluster cannot be used, or the cache is a file and the cluster has several nodes.
        """
        if self._pool is None:
            address = self._config.file.experiment.ray_address
            cluster = self._connection.enter_context(connect(address, feature="experiment.engine: ray"))
            if self._asks_a_server:
                require_shared_cache(self._config.cache_location, cluster.node_n)
            workers = usual_workers(
                cluster.ray.cluster_resources(),
                most=self._parts_n(cluster.cpu_n),
                concurrency=self._config.file.experiment.concurrency,
                asks_a_server=self._asks_a_server,
            )
            self._pool = WorkerPool(cluster.ray, self._config, workers=workers, asks_a_server=self._asks_a_server)
            self._pool.start()
        return self._pool

    @asynccontextmanager
    async def analysing(self, work: CellWork) -> AsyncIterator[Analysis]:
        """Let workers analyse the samples of a cell."""
        analysis = RemoteAnalysis(
            work,
            self.start(),
            self._config.file.experiment.concurrency,
            resource_hashes(self._config, work.cell.condition),
        )
        try:
            yield analysis
        finally:
            await analysis.close()

    def counts(self) -> RequestCounts:
        """Return the requests of all workers."""
        counts = RequestCounts() if self._pool is None else self._pool.counts
        return replace(counts, in_flight_n=min(counts.in_flight_n, self._config.file.experiment.concurrency))

    @property
    def honours_seed(self) -> bool:
        """Whether no worker found a server that refuses a seed."""
        return self._pool is None or self._pool.honours_seed

    async def close(self) -> None:
        """End the workers and disconnect; a cluster that was started here ends."""
        try:
            if self._pool is not None:
                await self._pool.close()
        finally:
            self._connection.close()

    def _parts_n(self, workers: int) -> int:
        """Return how many tasks the experiment has."""
        parts_n = 0
        for cell in all_cells(self._config):
            sample_n = len(self._data.samples_of(cell))
            parts_n += -(-sample_n // slice_size(cell.condition, sample_n, max(1, workers)))
        return parts_n


def require_shared_cache(location: Path | str, node_n: int) -> None:
    """Refuse a cache that the nodes of a cluster cannot share.

    Raises:
        ConfigError: it is a file and there are several nodes.
    """
    if node_n > 1 and isinstance(location, Path):
        raise ConfigError(
            f"the Ray cluster has {node_n} nodes, and cache.path is a file, which only one machine can use: the nodes "
            "would send equal requests and get different answers. Set cache.path to a database that all nodes reach: "
            "postgresql://HOST/DATABASE",
            key="cache.path",
        )
