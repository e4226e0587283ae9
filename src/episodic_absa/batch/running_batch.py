"""A batch that is being analysed, in the event loop of its analyzer: reviews in order, equal texts analysed once."""

import asyncio
import pickle
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Self

from episodic_absa.backends.limited_backend import LimitedBackend
from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.batch.batch_plan import BatchPlan
from episodic_absa.batch.engine_processes import EnginePool, Outcome, Processes
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


@dataclass(slots=True, eq=False)
class _Analysis:
    """One analysis, which several equal reviews may wait for."""

    outcome: Outcome | None = None
    packed: bytes | None = None
    """The outcome in a tenth of the memory, after it was handed out."""

    @property
    def is_done(self) -> bool:
        return self.outcome is not None or self.packed is not None

    def outcome_for(self, sample: Sample | AnalysisFailure) -> Outcome:
        if isinstance(sample, AnalysisFailure):
            return sample
        outcome = self.outcome
        if outcome is None:
            assert self.packed is not None  # noqa: S101 - only finished analyses are handed out
            outcome = pickle.loads(self.packed)  # noqa: S301 - this object packed it
        if isinstance(outcome, AnalysisFailure):
            return replace(outcome, uid=sample.uid)
        return replace(outcome, sample=sample)

    def pack(self) -> None:
        if self.outcome is not None:
            self.packed, self.outcome = pickle.dumps(self.outcome, pickle.HIGHEST_PROTOCOL), None


class RunningBatch:
    """Reviews go in by `put` and come out by `take`, in the same order. Equal texts share one analysis.

    It lives in one event loop; make one with `start`.
    """

    def __init__(self, plan: BatchPlan, processes: Processes | None) -> None:
        is_local = plan.pipeline.backend.is_local
        remembered_n = REMEMBERED_LOCALLY if is_local else REMEMBERED_REMOTELY
        self._remembered_n = 0 if plan.has_memory else remembered_n
        self._packs = not is_local
        self._under_way: deque[tuple[Sample | AnalysisFailure, _Analysis]] = deque()
        self._waiting: deque[Sample] = deque()
        self._started: deque[tuple[Sample, _Analysis]] = deque()
        self._recent: OrderedDict[tuple[str, ...], _Analysis] = OrderedDict()
        self._filled, self._ready = asyncio.Event(), asyncio.Event()
        self._is_closed = False
        self._work = asyncio.create_task(
            self._in_this_process(plan) if processes is None else self._in_processes(plan, processes)
        )
        self._work.add_done_callback(lambda _: self._ready.set())

    @classmethod
    async def start(cls, plan: BatchPlan, processes: Processes | None) -> Self:
        """Start the analysis, which waits for reviews."""
        return cls(plan, processes)

    async def put(self, samples: Iterable[Sample | AnalysisFailure], *, is_last: bool) -> None:
        """Add reviews; what cannot be analysed is a failure from the start."""
        for sample in samples:
            known = _Analysis(sample) if isinstance(sample, AnalysisFailure) else self._analysis_of(sample)
            self._under_way.append((sample, known))
        self._is_closed = self._is_closed or is_last
        self._filled.set()
        self._ready.set()

    async def take(self) -> list[Outcome]:
        """Return the next outcomes, at least one; an empty list after the last.

        Raises:
            EpisodicAbsaError: an error that concerns more than one review.
        """
        while not self._head_is_done() and not self._work.done():
            self._ready.clear()
            await self._ready.wait()
        outcomes = []
        while self._head_is_done():
            sample, analysis = self._under_way.popleft()
            outcomes.append(analysis.outcome_for(sample))
            if self._packs:
                analysis.pack()
        if not outcomes:
            await self._work
        return outcomes

    async def exchange(self, samples: Iterable[Sample | AnalysisFailure], *, is_last: bool) -> list[Outcome]:
        """Add reviews and return the next outcomes."""
        await self.put(samples, is_last=is_last)
        return await self.take()

    async def close(self) -> None:
        """Give up what is under way and wait for its end."""
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    async def _in_this_process(self, plan: BatchPlan) -> None:
        pipeline = plan.pipeline
        limited = LimitedBackend(pipeline.backend, plan.concurrency)

        def commit(_: int, outcome: SampleResult | SampleFailure | SampleRecord) -> None:
            if isinstance(outcome, SampleFailure):
                self._finish(AnalysisFailure.of(outcome.sample, outcome.error))
            elif isinstance(outcome, SampleResult):
                self._finish(outcome)

        await OrderedRun(
            pipeline.supervisor.asking(limited),
            pipeline.memory,
            self._fresh(),
            commit,
            first_index=plan.first_index,
            seed=plan.seed,
            used_in_eval=False,
            pace=Pace(samples_ahead=plan.samples_ahead),
        ).run()

    async def _in_processes(self, plan: BatchPlan, processes: Processes) -> None:
        assert plan.settings is not None  # noqa: S101 - the plan refuses several processes without settings
        chunks: asyncio.Queue[Future[list[Outcome]] | None] = asyncio.Queue()

        async def share_out(pool: EnginePool) -> None:
            async for sample in self._fresh():
                chunks.put_nowait(pool.submit([sample, *self._fresh_now(_CHUNK - 1)]))
            chunks.put_nowait(None)

        async def collect() -> None:
            while (chunk := await chunks.get()) is not None:
                for outcome in await asyncio.wrap_future(chunk):
                    self._finish(outcome)

        with closing(EnginePool(plan.settings, processes)) as pool:
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(share_out(pool))
                    tasks.create_task(collect())
            except* Exception as group:
                raise group.exceptions[0] from group

    async def _fresh(self) -> AsyncIterator[Sample]:
        """Yield the reviews that need an analysis, as they come."""
        while True:
            while not self._waiting:
                if self._is_closed:
                    return
                self._filled.clear()
                await self._filled.wait()
            yield self._waiting.popleft()

    def _fresh_now(self, most: int) -> list[Sample]:
        """Return reviews that need an analysis and are there already."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def _finish(self, outcome: Outcome) -> None:
        """Add an outcome, in the order in which the reviews were taken from `fresh`."""
        sample, analysis = self._started.popleft()
        analysis.outcome = outcome
        if isinstance(outcome, AnalysisFailure):
            # The next equal text is tried again: a server may be back by then.
            self._recent.pop(_key(sample), None)
        self._ready.set()

    def _head_is_done(self) -> bool:
        return bool(self._under_way) and self._under_way[0][1].is_done

    def _analysis_of(self, sample: Sample) -> _Analysis:
        key = _key(sample)
        analysis = self._recent.get(key)
        if analysis is not None:
            self._recent.move_to_end(key)
            return analysis
        analysis = _Analysis()
        self._waiting.append(sample)
        self._started.append((sample, analysis))
        if self._remembered_n:
            self._recent[key] = analysis
            if len(self._recent) > self._remembered_n:
                self._recent.popitem(last=False)
        return analysis


def window_of(plan: BatchPlan, processes: Processes | None) -> int:
    """Return how many reviews a batch holds at once: enough to keep every place busy, and no more."""
    if processes is not None:
        return processes.number * _CHUNKS_AHEAD * _CHUNK
    return _LOCAL_WINDOW if plan.pipeline.backend.is_local else 2 * plan.samples_ahead


def _key(sample: Sample) -> tuple[str, ...]:
    return (sample.text, sample.language_code or "", sample.domain_id, sample.case_type)
