"""Drives a batch from outside its event loop: as an iterator, or as an asynchronous stream."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sized,
)
from itertools import chain, islice
from typing import TypeVar

from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.batch.batch_plan import PAYS_FROM, BatchPlan
from episodic_absa.batch.engine_processes import Outcome
from episodic_absa.batch.running_batch import RunningBatch, window_of
from episodic_absa.errors import InputError
from episodic_absa.loop_thread import LoopThread
from episodic_absa.schemas.absa import Sample

Progress = Callable[[int, int | None], None]
"""Is called with the number of finished reviews and the number of all, None if that is not known."""
TextT = TypeVar("TextT")


def require_texts(texts: object) -> None:
    """Refuse what is no series of reviews: its letters or keys would be analysed one by one.

    Raises:
        InputError: `texts` is one review, a mapping, a table, or nothing that can be iterated.

    Example:
        >>> from episodic_absa import InputError
        >>> try:
        ...     require_texts("good food")
        ... except InputError as error:
        ...     print(error)
        texts must be several reviews, got one str; write [text], or use analyze
    """
    kind = type(texts).__name__
    if isinstance(texts, str | bytes | bytearray | Sample):
        message = f"texts must be several reviews, got one {kind}; write [text], or use analyze"
    elif isinstance(texts, Mapping):
        message = f"texts must be several reviews, got a {kind}; give its values, for example list(texts.values())"
    elif kind == "DataFrame":
        message = "texts must be several reviews, got a DataFrame; give one column, for example frame['review']"
    elif not isinstance(texts, Iterable | AsyncIterable):
        message = f"texts must be several reviews, got {kind}; give a list or an iterator of strings"
    else:
        return
    raise InputError(message, argument="texts")


def analyse_all(
    loop: LoopThread,
    plan: BatchPlan,
    samples: Iterable[Sample | AnalysisFailure],
    *,
    total: int | None,
    on_progress: Progress | None,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each review in order; reviews are read in the caller's thread, a bounded number ahead."""
    waiting = iter(samples)
    least_n, waiting = _least_number(plan, waiting, total)
    processes = plan.processes_for(least_n)
    window = window_of(plan, processes)
    running = loop.run(RunningBatch.start(plan, processes))
    under_way_n = done_n = 0
    try:
        while True:
            new = list(islice(waiting, window - under_way_n))
            is_last = len(new) < window - under_way_n
            under_way_n += len(new)
            outcomes = loop.run(running.exchange(new, is_last=is_last))
            if not outcomes:
                return
            under_way_n -= len(outcomes)
            for outcome in outcomes:
                done_n += 1
                if on_progress is not None:
                    on_progress(done_n, total)
                yield outcome
    finally:
        if not loop.is_closed:
            loop.run(running.close())


async def stream_all(
    loop: LoopThread,
    plan: BatchPlan,
    samples: AsyncIterator[Sample | AnalysisFailure],
    *,
    total: int | None,
    on_progress: Progress | None,
) -> AsyncGenerator[Outcome, None]:
    """Yield the outcome of each review in order, as soon as it and all before it are there."""
    processes = plan.processes_for(total or 0)
    room = asyncio.Semaphore(window_of(plan, processes))
    running = await loop.run_async(RunningBatch.start(plan, processes))
    done_n = 0

    async def feed() -> None:
        async for sample in samples:
            await room.acquire()
            await loop.run_async(running.put([sample], is_last=False))
        await loop.run_async(running.put([], is_last=True))

    feeding = asyncio.create_task(feed())
    try:
        while outcomes := await _next_outcomes(loop, running, feeding):
            for outcome in outcomes:
                room.release()
                done_n += 1
                if on_progress is not None:
                    on_progress(done_n, total)
                yield outcome
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        if not loop.is_closed:
            await loop.run_async(running.close())


async def as_stream(texts: Iterable[TextT] | AsyncIterable[TextT]) -> AsyncIterator[TextT]:
    """Yield the texts of an iterable of either kind."""
    if isinstance(texts, AsyncIterable):
        async for text in texts:
            yield text
    else:
        for text in texts:
            yield text


def total_of(texts: object) -> int | None:
    """Return how many texts there are, None if they cannot be counted before they are read."""
    return len(texts) if isinstance(texts, Sized) else None


async def _next_outcomes(loop: LoopThread, running: RunningBatch, feeding: "asyncio.Task[None]") -> list[Outcome]:
    taking = asyncio.ensure_future(loop.run_async(running.take()))
    try:
        await asyncio.wait({taking, feeding}, return_when=asyncio.FIRST_COMPLETED)
        if feeding.done() and feeding.exception() is not None:
            await feeding  # the caller's iterable raised an error
        return await taking
    finally:
        taking.cancel()


def _least_number(
    plan: BatchPlan, samples: Iterator[Sample | AnalysisFailure], total: int | None
) -> tuple[int, Iterator[Sample | AnalysisFailure]]:
    """Return a number of reviews that there are at least, and all reviews."""
    if total is not None or not plan.shares_out_by_itself:
        return total or 0, samples
    first = list(islice(samples, PAYS_FROM))
    return len(first), chain(first, samples)
