"""The worker of a cluster: loads the engine once and analyses one task after another. Errors travel as values."""

import pickle
import socket
import uuid
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from episodic_absa.backends.create_backend import create_backend
from episodic_absa.backends.provider_facts import shipped_fingerprint
from episodic_absa.batch.analysis_failure import AnalysisFailure, failure_of_text
from episodic_absa.batch.batch_plan import BatchPlan
from episodic_absa.batch.cluster.cluster_plan import ClusterPlan, installed, sum_of
from episodic_absa.batch.engine_pool import EnginePool
from episodic_absa.batch.many_reviews import analyse_all
from episodic_absa.errors import ConfigError, EpisodicAbsaError, InputError
from episodic_absa.language.caller_input import checked_review
from episodic_absa.loop_thread import LoopThread
from episodic_absa.pipeline.composition import build_pipeline
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import Sample

ResultT = TypeVar("ResultT")
TEXTS: Final = "texts"
OUTCOMES: Final = "outcomes"

Outcome = SampleResult | AnalysisFailure
Analyse = Callable[[Sequence[Sample]], list[Outcome]]


class Trouble(NamedTuple):
    """An error that concerns more than one review."""

    message: str


class Analysed(NamedTuple, Generic[ResultT]):
    """The outcome of one text."""

    text_sum: int
    """Tells the driver that the outcome belongs to its row."""
    outcome: ResultT | AnalysisFailure


class ClusterWorker(Generic[ResultT]):
    """Analyses the tasks of one worker process.

    Args:
        plan: what to build.
        digest: what the driver needs of a result; whole results would fill its network and its memory.
    """

    def __init__(self, plan: ClusterPlan, digest: Callable[[SampleResult], ResultT]) -> None:
        self._plan = plan
        self._digest = digest
        self._analyse: Analyse | Trouble = self._loaded()

    def __call__(self, block: Any) -> Any:
        """Return the outcomes of the texts of a block, which are pickled in one cell each."""
        import pyarrow as pa

        cells = [pickle.dumps(self.analyse(pickle.loads(cell.as_py()))) for cell in block[TEXTS]]  # noqa: S301 - ours
        return pa.table({OUTCOMES: cells})

    def analyse(self, texts: Sequence[str]) -> list[Analysed[ResultT]] | Trouble:
        """Return the outcomes in order, or the error that concerns them all."""
        if isinstance(self._analyse, Trouble):
            return self._analyse
        samples = [self._sample(text) for text in texts]
        try:
            outcomes = iter(self._analyse([sample for sample in samples if isinstance(sample, Sample)]))
        except EpisodicAbsaError as error:
            return _trouble(error)
        in_order = (next(outcomes) if isinstance(sample, Sample) else sample for sample in samples)
        return [
            Analysed(zlib.crc32(text.encode()), self._digested(outcome))
            for text, outcome in zip(texts, in_order, strict=True)
        ]

    def _digested(self, outcome: Outcome) -> ResultT | AnalysisFailure:
        return outcome if isinstance(outcome, AnalysisFailure) else self._digest(outcome)

    def _sample(self, text: str) -> Sample | AnalysisFailure:
        try:
            language_code = self._plan.job.language
            return Sample(uid=f"analyze-{uuid.uuid4()}", text=checked_review(text), language_code=language_code)
        except InputError as error:
            return failure_of_text(error)

    def _loaded(self) -> Analyse | Trouble:
        job = self._plan.job
        try:
            self._require_same()
            if shipped_fingerprint(job.settings.backbone) is not None and not job.reads_memory:
                # In a process of its own: a review that ends the engine fails alone, and Ray does not try it for ever.
                pool = EnginePool(job.settings, 1)
                return lambda samples: pool.submit(samples).result()
            return self._in_this_process()
        except EpisodicAbsaError as error:
            return _trouble(error)

    def _in_this_process(self) -> Analyse:
        job, settings = self._plan.job, self._plan.job.settings
        pipeline = build_pipeline(
            backend=create_backend(settings.backbone),
            condition=settings.condition,
            store=job.store,
            settings=settings.pipeline,
            memory=settings.memory,
        )
        requests = self._plan.requests_per_worker
        batch = BatchPlan(pipeline, None, seed=settings.seed, first_index=0, concurrency=requests, processes=1)
        loop = LoopThread(owner="worker")
        return lambda samples: list(analyse_all(loop, batch, samples, total=len(samples), on_progress=None))

    def _require_same(self) -> None:
        if installed() != self._plan.installed:
            raise ConfigError(
                "another version of episodic-absa or of its engine is installed there; install the same on every node",
                key="ray_address",
            )
        if self._plan.store_sum and sum_of(self._plan.job.store) != self._plan.store_sum:
            raise ConfigError(
                "the store of the memory is another one there; put it on a disk that all nodes share, "
                "or use a store in PostgreSQL",
                key="store",
            )


def _trouble(error: EpisodicAbsaError) -> Trouble:
    return Trouble(f"a worker on {socket.gethostname()} stopped: {error}")
