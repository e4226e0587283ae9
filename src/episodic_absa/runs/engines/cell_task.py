"""What the driver of a grid sends to its workers, and what comes back: plain values without gold and without keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.pipeline.memory_view import WriteInputs
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.ordered_run import SampleFailure
from episodic_absa.runs.request_counts import RequestCounts
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_meta import Speculation


@dataclass(frozen=True)
class CellTask:
    """Samples of one cell: all that are left of it, or a slice."""

    condition: Condition
    seed: int
    used_in_eval: bool
    samples: tuple[Sample, ...]
    first_index: int
    """The place of the first sample in the cell."""
    store: bytes | None
    """The lines of the cell's store before the first sample; None if the worker does not touch memory."""
    defers_memory: bool
    """Whether memory is left to the driver: no prompt shows it, and samples of other workers come before these."""
    resources: Mapping[str, Any]
    """The hashes of the files that results depend on; a worker with other files refuses the task."""


class AnalysedSample(NamedTuple):
    """One sample of a task, in its order."""

    outcome: SampleResult | SampleFailure
    write: WriteInputs | None
    """None if the sample failed before it came to write."""
    defers_read: bool
    """Whether the driver is to read the memory for it."""


class TaskEnd(NamedTuple):
    """The end of a task whose samples are all done."""

    speculation: Speculation


class Trouble(NamedTuple):
    """An error that concerns more than one sample. It travels as a value: Ray would wrap it."""

    error: EpisodicAbsaError
    host: str


class WorkerNews(NamedTuple):
    """What a worker has done since it started, and what it has to say since it was asked last."""

    counts: RequestCounts
    warnings: tuple[str, ...]
    honours_seed: bool
