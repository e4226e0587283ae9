"""Several processes with the embedded engine. A review that ends its process fails alone."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.batch.batch_plan import EngineSettings
from episodic_absa.batch.engine_process import EngineEndedError, EngineProcess
from episodic_absa.errors import BackendUnavailableError
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import Sample


class EnginePool:
    """As many processes as asked for; each has a thread here that waits for its answers."""

    def __init__(self, settings: EngineSettings, processes: int) -> None:
        self._settings = settings
        self._is_closed = False
        self._all: list[EngineProcess] = []
        self._idle: SimpleQueue[EngineProcess] = SimpleQueue()
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="episodic-absa-engine")
        for _ in range(processes):
            self._idle.put(self._new_process())

    def submit(self, chunk: Sequence[Sample]) -> Future[list[SampleResult | AnalysisFailure]]:
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
        process = EngineProcess(self._settings)
        self._all.append(process)
        return process

    def _analyse(self, chunk: Sequence[Sample]) -> list[SampleResult | AnalysisFailure]:
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
