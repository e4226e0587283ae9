"""Aspect-based sentiment analysis by debating agents, and an episodic memory whose benefit can be measured."""

import logging
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from episodic_absa.analyzer import Analyzer, analyze
    from episodic_absa.conditions import load_condition, load_conditions
    from episodic_absa.errors import ConfigError, EpisodicAbsaError, LeakageError, MemoryStoreError
    from episodic_absa.memory import (
        EpisodicMemorySettings,
        EpisodicOrchestrator,
        MemoryStore,
        Retriever,
        SignatureBuilder,
        load_catalogue,
    )

__all__ = [
    "Analyzer",
    "ConfigError",
    "EpisodicAbsaError",
    "EpisodicMemorySettings",
    "EpisodicOrchestrator",
    "LeakageError",
    "MemoryStore",
    "MemoryStoreError",
    "Retriever",
    "SignatureBuilder",
    "analyze",
    "load_catalogue",
    "load_condition",
    "load_conditions",
]

_HOME = {
    "conditions": ("load_condition", "load_conditions"),
    "errors": ("ConfigError", "EpisodicAbsaError", "LeakageError", "MemoryStoreError"),
    "memory": (
        "EpisodicMemorySettings",
        "EpisodicOrchestrator",
        "MemoryStore",
        "Retriever",
        "SignatureBuilder",
        "load_catalogue",
    ),
    "analyzer": ("Analyzer", "analyze"),
}

# A library stays silent unless its user configures logging.
logging.getLogger("episodic_absa").addHandler(logging.NullHandler())


# Names are looked up on first use, so that the command line does not load every model to print its help.
def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("episodic-absa")
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"episodic_absa.{module}"), name)
    raise AttributeError(f"module 'episodic_absa' has no attribute {name!r}")
