"""How a batch is analysed: in this process or in several, and how far it reads ahead."""

import os
import sys
from dataclasses import dataclass
from typing import Final

from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.backends.provider_facts import shipped_fingerprint
from episodic_absa.errors import ConfigError
from episodic_absa.memory import EpisodicMemorySettings
from episodic_absa.pipeline.composition import Pipeline
from episodic_absa.runs.engines.worker_number import MEMORY_OF_A_PROCESS
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition

DEFAULT_CONCURRENCY: Final = 16
PAYS_FROM: Final = 500
"""Reviews from which several processes are quicker than one: each takes two seconds to load the engine."""


@dataclass(frozen=True)
class EngineSettings:
    """What a process needs to build the same pipeline; it can be pickled."""

    backbone: BackboneSettings
    condition: Condition
    pipeline: PipelineSettings | None
    memory: EpisodicMemorySettings | None
    seed: int


@dataclass(frozen=True)
class BatchPlan:
    """Everything that a batch needs."""

    pipeline: Pipeline
    settings: EngineSettings | None
    """None: the backend was made by the caller and stays in this process."""
    seed: int
    first_index: int
    concurrency: int = DEFAULT_CONCURRENCY
    processes: int | None = None

    def __post_init__(self) -> None:
        for name, number in (("concurrency", self.concurrency), ("processes", self.processes)):
            if number is None and name == "processes":
                continue
            if not isinstance(number, int) or isinstance(number, bool):
                raise ConfigError(f"{name} must be an integer, got {type(number).__name__}", key=name)
            if number < 1:
                raise ConfigError(f"{name} must be at least 1, got {number}", key=name)
        if (self.processes or 1) > 1 and not self.may_share_out:
            raise ConfigError(
                "several processes serve the embedded engine without memory and without a recording; "
                "leave processes out",
                key="processes",
            )

    @property
    def may_share_out(self) -> bool:
        """Whether other processes give the same results: the engine is shipped, and no memory connects the reviews."""
        if self.settings is None or not sys.executable:
            return False
        backbone = self.settings.backbone
        return shipped_fingerprint(backbone) is not None and backbone.record is None and not self.has_memory

    @property
    def has_memory(self) -> bool:
        """Whether the result of a review may depend on the reviews before it, or on its uid."""
        condition = self.pipeline.memory.condition
        return condition.retrieval_execute or condition.store_write

    def processes_for(self, least_n: int) -> int:
        """Return how many processes analyse a batch of at least so many reviews; 1 is this process."""
        if self.processes is not None:
            return self.processes
        if least_n < PAYS_FROM or not self.may_share_out:
            return 1
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return max(1, min(_cores(), memory // MEMORY_OF_A_PROCESS))

    @property
    def samples_ahead(self) -> int:
        """Reviews that are started and not yet finished, in this process."""
        # An engine in this process never waits. Twice the requests: a review's last ones leave places empty.
        return 1 if self.pipeline.backend.is_local else 2 * self.concurrency


def _cores() -> int:
    """Return how many cores this process may use."""
    # macOS has no affinity.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
