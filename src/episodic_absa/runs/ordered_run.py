"""Runs the samples of a cell or a batch concurrently, with the results of a sequential run.

A sample's result is valid if and only if what memory put into its prompts
is what it would have been in sequential order. So:

- samples start ahead of their turn; Stage1 never depends on memory;
- where the condition stores nothing, memory is the same at every turn, and no sample waits;
- where memory cannot reach a prompt (not exposed, or both gates closed) a sample runs to its end and executes its
  retrieval at its turn;
- otherwise it waits for its turn before the debate; with speculation it continues with the current memory, and runs
  again if the bundle differs at its turn, or if it failed, because it might succeed at its turn;
- writing, and committing what `commit` writes, happen in order.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from episodic_absa.errors import BackendError, ContractError, LeakageError
from episodic_absa.memory import EpisodicOrchestrator, SlotAnswer
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.memory_view import MemoryView, WriteInputs
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.schemas.absa import Sample, Stage1Result
from episodic_absa.schemas.run import StoreDecision
from episodic_absa.schemas.run_files.sample_record import CallRecord, SampleRecord

SampleError = BackendError | LeakageError | ContractError
"""An error that fails one sample; the run continues."""
_SAMPLE_ERRORS: Final = (BackendError, LeakageError, ContractError)
_UNEXPECTED: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that an odd answer may cause where nobody thought of it."""


@dataclass(frozen=True)
class SampleFailure:
    """A sample that failed at its turn."""

    sample: Sample
    error: SampleError
    calls: tuple[CallRecord, ...]


@dataclass(frozen=True)
class Pace:
    """How far samples may run ahead. No value changes a result."""

    samples_ahead: int
    """Samples that are started and not yet committed."""
    speculate_ahead: int = 0
    """How many samples that memory may reach continue before their turn; 0 does not speculate."""


class _WrongGuess(Exception):  # noqa: N818 - not an error: the sample is done again
    """The memory at a sample's turn differs from the memory that it speculated on."""


