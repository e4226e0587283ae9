"""Where the samples of a cell are analysed: the seam between a cell, which commits them, and an engine."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from episodic_absa.pipeline.composition import Pipeline
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.ordered_run import Supervisor
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run_meta import Speculation

NO_SPECULATION = Speculation(redone_samples=0, wasted_calls=0)


class CellWork(NamedTuple):
    """The samples of a cell that are to be analysed, and the pipeline whose memory is that of the cell."""

    cell: Cell
    pipeline: Pipeline
    samples: Mapping[int, Sample]
    """By their places in the cell, ascending. Those that are committed already are left out."""


class Analysis(Protocol):
    """The analysis of one cell."""

    @property
    def supervisor(self) -> Supervisor:
        """What an ordered run asks for the result of a sample."""
        ...

    @property
    def samples_ahead(self) -> int:
        """How many samples an ordered run starts before the first of them is committed."""
        ...

    @property
    def speculation(self) -> Speculation:
        """What speculation cost elsewhere; an ordered run counts its own."""
        ...


class SampleEngine(Protocol):
    """Analyses the samples of cells."""

    @property
    def honours_seed(self) -> bool:
        """Whether no server that was asked elsewhere refused a seed."""
        ...

    def analysing(self, work: CellWork) -> AbstractAsyncContextManager[Analysis]:
        """Prepare the analysis of a cell; at its end nothing of it is left running."""
        ...


@dataclass(frozen=True)
class _InThisProcess:
    supervisor: Supervisor
    samples_ahead: int
    speculation: Speculation = NO_SPECULATION


@dataclass(frozen=True)
class LocalEngine:
    """Analyses in this process."""

    concurrency: int
    """Requests in flight over all cells."""
    honours_seed: bool = True

    @asynccontextmanager
    async def analysing(self, work: CellWork) -> AsyncIterator[Analysis]:
        """Let the cell's own pipeline analyse."""
        yield _InThisProcess(work.pipeline.supervisor, samples_ahead=2 * self.concurrency)
