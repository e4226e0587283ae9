"""The keys of an experiment's configuration that readers of a run need, as its manifest records them."""

from pathlib import Path

from pydantic import ConfigDict

from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.vocabulary import Effort, ProcessSplit


class _Excerpt(FrozenModel):
    model_config = ConfigDict(extra="ignore")


class RecordedData(_Excerpt):
    """The block `data`."""

    train_file: Path | None
    process_split: ProcessSplit


class RecordedEval(_Excerpt):
    """The block `eval`."""

    count_backfilled: Flag


class RecordedPipeline(_Excerpt):
    """The block `pipeline`."""

    ev_weights: tuple[float, float, float, float]
    effort: Effort = "full"
    votes: int = 1


class RecordedMemory(_Excerpt):
    """The block `episodic_memory`."""

    conditions_path: str | None
    store_path: str | None


class RecordedExperiment(_Excerpt):
    """The block `experiment`."""

    conditions: tuple[str, ...] | None
    comparisons: tuple[tuple[str, str], ...] | None
    shuffle: Flag
    seed: int | None = None
    """The seed of the one cell."""
    order: int | None = None
    """The order of the one cell; None in a run of version 0.1."""


class RecordedConfig(_Excerpt):
    """An excerpt: a reader of a run needs no model of backends, agents or memory to read these keys."""

    out: Path
    data: RecordedData
    eval: RecordedEval
    pipeline: RecordedPipeline
    episodic_memory: RecordedMemory
    experiment: RecordedExperiment