class OrderedRun:
    """One cell's samples, in order."""

    def __init__(
        self,
        supervisor: SupervisorAgent,
        orchestrator: EpisodicOrchestrator,
        samples: Sequence[Sample] | Mapping[int, Sample] | AsyncIterator[Sample],
        commit: Callable[[int, SampleResult | SampleFailure | SampleRecord], None],
        *,
        first_index: int = 0,
        kept: Mapping[int, SampleRecord] = MappingProxyType({}),
        seed: int = 0,
        used_in_eval: bool = True,
        pace: Pace,
    ) -> None:
        self.supervisor = supervisor
        self.orchestrator = orchestrator
        self._samples = samples
        self._commit = commit
        self._kept = kept
        self.seed = seed
        self.used_in_eval = used_in_eval
        self._pace = pace
        self._turn = first_index
        self._turn_came = asyncio.Condition()
        self.redone_n = 0
        """Samples that ran again because they had speculated on another memory."""
        self.wasted_calls_n = 0
        """Calls of those samples that had shown the other memory."""

    async def run(self) -> None:
        """Run and commit every sample; an error that fails more than its sample ends the run."""
        slots = asyncio.Semaphore(self._pace.samples_ahead)
        try:
            async with asyncio.TaskGroup() as tasks:
                await slots.acquire()
                async for index, sample in self._numbered_samples():
                    tasks.create_task(self._run_one(index, sample, slots))
                    await slots.acquire()
        except* Exception as group:
            raise group.exceptions[0] from group

    async def _numbered_samples(self) -> AsyncIterator[tuple[int, Sample]]:
        if isinstance(self._samples, AsyncIterator):
            index = self._turn
            async for sample in self._samples:
                yield index, sample
                index += 1
        else:
            places = self._samples if isinstance(self._samples, Mapping) else range(self._turn, len(self._samples))
            for index in places:
                yield index, self._samples[index]

    async def _run_one(self, index: int, sample: Sample, slots: asyncio.Semaphore) -> None:
        outcome: SampleResult | SampleFailure | SampleRecord
        asking = self.supervisor.new_asking(self.orchestrator.condition, self.seed)
        if index in self._kept:
            await self.wait_for_turn(index)
            outcome = self._kept[index]
        else:
            try:
                outcome = await self._analyse(index, sample, asking)
            except _SAMPLE_ERRORS as error:
                await self.wait_for_turn(index)
                outcome = SampleFailure(sample, error, tuple(asking.calls))
        self._commit(index, outcome)
        slots.release()
        async with self._turn_came:
            self._turn = index + 1
            self._turn_came.notify_all()

    async def _analyse(self, index: int, sample: Sample, asking: Asking) -> SampleResult:
        memory = _MemoryAtItsTurn(self, index, speculate_ahead=self._pace.speculate_ahead)
        try:
            result = await self._run_supervisor(sample, memory, asking)
        except (_WrongGuess, *_SAMPLE_ERRORS):
            if not memory.speculated:
                raise
            self.redone_n += 1
            self.wasted_calls_n += sum(call.memory_slot_present for call in asking.calls)
            asking.calls.clear()  # what was asked in vain is no part of the sample's record
            memory = _MemoryAtItsTurn(self, index, speculate_ahead=0)
            result = await self._run_supervisor(sample, memory, asking)
        if memory.deferred is None:
            return result
        return self.supervisor.with_memory(result, memory.deferred, memory.catalogue)

    async def _run_supervisor(self, sample: Sample, memory: "_MemoryAtItsTurn", asking: Asking) -> SampleResult:
        """Return the result; what an answer breaks unexpectedly is an error of this sample, not of the run."""
        try:
            return await self.supervisor.run(sample, memory, seed=self.seed, asking=asking)
        except _UNEXPECTED as error:
            if not asking.calls:
                raise
            frame = traceback.extract_tb(error.__traceback__)[-1]
            # A call without an end: the error came out of the backend, which a user may have written.
            failed = next((call.model for call in asking.calls if call.error == "cancelled"), None)
            start = "the answers led to" if failed is None else f"the backend {failed} raised"
            report = "please report it" if failed is None else "mend it there, or report it if the backend is ours"
            # The message of such an error may quote the review.
            raise ContractError(
                f"{start} an unexpected {type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}; "
                f"{report}",
                uid=sample.uid,
                field="answer",
            ) from error

    async def wait_for_turn(self, index: int, *, ahead: int = 0) -> bool:
        """Wait until all but at most `ahead` samples before this one are committed; return whether all are."""
        async with self._turn_came:
            await self._turn_came.wait_for(lambda: self._turn >= index - ahead)
        return self._turn == index


class _MemoryAtItsTurn(MemoryView):
    """The memory as one sample of an ordered run sees it."""

    def __init__(self, run: OrderedRun, index: int, *, speculate_ahead: int) -> None:
        super().__init__(run.orchestrator, sample_index=index, seed=run.seed, used_in_eval=run.used_in_eval)
        self._run = run
        self._speculate_ahead = speculate_ahead
        self._guess: SlotAnswer | None = None
        self._deferring = False
        self.speculated = False
        """Whether it was read before its turn, when it might still change."""
        self.deferred: SlotAnswer | None = None
        """What was retrieved at the sample's turn, where it had already run to its end."""

    async def read(self, sample: Sample, stage1: Stage1Result) -> SlotAnswer:
        if not (self.condition.retrieval_execute and self.condition.store_write):
            return await super().read(sample, stage1)
        if not self._run.supervisor.may_show_memory(self.condition, sample, stage1):
            self._deferring = True
            return self.without_debate()
        self.speculated = not await self._run.wait_for_turn(self._sample_index, ahead=self._speculate_ahead)
        answer = await super().read(sample, stage1)
        if self.speculated:
            self._guess = answer
        return answer

    async def write(self, sample: Sample, stage1: Stage1Result, inputs: WriteInputs) -> StoreDecision:
        await self._run.wait_for_turn(self._sample_index)
        if self._deferring:
            self.deferred = await super().read(sample, stage1)
        elif self._guess is not None:
            now = await super().read(sample, stage1)
            if now.slot != self._guess.slot:
                raise _WrongGuess
            # The prompts are those of the turn; the record is, too.
            self.deferred = now
        return await super().write(sample, stage1, inputs)
