"""The reviews of a batch that are under way, in order. Equal texts share one analysis.

It lives in one event loop: the reader of the results calls `put` and `take`, what analyses calls `fresh` and `finish`.
"""

import asyncio
import pickle
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace

from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import Sample

Outcome = SampleResult | AnalysisFailure


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


class ReviewBatch:
    """Reviews go in by `put` and come out by `take`, in the same order.

    Args:
        remembered_n: how many analyses are kept for equal texts that follow; 0 analyses every review.
        pack: whether those analyses are kept as bytes.
    """

    def __init__(self, *, remembered_n: int, pack: bool) -> None:
        self._remembered_n = remembered_n
        self._pack = pack
        self._under_way: deque[tuple[Sample | AnalysisFailure, _Analysis]] = deque()
        self._waiting: deque[Sample] = deque()
        self._started: deque[tuple[Sample, _Analysis]] = deque()
        self._recent: OrderedDict[tuple[str, ...], _Analysis] = OrderedDict()
        self._filled, self._ready = asyncio.Event(), asyncio.Event()
        self._is_closed = self._is_ended = False

    def put(self, samples: Iterable[Sample | AnalysisFailure], *, is_last: bool = False) -> None:
        """Add reviews; what cannot be analysed is a failure from the start."""
        for sample in samples:
            known = _Analysis(sample) if isinstance(sample, AnalysisFailure) else self._analysis_of(sample)
            self._under_way.append((sample, known))
        self._is_closed = self._is_closed or is_last
        self._filled.set()
        self._ready.set()

    async def take(self) -> list[Outcome]:
        """Return the next outcomes, at least one; after the end an empty list."""
        while not self._head_is_done() and not self._is_ended:
            self._ready.clear()
            await self._ready.wait()
        outcomes = []
        while self._head_is_done():
            sample, analysis = self._under_way.popleft()
            outcomes.append(analysis.outcome_for(sample))
            if self._pack:
                analysis.pack()
        return outcomes

    async def fresh(self) -> AsyncIterator[Sample]:
        """Yield the reviews that need an analysis, as they come."""
        while True:
            while not self._waiting:
                if self._is_closed:
                    return
                self._filled.clear()
                await self._filled.wait()
            yield self._waiting.popleft()

    def fresh_now(self, most: int) -> list[Sample]:
        """Return reviews that need an analysis and are there already."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def finish(self, outcome: Outcome) -> None:
        """Add an outcome, in the order in which the reviews were taken from `fresh`."""
        sample, analysis = self._started.popleft()
        analysis.outcome = outcome
        if isinstance(outcome, AnalysisFailure):
            # The next equal text is tried again: a server may be back by then.
            self._recent.pop(_key(sample), None)
        self._ready.set()

    def end(self) -> None:
        """Say that no more outcomes come."""
        self._is_ended = True
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


def _key(sample: Sample) -> tuple[str, ...]:
    return (sample.text, sample.language_code or "", sample.domain_id, sample.case_type)
