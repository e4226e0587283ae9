"""The samples of a grid on a Ray cluster. Run directory, memory of the cells and gold stay with the command.

A cell that writes its memory is one part, because a sample depends on those before it; any other cell is cut into
several. The parts of all cells are analysed side by side, each by one worker. What arrives is committed here, in order.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.backends.create_backend import create_backend
from episodic_absa.contrib.ray.ray_cluster import Trouble, connect, installed, require_installed, worker_number
from episodic_absa.errors import ConfigError, EpisodicAbsaError, RunDirectoryError
from episodic_absa.memory import MemoryStore, Scratch
from episodic_absa.pipeline.composition import Pipeline
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.cell_run import AnalyseCell, CellWork, Commit
from episodic_absa.runs.config import Cell, ExperimentConfig, cell_named, resource_hashes
from episodic_absa.runs.experiment_pipeline import backbone_of, build_experiment_pipeline
from episodic_absa.runs.ordered_run import OrderedRun, Pace, SampleFailure
from episodic_absa.runs.run_directory import STORE
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run_files.manifest import Speculation
from episodic_absa.schemas.run_files.sample_record import SampleRecord
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.store.exported_lines import read_lines

_IN_A_PART: Final = 64
_IN_A_CHUNK: Final = 8
"""Samples that a worker sends at once: after its loss no more are analysed again."""
_PARTS_AHEAD_PER_WORKER: Final = 3
_MOST_LOSSES: Final = 4
"""Workers that a part may lose one after another without one more sample; a sample may end them all."""
_PIPELINES_HELD: Final = 8
"""Of other cells, by one worker."""
_KEY: Final = "experiment.ray_address"
Outcome = SampleResult | SampleFailure


@contextmanager
def ray_grid(config: ExperimentConfig) -> Iterator[AnalyseCell]:
    """Yield what analyses the cells of an experiment on the cluster that its config names.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigError: the cluster cannot be used.
    """
    address = config.file.experiment.ray_address
    with connect(address, feature="experiment.engine: ray", key=_KEY) as ray:
        grid = _RayGrid(ray, config, worker_number(ray))
        try:
            yield grid.analyse
        finally:
            grid.close()


class CellChunk(NamedTuple):
    """Samples of one cell, one behind the other."""

    cell: str
    """Its name."""
    samples: Sequence[tuple[int, Sample]]
    """By their places in the cell."""
    store: Any
    """Refers to the lines of the cell's store before the part of these samples; None if memory is not touched."""
    resources: Mapping[str, Any]
    """The hashes of the files that results depend on; a worker with other files refuses the chunk."""


class _Part:
    """Samples of a cell that one worker analyses, and the outcomes that have arrived."""

    def __init__(self, places: range) -> None:
        self.places = places
        self.arrived: asyncio.Queue[Outcome] = asyncio.Queue()


class _RayGrid:
    """The workers of one experiment; each is started when a part needs it."""

    def __init__(self, ray: Any, config: ExperimentConfig, workers: int) -> None:
        self._ray = ray
        self._workers = [_Worker(ray, config) for _ in range(workers)]
        # The worker that was used last is taken first: one that is not needed is not started.
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in reversed(self._workers):
            self._idle.put_nowait(worker)

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.stop()

    async def analyse(self, work: CellWork, commit: Commit) -> Speculation:
        """Let workers analyse the samples of a cell, and commit what they send."""
        size = len(work.samples) if work.cell.condition.store_write else _IN_A_PART
        left = range(work.first_index, len(work.samples))
        parts = [_Part(left[start : start + size]) for start in range(0, len(left), max(size, 1))]
        ahead = asyncio.Semaphore(_PARTS_AHEAD_PER_WORKER * len(self._workers))
        resources = resource_hashes(work.config, work.cell.condition)
        beginning = self._store_of(work)
        try:
            async with asyncio.TaskGroup() as tasks:
                for part in parts:
                    tasks.create_task(self._run_part(work, part, beginning, resources, ahead))
                for part in parts:
                    await self._commit_part(work, part, commit)
                    ahead.release()
        except* Exception as group:
            raise group.exceptions[0] from group
        return Speculation(redone_samples=0, wasted_calls=0)

    async def _commit_part(self, work: CellWork, part: _Part, commit: Commit) -> None:
        for place in part.places:
            outcome: Outcome | SampleRecord
            if place in work.kept:
                commit(place, work.kept[place])
                continue
            outcome = await part.arrived.get()
            commit(place, outcome)
            episode = outcome.analysis.kept.episode if isinstance(outcome, SampleResult) else None
            if episode is not None:
                fields = {name: value for name, value in episode if name != "episode_id"}
                work.pipeline.store.append(EpisodeDraftV1_3(**fields))
            part.arrived.task_done()

    async def _run_part(
        self, work: CellWork, part: _Part, store: Any, resources: Mapping[str, Any], ahead: asyncio.Semaphore
    ) -> None:
        """Analyse a part. After the loss of a worker another one goes on, one sample at a time."""
        await ahead.acquire()
        left = deque((place, work.samples[place]) for place in part.places if place not in work.kept)
        loss_n = 0
        while left:
            async with self._lent() as worker:
                whole = CellChunk(work.cell.name, tuple(left), store, resources)
                try:
                    async for outcome in worker.outcomes(whole, 1 if loss_n else _IN_A_CHUNK):
                        left.popleft()
                        part.arrived.put_nowait(outcome)
                        loss_n = 0
                except _WorkerLostError as error:
                    worker.stop()
                    loss_n += 1
                    if loss_n > _MOST_LOSSES:
                        raise _given_up(work, left[0][1], error) from error
            if left:
                # The next worker goes on with the memory that the samples so far have left.
                await part.arrived.join()
                store = self._store_of(work)

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator["_Worker"]:
        worker = await self._idle.get()
        try:
            yield worker
        finally:
            self._idle.put_nowait(worker)

    def _store_of(self, work: CellWork) -> Any:
        return self._ray.put(b"".join(work.pipeline.store.exported_lines())) if work.cell.needs_store else None


