"""The keys of an experiment's configuration that readers of a run need, as its manifest records them."""

from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.vocabulary import DebateCall, Effort, ProcessSplit


class _Excerpt(FrozenModel):
    model_config = ConfigDict(extra="ignore")


class RecordedData(_Excerpt):
    """The block `data`."""

    input_format: Literal["csv", "jsonl", "semeval_xml", "nikl_absa_2022"]
    text_column: str
    train_file: Path | None
    process_split: ProcessSplit


class RecordedEval(_Excerpt):
    """The block `eval`."""

    gold_column: str | None = None
    aspect_column: str | None = None
    polarity_column: str | None = None
    count_backfilled: Flag


class RecordedDebate(_Excerpt):
    """The block `pipeline.debate`."""

    memory_visible_to: tuple[DebateCall, ...]


class RecordedPipeline(_Excerpt):
    """The block `pipeline`."""

    debate: RecordedDebate

    ev_weights: tuple[float, float, float, float]
    effort: Effort = "full"
    votes: int = 1


class RecordedMemory(_Excerpt):
    """The block `episodic_memory`."""

    conditions_path: str | None
    store_path: str | None
    keep_last_n: int


class RecordedExperiment(_Excerpt):
    """The block `experiment`."""

    conditions: tuple[str, ...] | None
    comparisons: tuple[tuple[str, str], ...] | None
    shuffle: Flag
    seed: int | None = None
    """The seed of the one cell."""
    order: int | None = None
    """The order of the one cell."""


class RecordedConfig(_Excerpt):
    """An excerpt: a reader of a run needs no model of backends, agents or memory to read these keys."""

    out: Path
    data: RecordedData
    eval: RecordedEval
    pipeline: RecordedPipeline
    episodic_memory: RecordedMemory
    experiment: RecordedExperiment
