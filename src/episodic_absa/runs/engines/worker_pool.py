"""The workers of a grid on a cluster: started, lent to one task after another, replaced when they are lost."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import reduce
from importlib.metadata import version
from typing import Any, Final

from episodic_absa.errors import ConfigError, EpisodicAbsaError
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.engines.cell_task import AnalysedSample, CellTask, TaskEnd, Trouble, WorkerNews
from episodic_absa.runs.engines.cell_worker import CellWorker
from episodic_absa.runs.engines.request_desk import CONCURRENCY_GROUPS, RequestDesk
from episodic_absa.runs.request_counts import RequestCounts

logger = logging.getLogger("episodic_absa.runs")

_TASKS_WITH_THE_ENGINE: Final = 2
"""Tasks of a worker that computes: the second one fills the moment in which the first one ends."""
_TASKS_WITH_A_SERVER: Final = 64
"""Tasks of a worker that waits for a server most of the time."""
_MOST_STARTS: Final = 4
"""Of a worker that ends before it is ready."""
_PATIENCE_S: Final = 30.0
_SECONDS_BETWEEN_NEWS: Final = 0.5
_NEWS_TIMEOUT_S: Final = 5.0


class WorkerLostError(Exception):
    """A worker ended in the middle of a task; what it had sent stands."""


class WorkerPool:
    """The workers of one experiment. Whoever starts it closes it.

    Args:
        ray: the module, connected to the cluster.
        config: the experiment.
        workers: how many.
        asks_a_server: whether requests are limited and counted.
    """

    def __init__(self, ray: Any, config: ExperimentConfig, *, workers: int, asks_a_server: bool) -> None:
        self._ray = ray
        self._config = config
        self._asks_a_server = asks_a_server
        self._seats = [_Seat(number) for number in range(1, workers + 1)]
        self._free: asyncio.Queue[_Seat | EpisodicAbsaError] = asyncio.Queue()
        """A seat for every task that its worker has room for."""
        self._desk: Any = None
        self._listening: asyncio.Task[None] | None = None
        self._news: dict[str, WorkerNews] = {}
        self._told: set[str] = set()

    @property
    def size(self) -> int:
        """The number of workers."""
        return len(self._seats)

    @property
    def counts(self) -> RequestCounts:
        """The requests of all workers, lost ones included, as they told them last."""
        return reduce(RequestCounts.plus, (news.counts for news in self._news.values()), RequestCounts())

    @property
    def honours_seed(self) -> bool:
        """Whether no worker found a server that refuses a seed."""
        return all(news.honours_seed for news in self._news.values())

    def start(self) -> None:
        """Start the workers; a task waits until one of them is ready."""
        if self._asks_a_server:
            here = {"ray.io/node-id": self._ray.get_runtime_context().get_node_id()}
            actor = self._ray.remote(num_cpus=0, concurrency_groups=CONCURRENCY_GROUPS, label_selector=here)
            self._desk = actor(RequestDesk).remote(self._config.file.experiment.concurrency)
            self._listening = asyncio.create_task(self._listen())
        for seat in self._seats:
            self._start(seat)
            self._free_when_ready(seat, _TASKS_WITH_A_SERVER if self._asks_a_server else _TASKS_WITH_THE_ENGINE)

    async def close(self) -> None:
        """End the workers, after they have told what they sent."""
        if self._listening is not None:
            self._listening.cancel()
            await self._hear_all()
        for seat in self._seats:
            seat.ready.cancel()
            self._ray.kill(seat.actor)
        if self._desk is not None:
            self._ray.kill(self._desk)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator["LentWorker"]:
        """Wait for a worker that has room for a task, and lend it.

        Raises:
            ConfigError: a worker cannot work, because of what is installed or missing on its node.
        """
        seat = await self._next_free()
        if isinstance(seat, EpisodicAbsaError):
            self._free.put_nowait(seat)  # for the others who wait
            raise seat
        try:
            yield LentWorker(self, seat)
        finally:
            self._free_when_ready(seat)

    async def stream(self, seat: "_Seat", task: CellTask) -> AsyncIterator[AnalysedSample | TaskEnd | Trouble]:
        """Yield what the worker of a seat yields.

        Raises:
            WorkerLostError: the worker ended; another one takes its seat.
        """
        name, errors = seat.name, self._ray.exceptions
        try:
            async for reference in seat.actor.run.options(num_returns="streaming").remote(task):
                yield await reference
        except errors.RayTaskError:
            raise
        except errors.RayError as error:
            await self._replace(seat, name)
            raise WorkerLostError(type(error).__name__) from error

    async def _next_free(self) -> "_Seat | EpisodicAbsaError":
        try:
            return await asyncio.wait_for(self._free.get(), _PATIENCE_S)
        except TimeoutError:
            if not any(seat.ready.done() for seat in self._seats):
                logger.warning("the Ray cluster has no free CPU; waiting for one (`ray status` says what takes them)")
            return await self._free.get()

    def _free_when_ready(self, seat: "_Seat", places: int = 1) -> None:
        def free(ready: "asyncio.Task[None]") -> None:
            if ready.cancelled():
                return
            error = ready.exception()
            for _ in range(places):
                self._free.put_nowait(error if isinstance(error, EpisodicAbsaError) else seat)

        if seat.ready.done():
            free(seat.ready)
        else:
            seat.ready.add_done_callback(free)

    def _start(self, seat: "_Seat") -> None:
        self._start_actor(seat)
        seat.ready = asyncio.create_task(self._wait_until_ready(seat))

    def _start_actor(self, seat: "_Seat") -> None:
        seat.start_n += 1
        # Spread over the nodes. A lost worker is replaced here and not by Ray, so that its places are known to be free.
        actor = self._ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(CellWorker)
        seat.actor = actor.remote(self._config, version("episodic-absa"), self._desk, seat.name)

    async def _wait_until_ready(self, seat: "_Seat") -> None:
        reason = ""
        for _ in range(_MOST_STARTS):
            try:
                trouble: Trouble | None = await seat.actor.ready.remote()
            except self._ray.exceptions.RayError as error:
                reason = _last_line(error)
                self._start_actor(seat)
                continue
            if trouble is not None:
                raise ConfigError(
                    f"a worker on {trouble.host} cannot work: {trouble.error}", key="experiment.ray_address"
                ) from trouble.error
            return
        raise ConfigError(
            f"workers of the Ray cluster end while they start: {reason}. Check that episodic-absa is installed on "
            "every node, and the memory of the nodes; the logs of Ray say more",
            key="experiment.ray_address",
        )

    async def _replace(self, seat: "_Seat", name: str) -> None:
        """Start another worker in the seat, unless another of its tasks has noticed the loss before."""
        if seat.name != name:
            return
        logger.info("%s of the Ray cluster is lost; another one takes its place", name)
        self._start(seat)
        if name in self._news:
            counts = replace(self._news[name].counts, in_flight_n=0)
            self._news[name] = self._news[name]._replace(counts=counts)
        if self._desk is not None:
            await self._desk.forget.options(concurrency_group="short").remote(name)

    async def _listen(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_NEWS)
            await self._hear_all()

    async def _hear_all(self) -> None:
        await asyncio.gather(*(self._hear(seat) for seat in self._seats if seat.is_ready))

    async def _hear(self, seat: "_Seat") -> None:
        name = seat.name
        try:
            news: WorkerNews = await asyncio.wait_for(_result_of(seat.actor.news.remote()), _NEWS_TIMEOUT_S)
        except (TimeoutError, self._ray.exceptions.RayError):
            return
        self._news[name] = news
        for warning in news.warnings:
            if warning not in self._told:
                self._told.add(warning)
                logger.warning("%s", warning)


class LentWorker:
    """A worker with room for one task."""

    def __init__(self, pool: WorkerPool, seat: "_Seat") -> None:
        self._pool = pool
        self._seat = seat

    def run(self, task: CellTask) -> AsyncIterator[AnalysedSample | TaskEnd | Trouble]:
        """Yield the samples of the task in their order, then its end.

        Raises:
            WorkerLostError: the worker ended before the task did.
        """
        return self._pool.stream(self._seat, task)


class _Seat:
    """The place of one worker; when it is lost, another one takes it."""

    ready: "asyncio.Task[None]"

    def __init__(self, number: int) -> None:
        self.number = number
        self.start_n = 0
        self.actor: Any = None

    @property
    def name(self) -> str:
        """The name of the worker that has the seat now."""
        return f"worker {self.number}.{self.start_n}"

    @property
    def is_ready(self) -> bool:
        return self.ready.done() and not self.ready.cancelled() and self.ready.exception() is None


async def _result_of(call: Any) -> Any:
    return await call


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