class _WorkerLostError(Exception):
    """A worker ended in the middle of its work; what it had sent stands."""


class _Worker:
    """The place of one worker; when the worker is lost, another one takes it."""

    def __init__(self, ray: Any, config: ExperimentConfig) -> None:
        self._ray = ray
        self._config = config
        self._actor: Any = None

    def stop(self) -> None:
        """End the worker, if it was started."""
        if self._actor is not None:
            self._ray.kill(self._actor)
            self._actor = None

    async def outcomes(self, whole: CellChunk, size: int) -> AsyncIterator[Outcome]:
        """Yield the outcomes of samples, which are sent in chunks: one is analysed while another one is committed.

        Raises:
            ConfigError: the worker cannot work, because of what is installed or missing on its node.
            _WorkerLostError: it ended.
        """
        if self._actor is None:
            actor = self._ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(_CellWorker)
            self._actor = actor.remote(self._config, installed())
        under_way: deque[Any] = deque()
        for start in range(0, len(whole.samples), size):
            chunk = whole._replace(samples=whole.samples[start : start + size])
            under_way.append(self._actor.analyse.remote(chunk))
            if len(under_way) > 1:
                for outcome in await self._answer(under_way.popleft()):
                    yield outcome
        for call in under_way:
            for outcome in await self._answer(call):
                yield outcome

    async def _answer(self, call: Any) -> list[Outcome]:
        try:
            answer: list[Outcome] | Trouble = await call
        except self._ray.exceptions.RayTaskError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise ConfigError(
                f"a worker of the Ray cluster cannot work: {lines[-1][:300]}. Check that the same versions of "
                "episodic-absa and Python are installed on every node",
                key=_KEY,
            ) from error
        except self._ray.exceptions.RayError as error:
            raise _WorkerLostError(type(error).__name__) from error
        if isinstance(answer, Trouble):
            raise ConfigError(str(answer), key=_KEY) from answer.error
        return answer


class _CellWorker:
    """Analyses chunks of cells, one after the other, in a process of the cluster."""

    def __init__(self, config: ExperimentConfig, there: str) -> None:
        self._config = config
        self._there = there
        self._backend = create_backend(backbone_of(config))
        self._runner = asyncio.Runner()
        self._pipelines: OrderedDict[tuple[str, Any], Pipeline] = OrderedDict()

    def analyse(self, chunk: CellChunk) -> list[Outcome] | Trouble:
        """Return the outcomes of the samples in order, or the error that concerns more than one of them."""
        try:
            pipeline, cell = self._pipeline_of(chunk), cell_named(self._config, chunk.cell)
            return self._runner.run(_outcomes(pipeline, cell, chunk.samples))
        except EpisodicAbsaError as error:
            return Trouble.of(error)

    def _pipeline_of(self, chunk: CellChunk) -> Pipeline:
        """Return the pipeline of a cell; its memory begins as the first chunk of a part says."""
        key = (chunk.cell, chunk.store and chunk.store.hex())
        if key not in self._pipelines:
            self._require_same(chunk)
            if len(self._pipelines) >= _PIPELINES_HELD:
                _, oldest = self._pipelines.popitem(last=False)
                oldest.memory.close()
            self._pipelines[key] = self._new_pipeline(chunk)
        self._pipelines.move_to_end(key)
        return self._pipelines[key]

    def _new_pipeline(self, chunk: CellChunk) -> Pipeline:
        import ray

        store = MemoryStore(Scratch(Path(STORE)), keep_last_n=self._config.file.episodic_memory.keep_last_n)
        if chunk.store is not None:
            lines: bytes = ray.get(chunk.store)
            store.take_in(read_lines(lines.splitlines(keepends=True), store.shown))
        condition = cell_named(self._config, chunk.cell).condition
        return build_experiment_pipeline(self._config, backend=self._backend, condition=condition, store=store)

    def _require_same(self, chunk: CellChunk) -> None:
        require_installed(self._there)
        here = resource_hashes(self._config, cell_named(self._config, chunk.cell).condition)
        differing = sorted(name for name in chunk.resources if chunk.resources[name] != here.get(name))
        if differing:
            raise ConfigError(
                f"files that results depend on are others there than where the command runs: {', '.join(differing)}. "
                "Install the same version on every node, and put the files that the experiment names on a disk that "
                "all nodes share, under the same path",
                key=_KEY,
            )


async def _outcomes(pipeline: Pipeline, cell: Cell, samples: Sequence[tuple[int, Sample]]) -> list[Outcome]:
    outcomes: list[Outcome] = []

    def take(_: int, outcome: Outcome | SampleRecord) -> None:
        assert not isinstance(outcome, SampleRecord)  # noqa: S101 - the command keeps those
        outcomes.append(outcome)

    for place, sample in samples:
        await OrderedRun(
            pipeline.supervisor,
            pipeline.memory,
            {place: sample},
            take,
            first_index=place,
            seed=cell.seed,
            used_in_eval=not cell.is_build,
            pace=Pace(samples_ahead=1),
        ).run()
    return outcomes


def _given_up(work: CellWork, sample: Sample, error: _WorkerLostError) -> RunDirectoryError:
    return RunDirectoryError(
        f"{_MOST_LOSSES + 1} workers in a row ended at sample {sample.uid} of {work.cell.name} ({error}). Check the "
        "memory of the nodes and the logs of Ray, then run again: the run continues from here",
        path=work.cell.path,
    )
