"""How a batch is analysed: in this process or in several, and how far it reads ahead."""

import os
import sys
from dataclasses import dataclass
from typing import Final

from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.batch.engine_processes import EngineSettings, Processes
from episodic_absa.errors import ConfigError
from episodic_absa.pipeline.composition import Pipeline

DEFAULT_CONCURRENCY: Final = 16
MEMORY_OF_A_PROCESS: Final = 2 << 30
"""Physical memory per process that is started without being asked; each uses a third of it."""
PAYS_FROM: Final = 500
"""Reviews from which several processes are quicker than one: each takes two seconds to load the engine."""


@dataclass(frozen=True)
class BatchPlan:
    """Everything that a batch needs."""

    pipeline: Pipeline
    settings: EngineSettings | None
    """None: the backend was made by the caller and stays in this process."""
    seed: int
    first_index: int
    concurrency: int = DEFAULT_CONCURRENCY
    processes: int | Processes | None = None
    """None: as many as pay."""

    def __post_init__(self) -> None:
        number = self.processes.number if isinstance(self.processes, Processes) else self.processes
        for name, value in (("concurrency", self.concurrency), ("processes", 1 if number is None else number)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise ConfigError(f"{name} must be an integer, got {type(value).__name__}", key=name)
            if value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}", key=name)
        if (isinstance(self.processes, Processes) or (number or 1) > 1) and not self.may_share_out:
            raise ConfigError(
                "several processes serve the embedded engine and replay, without a recording of answers and without a "
                "memory that is written; leave processes out",
                key="processes",
            )

    @property
    def may_share_out(self) -> bool:
        """Whether other processes give the same results: answers are made in them, and no review depends on another."""
        if self.settings is None or not sys.executable or self.settings.condition.store_write:
            return False
        return facts_of(self.settings.backbone).is_local and self.settings.backbone.record is None

    @property
    def shares_out_by_itself(self) -> bool:
        """Whether several processes are used without being asked for, if the batch is large."""
        settings = self.settings
        is_shipped = settings is not None and facts_of(settings.backbone).shipped_fingerprint is not None
        return self.processes is None and is_shipped and self.may_share_out and not self.has_memory

    @property
    def has_memory(self) -> bool:
        """Whether the result of a review may depend on the reviews before it, or on its uid."""
        condition = self.pipeline.memory.condition
        return condition.retrieval_execute or condition.store_write

    def processes_for(self, least_n: int) -> Processes | None:
        """Return the processes that analyse a batch of at least so many reviews; None for this process alone."""
        if isinstance(self.processes, Processes):
            return self.processes
        number = self.processes or 1
        if least_n >= PAYS_FROM and self.shares_out_by_itself:
            memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            number = min(_cores(), memory // MEMORY_OF_A_PROCESS)
        return Processes(number) if number > 1 else None

    @property
    def samples_ahead(self) -> int:
        """Reviews that are started and not yet finished, in this process."""
        # An engine in this process never waits. Twice the requests: a review's last ones leave places empty.
        return 1 if self.pipeline.backend.is_local else 2 * self.concurrency


def _cores() -> int:
    """Return how many cores this process may use."""
    # macOS has no affinity.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
