"""The examples in the docstrings of memory, conditions and the pipeline's settings give the results they show."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

MODULES = (
    "episodic_absa.schemas.pipeline_settings",
    "episodic_absa.conditions.conditions_file",
    "episodic_absa.language.korean_analyser",
    "episodic_absa.memory.advice.advisory_builder",
    "episodic_absa.memory.advice.chance",
    "episodic_absa.memory.advice.placebo",
    "episodic_absa.memory.advice.principles",
    "episodic_absa.memory.episodes.leak_guard",
    "episodic_absa.memory.episodes.episode_builder",
    "episodic_absa.memory.episodic_orchestrator",
    "episodic_absa.memory.injection.advisory_injection_gate",
    "episodic_absa.memory.injection.injection_controller",
    "episodic_absa.memory.memory_store",
    "episodic_absa.memory.retriever",
    "episodic_absa.memory.signature_builder",
    "episodic_absa.schemas.overlays",
    "episodic_absa.serialization.seals",
    "episodic_absa.store.dialects.jsonl_dialect",
    "episodic_absa.store.sealed_rows",
    "episodic_absa.store.uids",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
