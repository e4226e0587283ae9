"""Processes that analyse chunks of reviews, each with an engine of its own. A review that ends its process fails alone.

A process of this machine exchanges pickles over pipes. Not `multiprocessing`: its spawned processes run the caller's
script again, which breaks scripts without a main guard.
"""

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Final, NoReturn, Protocol

from episodic_absa.backends.create_backend import BackboneSettings, create_backend
from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.errors import BackendError, BackendUnavailableError, ContractError, LeakageError
from episodic_absa.memory import EpisodicMemorySettings
from episodic_absa.pipeline.composition import build_pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition

Outcome = SampleResult | AnalysisFailure
_START: Final = "import sys; sys.path[:] = sys.argv[1:]; from episodic_absa.batch.engine_processes import main; main()"
_READY: Final = "ready"


@dataclass(frozen=True)
class EngineSettings:
    """What a process needs to build the same pipeline; it can be pickled."""

    backbone: BackboneSettings
    condition: Condition
    pipeline: PipelineSettings | None
    memory: EpisodicMemorySettings | None
    seed: int
    store: str
    """Where a condition that only reads memory finds it."""


class EngineEndedError(Exception):
    """The process ended before it answered."""


class EngineProcess(Protocol):
    """One process; it analyses chunks of reviews, one after the other."""

    def wait_until_ready(self) -> None:
        """Wait until the pipeline is built.

        Raises:
            EngineEndedError: it could not be built.
        """
        ...

    def analyse(self, samples: Sequence[Sample]) -> list[Outcome]:
        """Return the outcomes in order.

        Raises:
            EngineEndedError: the process ended, or `close` was called.
        """
        ...

    def close(self) -> None:
        """End the process at once; it holds nothing that could be lost."""
        ...


class LocalProcess:
    """A process of this machine; it ends when its input closes."""

    def __init__(self, settings: EngineSettings) -> None:
        paths = [path or str(Path.cwd()) for path in sys.path]
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with this package
            [sys.executable, "-c", _START, *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C on the terminal interrupts the caller alone, which then closes this one
        )
        self._is_ready = False
        self._send(settings)

    def wait_until_ready(self) -> None:
        if not self._is_ready:
            self._receive()
            self._is_ready = True

    def analyse(self, samples: Sequence[Sample]) -> list[Outcome]:
        self._send(list(samples))
        outcomes: list[Outcome] = self._receive()
        return outcomes

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not yet sent has no reader any more
                    pipe.close()

    def _send(self, value: object) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            pickle.dump(value, self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except (OSError, ValueError) as error:  # ValueError: closed by another thread
            raise EngineEndedError from error

    def _receive(self) -> Any:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            return pickle.load(self._process.stdout)  # noqa: S301 - from the process started above
        except (EOFError, pickle.UnpicklingError, OSError, ValueError) as error:
            raise EngineEndedError from error


@dataclass(frozen=True)
class Processes:
    """How many processes analyse a batch, and how one is started."""

    number: int
    start: Callable[[EngineSettings], EngineProcess] = LocalProcess


class EnginePool:
    """As many processes as asked for; each has a thread here that waits for its answers."""

    def __init__(self, settings: EngineSettings, processes: Processes) -> None:
        self._settings = settings
        self._start = processes.start
        self._is_closed = False
        self._all: list[EngineProcess] = []
        self._idle: SimpleQueue[EngineProcess] = SimpleQueue()
        self._threads = ThreadPoolExecutor(processes.number, thread_name_prefix="episodic-absa-engine")
        for _ in range(processes.number):
            self._idle.put(self._new_process())

    def submit(self, chunk: Sequence[Sample]) -> Future[list[Outcome]]:
        """Return the future outcomes of a chunk, in its order."""
        return self._threads.submit(self._analyse, chunk)

    def close(self) -> None:
        """End all processes; chunks that are under way are given up."""
        self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.close()
        self._threads.shutdown(wait=True)

    def _new_process(self) -> EngineProcess:
        process = self._start(self._settings)
        self._all.append(process)
        return process

    def _analyse(self, chunk: Sequence[Sample]) -> list[Outcome]:
        process = self._idle.get()
        try:
            self._wait_until_ready(process)
            return process.analyse(chunk)
        except EngineEndedError:
            if self._is_closed:
                return []
            process.close()
            self._all.remove(process)
            process = self._new_process()
        finally:
            self._idle.put(process)
        if len(chunk) == 1:
            message = "the process of the embedded engine ended at this review"
            return [AnalysisFailure(chunk[0].uid, "provider_error", message)]
        middle = len(chunk) // 2
        return [*self._analyse(chunk[:middle]), *self._analyse(chunk[middle:])]

    def _wait_until_ready(self, process: EngineProcess) -> None:
        try:
            process.wait_until_ready()
        except EngineEndedError as error:
            if self._is_closed:
                raise
            raise BackendUnavailableError(
                "a process of the embedded engine did not start; its error is above. processes=1 uses none",
                backend=self._settings.backbone.provider,
                kind="provider_error",
            ) from error


class ChunkAnalysis:
    """The pipeline of a process, which analyses one chunk after another."""

    def __init__(self, settings: EngineSettings) -> None:
        self._seed = settings.seed
        self._pipeline = build_pipeline(
            backend=create_backend(settings.backbone),
            condition=settings.condition,
            store=settings.store,
            settings=settings.pipeline,
            memory=settings.memory,
        )

    async def outcomes_of(self, chunk: Sequence[Sample]) -> list[Outcome]:
        """Return the outcomes in order."""
        return [await self._outcome_of(sample) for sample in chunk]

    async def _outcome_of(self, sample: Sample) -> Outcome:
        memory = MemoryView(self._pipeline.memory, seed=self._seed)
        try:
            return await self._pipeline.supervisor.run(sample, memory, seed=self._seed)
        except (BackendError, ContractError, LeakageError) as error:
            return AnalysisFailure.of(sample, error)


def main() -> NoReturn:
    """Serve chunks from standard input to standard output until the input closes."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write between the pickles
    requests = sys.stdin.buffer
    try:
        analysis = ChunkAnalysis(pickle.load(requests))  # noqa: S301 - from the process that started this one
        _reply(results, _READY)
        with asyncio.Runner() as runner:
            while True:
                chunk: list[Sample] = pickle.load(requests)  # noqa: S301 - as above
                _reply(results, runner.run(analysis.outcomes_of(chunk)))
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the caller is gone: nobody reads what is still buffered


def _reply(results: BinaryIO, value: object) -> None:
    pickle.dump(value, results, pickle.HIGHEST_PROTOCOL)
    results.flush()
