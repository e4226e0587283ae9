"""Builds the pipeline that an experiment file describes."""

from episodic_absa.backends.backend import Backend
from episodic_absa.memory import MemoryStore
from episodic_absa.pipeline.composition import Pipeline, build_pipeline
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.schemas.run import Condition


def build_experiment_pipeline(
    config: ExperimentConfig,
    *,
    backend: Backend,
    condition: Condition,
    store: MemoryStore,
    referee: bool | None = None,
) -> Pipeline:
    """Return the pipeline of one condition.

    Args:
        config: the experiment.
        backend: answers every call; pipelines of other conditions may share it.
        condition: one of the experiment, or another one to measure with.
        store: of the condition's memory.
        referee: whether the referee is asked; None: as the experiment says.

    Raises:
        ConfigError: the allowlist cannot be read.
    """
    file = config.file
    return build_pipeline(
        backend=backend,
        condition=condition,
        store=store,
        settings=file.pipeline,
        memory=file.episodic_memory,
        debate_slot_name=file.io.slot_memory_name,
        keep_last_n=file.episodic_memory.keep_last_n,
        root=config.root,
        referee=referee,
    )
