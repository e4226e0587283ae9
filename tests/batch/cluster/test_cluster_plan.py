"""How a batch is shared out over a cluster, without one."""

from pathlib import Path
from typing import Any

import pytest

from episodic_absa.backends.create_backend import backbone_from
from episodic_absa.batch.batch_plan import EngineSettings
from episodic_absa.batch.cluster import ClusterJob, ClusterWorker, Trouble, sum_of, texts_to_analyse
from episodic_absa.conditions import load_condition
from episodic_absa.datasets.tables.review_table import ReviewRow
from episodic_absa.errors import ConfigError

GIB = 1 << 30


def make_job(
    *, backend: str = "embedded", condition: str = "C1", store: str = "store.jsonl", **asked: Any
) -> ClusterJob:
    settings = EngineSettings(backbone_from(backend, base_url=None), load_condition(condition, None), None, None, 0)
    return ClusterJob(settings, store, **{"rows_n": 10_000, **asked})


@pytest.mark.parametrize(
    ("cores", "gib", "rows_n", "workers", "reviews_per_task"),
    [(8, 64, 10_000, 8, 64), (8, 5, 10_000, 2, 64), (2, 64, 40, 2, 5), (8, 1, 3, 1, 1), (8, 64, 3, 3, 1)],
)
def test_the_engine_gets_a_worker_per_core_if_there_is_memory_and_work(
    cores: int, gib: int, rows_n: int, workers: int, reviews_per_task: int
) -> None:
    plan = make_job(rows_n=rows_n).plan_for({"CPU": cores, "memory": gib * GIB})
    assert (plan.workers, plan.reviews_per_task, plan.remembered_n) == (workers, reviews_per_task, 500)


@pytest.mark.parametrize(
    ("concurrency", "asked", "workers"), [(1, None, 1), (2, 8, 1), (16, None, 1), (64, None, 4), (64, 8, 8), (17, 8, 8)]
)
def test_requests_of_all_workers_stay_below_the_limit_and_leave_one_for_a_second_try(
    concurrency: int, asked: int | None, workers: int
) -> None:
    job = make_job(backend="openai:some", concurrency=concurrency, workers=asked)
    plan = job.plan_for({"CPU": 8, "memory": 64 * GIB})
    assert plan.workers == workers
    assert plan.requests_per_worker >= 1
    assert plan.workers * plan.requests_per_worker + (concurrency > 1) <= concurrency
    assert plan.tries_again == (concurrency > 1)
    assert plan.remembered_n == 10_000


def test_a_cluster_that_is_too_small_is_refused() -> None:
    with pytest.raises(ConfigError, match="the Ray cluster has 2; ask for at most 2"):
        make_job(workers=3).plan_for({"CPU": 2})
    with pytest.raises(ConfigError, match="has no CPU; start a worker node"):
        make_job().plan_for({"memory": 64 * GIB})


def test_a_condition_that_writes_is_refused_and_one_that_only_reads_shares_no_texts() -> None:
    with pytest.raises(ConfigError, match="each review depends on those before it"):
        make_job(condition="C2")
    assert make_job(condition="C2_frozen").plan_for({"CPU": 1}).remembered_n == 0


def test_texts_that_are_remembered_are_not_analysed_again() -> None:
    rows = [ReviewRow(text, {}) for text in ("a", "b", "", "a", "c", "b", "a")]
    assert list(texts_to_analyse(rows, remembered_n=500)) == ["a", "b", "c"]
    assert list(texts_to_analyse(rows, remembered_n=2)) == ["a", "b", "c", "b", "a"]
    assert list(texts_to_analyse(rows, remembered_n=0)) == ["a", "b", "a", "c", "b", "a"]


def test_a_worker_that_sees_another_store_reports_it_instead_of_results(tmp_path: Path) -> None:
    store = tmp_path / "store.jsonl"
    plan = make_job(condition="C2_frozen", store=str(store)).plan_for({"CPU": 1})
    assert plan.store_sum == "none"
    assert sum_of("postgresql://host/db") == ""
    store.write_text("{}\n")
    trouble = ClusterWorker(plan, str).analyse(["The room was clean."])
    assert isinstance(trouble, Trouble)
    assert "the store of the memory is another one there; put it on a disk that all nodes share" in trouble.message
