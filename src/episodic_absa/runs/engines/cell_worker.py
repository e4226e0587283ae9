"""The worker of a grid on a cluster: opens the backend once and runs samples of many cells side by side."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from episodic_absa.backends.backend import Backend
from episodic_absa.errors import ConfigError, EpisodicAbsaError
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore, SlotAnswer
from episodic_absa.memory.memory_store import Scratch
from episodic_absa.pipeline.memory_view import MemoryView, WriteInputs
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.config.cfg_hash import resource_hashes
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.engines.cell_task import AnalysedSample, CellTask, TaskEnd, Trouble, WorkerNews
from episodic_absa.runs.engines.request_desk import DeskClient
from episodic_absa.runs.experiment_pipeline import build_experiment_pipeline
from episodic_absa.runs.ordered_run import OrderedRun, Pace, SampleFailure
from episodic_absa.runs.run_backend import ClusterLimits, open_backend
from episodic_absa.runs.run_directory import STORE
from episodic_absa.schemas.absa import Sample, Stage1Result
from episodic_absa.schemas.run import StoreDecision
from episodic_absa.schemas.run_files.sample_record import SampleRecord
from episodic_absa.schemas.run_meta import Speculation
from episodic_absa.store.exported_lines import read_lines

_WARNINGS_KEPT: Final = 20
_LEFT_TO_THE_DRIVER: Final = StoreDecision(store_decision="skipped", store_skip_reason="store_write_disabled")


class CellWorker:
    """Runs tasks of one experiment. All methods run in one event loop.

    Args:
        config: the experiment; keys for models come from the environment of the worker.
        package: the version of this package where the command runs.
        desk: the actor that limits requests over all workers; None if no server is asked.
        name: of this worker, for the desk.
    """

    def __init__(self, config: ExperimentConfig, package: str, desk: Any, name: str) -> None:
        self._config = config
        self._package = package
        self._desk = None if desk is None else DeskClient(desk, name)
        self._opening = AsyncExitStack()
        self._opened: asyncio.Task[Backend] | None = None
        self._news = _Warnings()
        logging.getLogger("episodic_absa").addHandler(self._news)
        self._counts: Callable[[], Any] | None = None

    async def ready(self) -> Trouble | None:
        """Open the backend; return why it cannot be used here, None if it can."""
        try:
            if version("episodic-absa") != self._package:
                raise ConfigError(
                    f"episodic-absa {version('episodic-absa')} is installed there, and {self._package} where the "
                    "command runs; install the same version on every node",
                    key="experiment.ray_address",
                )
            await self._backend()
        except EpisodicAbsaError as error:
            return Trouble(error, socket.gethostname())
        return None

    async def news(self) -> WorkerNews:
        """Return the request counts so far, and the warnings since the last call."""
        backend, counts = await self._backend(), self._counts
        assert counts is not None  # noqa: S101 - the backend is open
        return WorkerNews(counts(), self._news.taken(), backend.honours_seed)

    async def run(self, task: CellTask) -> AsyncIterator[AnalysedSample | TaskEnd | Trouble]:
        """Yield every sample of a task in its order as soon as it is done, then the end or what went wrong."""
        done: asyncio.Queue[AnalysedSample | None] = asyncio.Queue()
        running = asyncio.create_task(self._run(task, done.put_nowait))
        running.add_done_callback(lambda _: done.put_nowait(None))
        try:
            while (analysed := await done.get()) is not None:
                yield analysed
            yield await running
        finally:
            running.cancel()

    async def _run(self, task: CellTask, tell: Callable[[AnalysedSample], None]) -> TaskEnd | Trouble:
        try:
            self._require_same_files(task)
            return await self._run_with(self._own_store(task.store), task, tell)
        except EpisodicAbsaError as error:
            return Trouble(error, socket.gethostname())

    async def _run_with(self, store: MemoryStore, task: CellTask, tell: Callable[[AnalysedSample], None]) -> TaskEnd:
        experiment = self._config.file.experiment
        pipeline = build_experiment_pipeline(
            self._config, backend=await self._backend(), condition=task.condition, store=store
        )
        noted: dict[int, _NotedMemory] = {}

        def commit(index: int, outcome: SampleResult | SampleFailure | SampleRecord) -> None:
            assert not isinstance(outcome, SampleRecord)  # noqa: S101 - the driver keeps those
            memory = noted.pop(index)
            tell(AnalysedSample(outcome, memory.write_inputs, memory.defers_read))

        ordered = _NotingRun(
            pipeline.supervisor,
            pipeline.memory,
            _one_after_another(task.samples),
            commit,
            first_index=task.first_index,
            seed=task.seed,
            used_in_eval=task.used_in_eval,
            pace=Pace(
                samples_ahead=2 * experiment.concurrency,
                speculate_ahead=experiment.speculate_ahead if experiment.speculate else 0,
            ),
        )
        ordered.note_in(noted, task)
        try:
            await ordered.run()
        finally:
            pipeline.memory.close()
        return TaskEnd(Speculation(redone_samples=ordered.redone_n, wasted_calls=ordered.wasted_calls_n))

    def _own_store(self, lines: bytes | None) -> MemoryStore:
        """Return a copy of the cell's store that ends with the task; the driver writes the store itself."""
        keep_last_n = self._config.file.episodic_memory.keep_last_n
        store = MemoryStore(Scratch(Path(STORE)), keep_last_n=keep_last_n)
        store.take_in(read_lines((lines or b"").splitlines(keepends=True), store.shown))
        return store

    async def _backend(self) -> Backend:
        if self._opened is None:
            self._opened = asyncio.create_task(self._open())
        return await asyncio.shield(self._opened)

    async def _open(self) -> Backend:
        limits = None if self._desk is None else ClusterLimits(self._desk, self._desk)
        opened = await self._opening.enter_async_context(open_backend(self._config, use_cache_file=True, limits=limits))
        self._counts = lambda: opened.cache.counts(self._config.file.experiment.concurrency)
        return opened.backend

    def _require_same_files(self, task: CellTask) -> None:
        here = resource_hashes(self._config, task.condition)
        differing = sorted(name for name in task.resources if task.resources[name] != here.get(name))
        if differing:
            raise ConfigError(
                f"files that results depend on are others on {socket.gethostname()} than where the command runs: "
                f"{', '.join(differing)}. Install the same version on every node, and put the files that the "
                "experiment names on a disk that all nodes share, under the same path",
                key="experiment.ray_address",
            )


