"""How a batch is shared out over a cluster: workers, reviews per task, requests per worker."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from episodic_absa.backends.provider_facts import facts_of, reader_fingerprint
from episodic_absa.batch.batch_plan import DEFAULT_CONCURRENCY, EngineSettings
from episodic_absa.batch.running_batch import REMEMBERED_LOCALLY, REMEMBERED_REMOTELY
from episodic_absa.errors import ConfigError
from episodic_absa.runs.engines.worker_number import cores_of, usual_workers

_MOST_IN_A_TASK: Final = 64
"""Half a second of the embedded engine: a lost worker repeats little, and Ray's own work stays below a hundredth."""
_TASKS_PER_WORKER: Final = 4
"""Short files are cut finer, so that no worker waits for the last task of another."""
_ROUNDS_IN_A_TASK: Final = 16
"""Reviews of a task for each request in flight: at the end of a task places stay empty."""


@dataclass(frozen=True)
class ClusterJob:
    """What is analysed, and how much of the cluster it may use."""

    settings: EngineSettings
    store: str
    """The store that a condition reads: a path or an address."""
    rows_n: int
    language: str | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    """Requests in flight, over the whole cluster."""
    workers: int | None = None
    """None: as many as the cluster has cores and memory for."""

    def __post_init__(self) -> None:
        condition = self.settings.condition
        if condition.store_write:
            raise ConfigError(
                f"condition {condition.name} writes a memory, so that each review depends on those before it; "
                "analyse in this process (--engine local), or choose a condition that writes none, such as C1",
                key="engine",
            )
        if self.settings.backbone.record is not None:
            raise ConfigError("workers write no recording; leave --record or --engine ray out", key="record")

    @property
    def asks_a_server(self) -> bool:
        """Whether answers come from a server, whose requests are limited."""
        return not facts_of(self.settings.backbone).is_local

    @property
    def reads_memory(self) -> bool:
        """Whether the condition reads the store."""
        return self.settings.condition.retrieval_execute

    def plan_for(self, resources: Mapping[str, float]) -> "ClusterPlan":
        """Return the plan for a cluster with so many cores and so much memory.

        Raises:
            ConfigError: the cluster is smaller than what was asked for.
        """
        cores = cores_of(resources)
        if self.workers is not None and self.workers > cores:
            raise ConfigError(
                f"{self.workers} workers need as many CPUs, and the Ray cluster has {cores}; ask for at most {cores}",
                key="processes",
            )
        workers = self.workers or usual_workers(
            resources, most=self.rows_n, concurrency=self.concurrency, asks_a_server=self.asks_a_server
        )
        requests = self.concurrency
        if self.asks_a_server:
            # One request is kept back for reviews that are tried again, so that the limit holds over all workers.
            workers = min(workers, max(1, self.concurrency - 1))
            requests = max(1, (self.concurrency - 1) // workers)
        in_a_task = _ROUNDS_IN_A_TASK * requests if self.asks_a_server else _MOST_IN_A_TASK
        return ClusterPlan(
            job=self,
            workers=workers,
            requests_per_worker=requests,
            reviews_per_task=max(1, min(in_a_task, -(-self.rows_n // (_TASKS_PER_WORKER * workers)))),
            remembered_n=self._remembered_n,
            tries_again=not self.asks_a_server or self.concurrency > 1,
            installed=installed(),
            store_sum=sum_of(self.store) if self.reads_memory else "",
        )

    @property
    def _remembered_n(self) -> int:
        if self.reads_memory:
            return 0
        return REMEMBERED_REMOTELY if self.asks_a_server else REMEMBERED_LOCALLY


@dataclass(frozen=True)
class ClusterPlan:
    """Everything that a worker needs; it can be pickled."""

    job: ClusterJob
    workers: int
    requests_per_worker: int
    reviews_per_task: int
    remembered_n: int
    """How many different texts are kept, so that an equal one is not analysed again."""
    tries_again: bool
    """Whether a text is analysed again if an equal one failed before; a single request leaves no room for it."""
    installed: str
    """What is installed where the command runs; workers with something else are refused."""
    store_sum: str
    """Of the store that the condition reads; empty if it reads none or a database."""


def installed() -> str:
    """Return the version of this package and the hash of its engine: nodes that agree give the same results."""
    return f"{version('episodic-absa')} {reader_fingerprint()}"


def sum_of(store: str) -> str:
    """Return the hash of a store file, `none` if there is no file, "" for a database, which all nodes share."""
    if "://" in store:
        return ""
    path = Path(store)
    if not path.exists():
        return "none"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
