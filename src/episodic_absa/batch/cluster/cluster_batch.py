"""Drives a batch on a Ray cluster with Ray Data: a reader, a pool of workers, outcomes in the order of the rows.

Ray Data's own readers are not used: they guess types and encodings, skip what they cannot read, and know no damaged
characters, so that a file would give other rows than it does on one machine. Our reader is Ray Data's source instead.
The texts travel as pickles, because Arrow would turn cells of several types into one type.
"""

import importlib
import logging
import pickle
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar

from episodic_absa.batch.analysis_failure import AnalysisFailure
from episodic_absa.batch.cluster.cluster_plan import ClusterJob, ClusterPlan
from episodic_absa.batch.cluster.cluster_worker import OUTCOMES, TEXTS, Analysed, ClusterWorker, Trouble
from episodic_absa.batch.cluster.recent_texts import RecentTexts
from episodic_absa.errors import BackendUnavailableError, DatasetError
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.engines.ray_cluster import connect


class TextRow(Protocol):
    """A row of a table."""

    @property
    def text(self) -> str:
        """The review; empty if the row has none."""
        ...


RowT = TypeVar("RowT", bound=TextRow)
ResultT = TypeVar("ResultT")
Digest = Callable[[SampleResult], ResultT]
_BYTES_UNDER_WAY: Final = 32 << 20
"""Of texts and outcomes: without a limit the reader would fill the cluster's memory with a long file."""


def analyse_on_cluster(
    job: ClusterJob, rows: Iterable[RowT], digest: Digest[ResultT], *, address: str | None = None
) -> Generator[tuple[RowT, ResultT | AnalysisFailure | None], None, None]:
    """Yield every row with what `digest` keeps of its result, in order; None for a row without text.

    A lost worker is replaced, and its tasks are done again. The generator holds the connection; close it.

    Args:
        job: what is analysed.
        rows: they are read twice at the same time, by the source of the cluster and here, and must be equal.
        digest: a function that workers can import.
        address: of the cluster; None starts one on this machine.

    Raises:
        ConfigError: the cluster cannot be reached or is too small.
        BackendUnavailableError: a worker has an error that concerns more than one review.
        DatasetError: the rows changed while they were read.
    """
    with connect(address, feature="--engine ray", key="--ray-address") as cluster:
        plan = job.plan_for(cluster.ray.cluster_resources())
        fresh = _Again(cluster.ray, plan, digest)
        recent = RecentTexts[ResultT | AnalysisFailure](most=plan.remembered_n)
        with closing(_outcomes(cluster.ray, plan, rows, digest)) as outcomes:
            for row in rows:
                if not row.text:
                    yield row, None
                    continue
                outcome = recent.find(row.text)
                if outcome is None:
                    outcome = _checked(next(outcomes, None), row)
                elif isinstance(outcome, AnalysisFailure) and plan.tries_again:
                    # As in one process: a server may be back by now.
                    outcome = fresh.outcome_of(row)
                recent.keep(row.text, outcome)
                yield row, outcome


def texts_to_analyse(rows: Iterable[TextRow], *, remembered_n: int) -> Iterator[str]:
    """Yield the texts of rows, without those that are still remembered."""
    recent = RecentTexts[bool](most=remembered_n)
    for row in rows:
        if row.text and recent.find(row.text) is None:
            recent.keep(row.text, value=True)
            yield row.text


def _outcomes(
    ray: Any, plan: ClusterPlan, rows: Iterable[TextRow], digest: Digest[ResultT]
) -> Generator[Analysed[ResultT], None, None]:
    """Yield the outcomes of all texts that are analysed."""
    data: Any = importlib.import_module("ray.data")
    with _in_order(data):
        analysed = _source(ray, data, plan, rows).map_batches(
            ClusterWorker,
            fn_constructor_args=(plan, digest),
            batch_size=None,
            batch_format="pyarrow",
            compute=data.ActorPoolStrategy(size=plan.workers),
            num_cpus=1,
        )
        try:
            for block in analysed.iter_batches(batch_size=None, batch_format="pyarrow"):
                for cell in block[OUTCOMES]:
                    yield from _without_trouble(plan, pickle.loads(cell.as_py()))  # noqa: S301 - from our worker
        except ray.exceptions.RayError as error:
            raise _stopped(plan, f"the Ray cluster gave up ({type(error).__name__}); its logs say why") from error


def _source(ray: Any, data: Any, plan: ClusterPlan, rows: Iterable[TextRow]) -> Any:
    """Return the dataset of the texts: one task reads them, and each of its blocks is one task of a worker."""
    import pyarrow as pa

    kept, remembered_n, reviews_per_task = ray.put(rows), plan.remembered_n, plan.reviews_per_task

    def blocks() -> Iterator[Any]:
        texts = texts_to_analyse(ray.get(kept), remembered_n=remembered_n)
        while task := list(islice(texts, reviews_per_task)):
            yield pa.table({TEXTS: [pickle.dumps(task)]})

    class Reviews(data.Datasource):  # type: ignore[misc] # ray is imported only where it is used
        def estimate_inmemory_data_size(self) -> int | None:
            return None

        def get_read_tasks(self, *_: Any, **__: Any) -> list[Any]:
            unknown = data.block.BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)
            return [data.ReadTask(blocks, unknown)]

    # The file is read where the command runs: the other nodes need not see it. Reading takes no core from a worker.
    here = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
    return data.read_datasource(Reviews(), override_num_blocks=1, num_cpus=0, label_selector=here)


@contextmanager
def _in_order(data: Any) -> Iterator[None]:
    """Let Ray Data keep the order, hold little and print nothing."""
    context = data.DataContext.get_current().copy()
    context.execution_options.preserve_order = True
    context.execution_options.resource_limits = data.ExecutionResources(object_store_memory=_BYTES_UNDER_WAY)
    # Blocks are tasks here. By default Ray Data joins small blocks until they have 128 MB.
    context.target_max_block_size = 1
    context.enable_progress_bars = False
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with data.DataContext.current(context):
            yield
    finally:
        logger.setLevel(level)


class _Again(Generic[ResultT]):
    """Analyses single texts again, on a worker of its own that is started when it is needed."""

    def __init__(self, ray: Any, plan: ClusterPlan, digest: Digest[ResultT]) -> None:
        self._ray = ray
        self._plan = replace(plan, requests_per_worker=1)
        self._digest = digest
        self._worker: Any = None

    def outcome_of(self, row: TextRow) -> ResultT | AnalysisFailure:
        if self._worker is None:
            actor = self._ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(ClusterWorker)
            self._worker = actor.remote(self._plan, self._digest)
        analysed = self._ray.get(self._worker.analyse.remote([row.text]))
        return _checked(next(_without_trouble(self._plan, analysed)), row)


def _without_trouble(plan: ClusterPlan, analysed: list[Analysed[ResultT]] | Trouble) -> Iterator[Analysed[ResultT]]:
    if isinstance(analysed, Trouble):
        raise _stopped(plan, analysed.message)
    yield from analysed


def _stopped(plan: ClusterPlan, message: str) -> BackendUnavailableError:
    return BackendUnavailableError(message, backend=plan.job.settings.backbone.provider, kind="provider_error")


def _checked(analysed: Analysed[ResultT] | None, row: TextRow) -> ResultT | AnalysisFailure:
    if analysed is None or analysed.text_sum != zlib.crc32(row.text.encode()):
        raise DatasetError("the reviews changed while they were read; run the command again when nothing writes them")
    return analysed.outcome
