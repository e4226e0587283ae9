"""Builds the pipeline that an experiment file describes."""

from pathlib import Path

from episodic_absa.backends.backend import Backend
from episodic_absa.memory import MemoryStore
from episodic_absa.pipeline.composition import Pipeline, build_pipeline
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.schemas.run import Condition
from episodic_absa.serialization.durable_file import DurableFile


def build_experiment_pipeline(
    config: ExperimentConfig,
    *,
    backend: Backend,
    condition: Condition,
    store: Path,
    open_file: type[DurableFile] = DurableFile,
    referee: bool | None = None,
) -> Pipeline:
    """Return the pipeline of one condition.

    Args:
        config: the experiment.
        backend: answers every call; pipelines of other conditions may share it.
        condition: one of the experiment, or another one to measure with.
        store: the file of the condition's memory.
        open_file: how the store is written.
        referee: whether the referee is asked; None: as the experiment says.

    Raises:
        ConfigError: the allowlist cannot be read.
    """
    file, keep_last_n = config.file, config.file.episodic_memory.keep_last_n
    return build_pipeline(
        backend=backend,
        condition=condition,
        store=MemoryStore(store, keep_last_n=keep_last_n, open_file=open_file),
        settings=file.pipeline,
        memory=file.episodic_memory,
        debate_slot_name=file.io.slot_memory_name,
        keep_last_n=keep_last_n,
        root=config.root,
        referee=referee,
    )
