"""The analysis of one cell by workers. What they send is written to the cell's memory and committed here, in order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from episodic_absa.errors import RunDirectoryError
from episodic_absa.memory import PrincipleCatalogue, SlotAnswer
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.engines.cell_task import AnalysedSample, CellTask, TaskEnd, Trouble
from episodic_absa.runs.engines.sample_engine import NO_SPECULATION, CellWork
from episodic_absa.runs.engines.worker_pool import WorkerLostError
from episodic_absa.runs.ordered_run import SampleFailure
from episodic_absa.schemas.absa import Sample, Stage1Result
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_meta import Speculation

_MOST_IN_A_SLICE: Final = 32
_SLICES_PER_WORKER: Final = 4
"""Small cells are cut finer, so that no worker waits for the last slice of another."""
_SLICES_AHEAD_PER_WORKER: Final = 3
_MOST_LOSSES: Final = 4
"""Workers that a task may lose one after another without one more sample; a sample may end them all."""


def is_sliced(condition: Condition) -> bool:
    """Return whether workers analyse slices of a cell side by side: no prompt ever shows memory.

    Memory is then read and written by the driver at each sample's turn, as an ordered run does it. What is neither
    masked nor written is read before the debate, where a read that fails ends the sample: such a cell stays whole.
    """
    reads_at_its_turn = condition.store_write or condition.injection_mask or not condition.retrieval_execute
    return not condition.is_exposed and reads_at_its_turn


def slice_size(condition: Condition, sample_n: int, workers: int) -> int:
    """Return how many samples of a cell one task has."""
    if not is_sliced(condition):
        return max(1, sample_n)
    return max(1, min(_MOST_IN_A_SLICE, -(-sample_n // (_SLICES_PER_WORKER * workers))))


class Workers(Protocol):
    """What a cell needs of a `WorkerPool`."""

    @property
    def size(self) -> int:
        """The number of workers."""
        ...

    def lent(self) -> AbstractAsyncContextManager["TaskRunner"]:
        """Wait for a worker that has room for a task, and lend it."""
        ...


class TaskRunner(Protocol):
    """A worker with room for one task."""

    def run(self, task: CellTask) -> AsyncIterator[AnalysedSample | TaskEnd | Trouble]:
        """Yield the samples of the task in their order, then its end."""
        ...


@dataclass
class _Slice:
    first_index: int
    samples: Sequence[Sample]
    task: "asyncio.Task[None] | None" = None


@dataclass
class RemoteAnalysis:
    """Asks workers for the results of a cell's samples. It is the supervisor of the cell's ordered run."""

    work: CellWork
    pool: Workers
    concurrency: int
    resources: dict[str, Any]
    """The hashes of the files that results depend on."""
    speculation: Speculation = NO_SPECULATION
    _slices: dict[str, _Slice] = field(default_factory=dict)
    """By the uids of their samples."""
    _arrived: dict[str, "asyncio.Future[AnalysedSample]"] = field(default_factory=dict)
    _unwritten: set[str] = field(default_factory=set)
    """Samples that arrived and may still be written to the memory."""
    _is_written: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        loop, samples = asyncio.get_running_loop(), list(self.work.samples.items())
        size = slice_size(self._condition, len(samples), self.pool.size)
        for start in range(0, len(samples), size):
            part = samples[start : start + size]
            piece = _Slice(part[0][0], [sample for _, sample in part])
            for sample in piece.samples:
                self._slices[sample.uid] = piece
                self._arrived[sample.uid] = loop.create_future()
        self.samples_ahead = max(2 * self.concurrency, _SLICES_AHEAD_PER_WORKER * size * self.pool.size)

    @property
    def supervisor(self) -> "RemoteAnalysis":
        """This object: an ordered run asks it as it asks a supervisor."""
        return self

    @property
    def _condition(self) -> Condition:
        return self.work.cell.condition

    async def run(
        self,
        sample: Sample,
        memory: MemoryView,
        *,
        seed: int = 0,  # noqa: ARG002 - workers know the seed of the cell
        asking: Asking | None = None,
    ) -> SampleResult:
        """Return the result of a worker, with what the cell's memory reads and writes at the sample's turn."""
        try:
            analysed = await self._analysed(sample)
            outcome = analysed.outcome
            if asking is not None:
                asking.calls[:] = outcome.calls
            if isinstance(outcome, SampleFailure):
                raise outcome.error
            return await self._with_memory_of_the_cell(analysed, outcome, memory)
        finally:
            self._unwritten.discard(sample.uid)
            self._is_written.set()

    def new_asking(self, condition: Condition, seed: int) -> Asking:
        """Return a recorder for the calls of one sample."""
        return self.work.pipeline.supervisor.new_asking(condition, seed)

    def may_show_memory(self, condition: Condition, sample: Sample, stage1: Stage1Result) -> bool:
        """Return whether a prompt of this sample may show memory."""
        return self.work.pipeline.supervisor.may_show_memory(condition, sample, stage1)

    def with_memory(self, result: SampleResult, answer: SlotAnswer, catalogue: PrincipleCatalogue) -> SampleResult:
        """Return the result with the memory record of a later read."""
        return self.work.pipeline.supervisor.with_memory(result, answer, catalogue)

    async def close(self) -> None:
        """Let no task of the cell run on."""
        tasks = {piece.task for piece in self._slices.values() if piece.task is not None}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _with_memory_of_the_cell(
        self, analysed: AnalysedSample, result: SampleResult, memory: MemoryView
    ) -> SampleResult:
        if analysed.defers_read:
            answer = await memory.read(result.sample, result.stage1)
            result = self.with_memory(result, answer, memory.catalogue)
        assert analysed.write is not None  # noqa: S101 - who has a result came to write
        # Also where nothing is stored: this is where a sample waits for its turn.
        decision = await memory.write(result.sample, result.stage1, analysed.write)
        if not is_sliced(self._condition) and decision != result.store:
            raise RunDirectoryError(
                f"the memory of a worker is not that of {self.work.cell.path} at {result.sample.uid}; "
                "continue this run with experiment.engine: local, and please report it",
                path=self.work.cell.path,
            )
        return replace(result, store=decision)

    async def _analysed(self, sample: Sample) -> AnalysedSample:
        piece, arrived = self._slices[sample.uid], self._arrived[sample.uid]
        if piece.task is None:
            piece.task = asyncio.create_task(self._run_slice(piece))
        either: set[asyncio.Future[Any]] = {arrived, piece.task}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not arrived.done():
            piece.task.result()  # raises: a task that ends well has sent all its samples
        del self._arrived[sample.uid]
        return arrived.result()

    async def _run_slice(self, piece: _Slice) -> None:
        done_n = loss_n = 0
        while done_n < len(piece.samples):
            async with self.pool.lent() as worker:
                try:
                    async for sent in worker.run(self._task_of(piece, done_n)):
                        if isinstance(sent, Trouble):
                            raise sent.error
                        if isinstance(sent, TaskEnd):
                            self._add_speculation(sent.speculation)
                            continue
                        self._take_in(sent, piece.samples[done_n])
                        done_n, loss_n = done_n + 1, 0
                except WorkerLostError as error:
                    loss_n += 1
                    if loss_n > _MOST_LOSSES:
                        raise self._given_up(piece.samples[done_n], error) from error
            if not is_sliced(self._condition):
                # The next worker continues with the memory that these samples leave.
                await self._written()

    async def _written(self) -> None:
        """Wait until all samples that arrived are in the memory."""
        while self._unwritten:
            self._is_written.clear()
            await self._is_written.wait()

    def _task_of(self, piece: _Slice, done_n: int) -> CellTask:
        cell = self.work.cell
        defers = is_sliced(self._condition)
        store = self.work.pipeline.store if cell.needs_store and not defers else None
        return CellTask(
            condition=self._condition,
            seed=cell.seed,
            used_in_eval=not cell.is_build,
            samples=tuple(piece.samples[done_n:]),
            first_index=piece.first_index + done_n,
            store=None if store is None else b"".join(store.exported_lines()),
            defers_memory=defers,
            resources=self.resources,
        )

    def _take_in(self, analysed: AnalysedSample, expected: Sample) -> None:
        assert analysed.outcome.sample.uid == expected.uid  # noqa: S101 - workers keep the order
        self._unwritten.add(expected.uid)
        self._arrived[expected.uid].set_result(analysed)

    def _add_speculation(self, more: Speculation) -> None:
        self.speculation = Speculation(
            redone_samples=self.speculation.redone_samples + more.redone_samples,
            wasted_calls=self.speculation.wasted_calls + more.wasted_calls,
        )

    def _given_up(self, sample: Sample, error: WorkerLostError) -> RunDirectoryError:
        cell = self.work.cell
        return RunDirectoryError(
            f"{_MOST_LOSSES + 1} workers in a row ended at sample {sample.uid} of {cell.name} ({error}). Check the "
            "memory of the nodes and the logs of Ray, then run again: the run continues from here",
            path=cell.path,
        )
