"""The types of the public API, as users see them: mypy checks this file, nothing runs it."""

from pathlib import Path
from typing import assert_type

from episodic_absa import (
    Advice,
    AgentMemory,
    Analyzer,
    Aspect,
    BackboneSettings,
    Backend,
    Condition,
    EpisodicMemorySettings,
    PipelineSettings,
    Run,
    SampleResult,
    Situation,
    analyze,
    load_condition,
    run_experiment,
)
from episodic_absa.experiment import CellResult
from episodic_absa.metrics.statistics import Comparison
from episodic_absa.runs.progress import GridProgress
from episodic_absa.vocabulary import ResultLabel


def one_review(backend: Backend) -> None:
    with Analyzer(backend=backend, condition="C2", store=Path("store.jsonl"), seed=1) as analyzer:
        assert_type(analyzer, Analyzer)
        assert_type(analyzer.analyze("text", language_code="en", uid="r1"), SampleResult)
    assert_type(analyze("text", backend=BackboneSettings(), pipeline=PipelineSettings()), SampleResult)
    assert_type(analyze("text", memory=EpisodicMemorySettings(topk=1)), SampleResult)
    assert_type(load_condition("C1", "v1_3"), Condition)
    analyze("text", temperature=1)  # type: ignore[call-arg]


def a_result(result: SampleResult) -> None:
    assert_type(result.label, ResultLabel)
    assert_type(result.aspects, tuple[Aspect, ...])
    assert_type(result.aspects[0].span, tuple[int, int] | None)
    assert_type(result.to_json(), str)


def a_memory() -> None:
    situation = Situation(language="en", structures={"negation"}, risks=["irony"])
    with AgentMemory("store.jsonl") as memory:
        assert_type(memory.recall(situation), Advice)
        assert_type(memory.remember(situation, "kept", "better"), str)
        memory.remember(situation, "flipped", "better")  # type: ignore[arg-type]
    Situation(language="english")  # type: ignore[arg-type]


def _watch(grid: GridProgress) -> None:
    assert_type(grid.failed, int)


def an_experiment() -> None:
    run = run_experiment("experiments/quickstart.yaml", use_cache_file=False, progress=_watch)
    assert_type(run, Run)
    assert_type(run.cells, tuple[CellResult, ...])
    assert_type(run.cells[0].metrics.get("tuple_f1_explicit"), float | None)
    assert_type(run.compare("C2", "C1"), Comparison)
    assert_type(run.report(), Path)
