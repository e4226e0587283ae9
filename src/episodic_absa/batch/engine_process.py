"""A process with an embedded engine of its own: `EngineProcess` here, `main` there. They exchange pickles over pipes.

Not `multiprocessing`: its spawned processes run the caller's script again, which breaks scripts without a main guard.
"""

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from episodic_absa.backends.create_backend import create_backend
from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.batch.batch_plan import EngineSettings
from episodic_absa.errors import BackendError, ContractError, LeakageError
from episodic_absa.pipeline.composition import Pipeline, build_pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import Sample

_START: Final = "import sys; sys.path[:] = sys.argv[1:]; from episodic_absa.batch.engine_process import main; main()"
_READY: Final = "ready"


class EngineEndedError(Exception):
    """The process ended before it answered."""


class EngineProcess:
    """One process; it analyses chunks of reviews, one after the other, and ends when its input closes."""

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
        """Wait until the pipeline is built.

        Raises:
            EngineEndedError: it could not be built.
        """
        if not self._is_ready:
            self._receive()
            self._is_ready = True

    def analyse(self, samples: Sequence[Sample]) -> list[SampleResult | AnalysisFailure]:
        """Return the outcomes in order.

        Raises:
            EngineEndedError: the process ended, or `close` was called.
        """
        self._send(list(samples))
        outcomes: list[SampleResult | AnalysisFailure] = self._receive()
        return outcomes

    def close(self) -> None:
        """End the process at once; it holds nothing that could be lost."""
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


def main() -> NoReturn:
    """Serve chunks from standard input to standard output until the input closes."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write between the pickles
    requests = sys.stdin.buffer
    try:
        settings: EngineSettings = pickle.load(requests)  # noqa: S301 - from the process that started this one
        pipeline = build_pipeline(
            backend=create_backend(settings.backbone),
            condition=settings.condition,
            store="no_store.jsonl",  # no memory in this condition: the store is never opened
            settings=settings.pipeline,
            memory=settings.memory,
        )
        _reply(results, _READY)
        with asyncio.Runner() as runner:
            while True:
                chunk: list[Sample] = pickle.load(requests)  # noqa: S301 - as above
                _reply(results, runner.run(_analyse(pipeline, chunk, settings.seed)))
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the caller is gone: nobody reads what is still buffered


def _reply(results: BinaryIO, value: object) -> None:
    pickle.dump(value, results, pickle.HIGHEST_PROTOCOL)
    results.flush()


async def _analyse(pipeline: Pipeline, chunk: Sequence[Sample], seed: int) -> list[SampleResult | AnalysisFailure]:
    outcomes: list[SampleResult | AnalysisFailure] = []
    for sample in chunk:
        try:
            outcomes.append(await pipeline.supervisor.run(sample, MemoryView(pipeline.memory, seed=seed), seed=seed))
        except (BackendError, ContractError, LeakageError) as error:
            outcomes.append(AnalysisFailure.of(sample, error))
    return outcomes
