"""Aspect-based sentiment analysis by debating agents, and an episodic memory whose benefit can be measured."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from episodic_absa.analyzer import Analyzer, analyze
    from episodic_absa.backends.backend import Backend
    from episodic_absa.backends.create_backend import BackboneSettings
    from episodic_absa.batch import AnalysisFailure
    from episodic_absa.conditions import load_condition, load_conditions
    from episodic_absa.errors import (
        BackendError,
        ConfigError,
        DatasetError,
        EpisodicAbsaError,
        InputError,
        LeakageError,
        MemoryStoreError,
        RunDirectoryError,
    )
    from episodic_absa.experiment import Run, run_experiment
    from episodic_absa.memory import (
        Advice,
        AgentMemory,
        EpisodicMemorySettings,
        EpisodicOrchestrator,
        MemoryStore,
        Retriever,
        SignatureBuilder,
        Situation,
        load_catalogue,
    )
    from episodic_absa.pipeline.result_views.aspects import Aspect
    from episodic_absa.pipeline.result_views.results_frame import results_frame
    from episodic_absa.pipeline.sample_result import SampleResult
    from episodic_absa.reader.reader import read
    from episodic_absa.runs.config.experiment_config import load_experiment
    from episodic_absa.schemas.absa import Sample
    from episodic_absa.schemas.pipeline_settings import PipelineSettings
    from episodic_absa.schemas.run import Condition

__all__ = [
    "Advice",
    "AgentMemory",
    "AnalysisFailure",
    "Analyzer",
    "Aspect",
    "BackboneSettings",
    "Backend",
    "BackendError",
    "Condition",
    "ConfigError",
    "DatasetError",
    "EpisodicAbsaError",
    "EpisodicMemorySettings",
    "EpisodicOrchestrator",
    "InputError",
    "LeakageError",
    "MemoryStore",
    "MemoryStoreError",
    "PipelineSettings",
    "Retriever",
    "Run",
    "RunDirectoryError",
    "Sample",
    "SampleResult",
    "SignatureBuilder",
    "Situation",
    "analyze",
    "load_catalogue",
    "load_condition",
    "load_conditions",
    "load_experiment",
    "read",
    "results_frame",
    "run_experiment",
]

_HOMES: Final = {
    "Advice": "memory",
    "AgentMemory": "memory",
    "AnalysisFailure": "batch",
    "Analyzer": "analyzer",
    "Aspect": "pipeline.result_views.aspects",
    "BackboneSettings": "backends.create_backend",
    "Backend": "backends.backend",
    "BackendError": "errors",
    "Condition": "schemas.run",
    "ConfigError": "errors",
    "DatasetError": "errors",
    "EpisodicAbsaError": "errors",
    "EpisodicMemorySettings": "memory",
    "EpisodicOrchestrator": "memory",
    "InputError": "errors",
    "LeakageError": "errors",
    "MemoryStore": "memory",
    "MemoryStoreError": "errors",
    "PipelineSettings": "schemas.pipeline_settings",
    "Retriever": "memory",
    "Run": "experiment",
    "RunDirectoryError": "errors",
    "Sample": "schemas.absa",
    "SampleResult": "pipeline.sample_result",
    "SignatureBuilder": "memory",
    "Situation": "memory",
    "analyze": "analyzer",
    "load_catalogue": "memory",
    "load_condition": "conditions",
    "load_conditions": "conditions",
    "load_experiment": "runs.config.experiment_config",
    "read": "reader.reader",
    "results_frame": "pipeline.result_views.results_frame",
    "run_experiment": "experiment",
}

# A library stays silent unless its user configures logging.
logging.getLogger("episodic_absa").addHandler(logging.NullHandler())


# Names are imported on first use: the command line prints its help without loading any model.
def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("episodic-absa")
    if name in _HOMES:
        return getattr(import_module(f"episodic_absa.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'episodic_absa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