class _NotedMemory(MemoryView):
    """The memory of one sample; it notes what the driver needs to write, and leaves memory to the driver if told."""

    def __init__(self, orchestrator: EpisodicOrchestrator, task: CellTask, index: int) -> None:
        super().__init__(orchestrator, sample_index=index, seed=task.seed, used_in_eval=task.used_in_eval)
        self._defers = task.defers_memory
        self.write_inputs: WriteInputs | None = None
        self.defers_read = False

    async def read(self, sample: Sample, stage1: Stage1Result) -> SlotAnswer:
        if self._defers and self.condition.retrieval_execute:
            self.defers_read = True
            return self.without_debate()
        return await super().read(sample, stage1)

    async def write(self, sample: Sample, stage1: Stage1Result, inputs: WriteInputs) -> StoreDecision:
        self.write_inputs = inputs
        if self._defers and self.condition.store_write:
            return _LEFT_TO_THE_DRIVER
        return await super().write(sample, stage1, inputs)


class _NotingRun(OrderedRun):
    """An ordered run whose samples note what they write."""

    def note_in(self, noted: dict[int, _NotedMemory], task: CellTask) -> None:
        """Keep the memory of every sample in `noted`, by its index."""
        self._noted, self._task = noted, task

    def memory_now(self, index: int) -> MemoryView:
        """Return the memory as it is now; of a sample that runs again the later memory counts."""
        self._noted[index] = _NotedMemory(self.orchestrator, self._task, index)
        return self._noted[index]


class _Warnings(logging.Handler):
    """Keeps the warnings of this package until the driver asks for them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._messages) < _WARNINGS_KEPT:
            self._messages.append(record.getMessage())

    def taken(self) -> tuple[str, ...]:
        """Return the messages and forget them."""
        messages, self._messages = tuple(self._messages), []
        return messages


async def _one_after_another(samples: Iterable[Sample]) -> AsyncIterator[Sample]:
    for sample in samples:
        yield sample
