"""A batch that is being analysed, in the event loop of its analyzer."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from typing import Final, Self

from episodic_absa.backends.limited_backend import LimitedBackend
from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.batch.batch_plan import BatchPlan
from episodic_absa.batch.engine_pool import EnginePool
from episodic_absa.batch.review_batch import Outcome, ReviewBatch
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.ordered_run import OrderedRun, Pace, SampleFailure
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run_files.sample_record import SampleRecord

_CHUNK: Final = 16
"""Reviews that a process gets at once: a tenth of a second of work."""
_LOCAL_WINDOW: Final = 32
_CHUNKS_AHEAD: Final = 4
REMEMBERED_LOCALLY: Final = 500
"""An engine in this computer is quick; its results take much memory."""
REMEMBERED_REMOTELY: Final = 10_000
"""What was paid for is kept longer, as bytes."""


class RunningBatch:
    """Takes reviews and gives their outcomes in order. Make one with `start`."""

    def __init__(self, plan: BatchPlan, processes: int) -> None:
        is_local = plan.pipeline.backend.is_local
        remembered_n = REMEMBERED_LOCALLY if is_local else REMEMBERED_REMOTELY
        self._batch = ReviewBatch(remembered_n=0 if plan.has_memory else remembered_n, pack=not is_local)
        self._work = asyncio.create_task(self._run(plan, processes))

    @classmethod
    async def start(cls, plan: BatchPlan, processes: int) -> Self:
        """Start the analysis, which waits for reviews."""
        return cls(plan, processes)

    async def put(self, samples: Sequence[Sample | AnalysisFailure], *, is_last: bool) -> None:
        """Add reviews."""
        self._batch.put(samples, is_last=is_last)

    async def take(self) -> list[Outcome]:
        """Return the next outcomes, at least one; an empty list after the last.

        Raises:
            EpisodicAbsaError: an error that concerns more than one review.
        """
        outcomes = await self._batch.take()
        if not outcomes:
            await self._work
        return outcomes

    async def exchange(self, samples: Sequence[Sample | AnalysisFailure], *, is_last: bool) -> list[Outcome]:
        """Add reviews and return the next outcomes."""
        self._batch.put(samples, is_last=is_last)
        return await self.take()

    async def close(self) -> None:
        """Give up what is under way and wait for its end."""
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    async def _run(self, plan: BatchPlan, processes: int) -> None:
        try:
            if processes == 1:
                await self._in_this_process(plan)
            else:
                await self._in_processes(plan, processes)
        finally:
            self._batch.end()

    async def _in_this_process(self, plan: BatchPlan) -> None:
        pipeline = plan.pipeline
        limited = LimitedBackend(pipeline.backend, plan.concurrency)

        def commit(_: int, outcome: SampleResult | SampleFailure | SampleRecord) -> None:
            if isinstance(outcome, SampleFailure):
                self._batch.finish(AnalysisFailure.of(outcome.sample, outcome.error))
            elif isinstance(outcome, SampleResult):
                self._batch.finish(outcome)

        await OrderedRun(
            pipeline.supervisor.asking(limited),
            pipeline.memory,
            self._batch.fresh(),
            commit,
            first_index=plan.first_index,
            seed=plan.seed,
            used_in_eval=False,
            pace=Pace(samples_ahead=plan.samples_ahead),
        ).run()

    async def _in_processes(self, plan: BatchPlan, processes: int) -> None:
        assert plan.settings is not None  # noqa: S101 - the plan refuses several processes without settings
        chunks: asyncio.Queue[Future[list[Outcome]] | None] = asyncio.Queue()

        async def share_out(pool: EnginePool) -> None:
            async for sample in self._batch.fresh():
                chunks.put_nowait(pool.submit([sample, *self._batch.fresh_now(_CHUNK - 1)]))
            chunks.put_nowait(None)

        async def collect() -> None:
            while (chunk := await chunks.get()) is not None:
                for outcome in await asyncio.wrap_future(chunk):
                    self._batch.finish(outcome)

        with closing(EnginePool(plan.settings, processes)) as pool:
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(share_out(pool))
                    tasks.create_task(collect())
            except* Exception as group:
                raise group.exceptions[0] from group


def window_of(plan: BatchPlan, processes: int) -> int:
    """Return how many reviews a batch holds at once: enough to keep every place busy, and no more."""
    if processes > 1:
        return processes * _CHUNKS_AHEAD * _CHUNK
    return _LOCAL_WINDOW if plan.pipeline.backend.is_local else 2 * plan.samples_ahead
