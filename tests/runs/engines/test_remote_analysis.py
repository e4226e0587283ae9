"""A cell whose samples workers analyse: the bytes of the local engine, wherever its workers are lost."""

import asyncio
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import exact_bytes, outputs_of, run_here, write_experiment

from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError, RunDirectoryError
from episodic_absa.runs.cell_run import CellSpec, TooManyFailuresError, run_cell
from episodic_absa.runs.config import ExperimentConfig, all_cells, load_experiment, start_stores
from episodic_absa.runs.config.cfg_hash import resource_hashes
from episodic_absa.runs.engines.cell_task import AnalysedSample, CellTask, TaskEnd, Trouble
from episodic_absa.runs.engines.cell_worker import CellWorker
from episodic_absa.runs.engines.remote_analysis import RemoteAnalysis, is_sliced, slice_size
from episodic_absa.runs.engines.sample_engine import Analysis, CellWork
from episodic_absa.runs.engines.worker_pool import WorkerLostError


class WorkersHere:
    """A worker in this process that gets and gives pickles, and is lost after so many samples of each task."""

    size = 2
    honours_seed = True

    def __init__(self, config: ExperimentConfig, lost_after: int) -> None:
        self._config = config
        self._worker = CellWorker(config, version("episodic-absa"), None, "here")
        self._lost_after = lost_after
        self.loss_n = 0

    @asynccontextmanager
    async def analysing(self, work: CellWork) -> AsyncIterator[Analysis]:
        resources = resource_hashes(self._config, work.cell.condition)
        analysis = RemoteAnalysis(work, self, self._config.file.experiment.concurrency, resources)
        try:
            yield analysis
        finally:
            await analysis.close()

    @asynccontextmanager
    async def lent(self) -> AsyncIterator["WorkersHere"]:
        yield self

    async def run(self, task: CellTask) -> AsyncIterator[AnalysedSample | TaskEnd | Trouble]:
        done_n = 0
        async for sent in self._worker.run(pickle.loads(pickle.dumps(task))):  # noqa: S301 - written here
            if isinstance(sent, AnalysedSample) and done_n == self._lost_after:
                self.loss_n += 1
                raise WorkerLostError("killed")
            done_n += 1
            yield pickle.loads(pickle.dumps(sent))  # noqa: S301 - written here


async def run_all(config: ExperimentConfig, workers: WorkersHere) -> None:
    starts = start_stores(config)
    for cell in all_cells(config):
        spec = CellSpec(config, cell.name, start_store=starts.get(cell.name) if cell.needs_store else None)
        await run_cell(spec, engine=workers)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_here(write_experiment(tmp_path_factory.mktemp("plain"))).out_dir


@pytest.mark.parametrize("lost_after", [1, 5])
def test_wherever_workers_are_lost_no_byte_changes(plain: Path, tmp_path: Path, lost_after: int) -> None:
    config = load_experiment(write_experiment(tmp_path))
    workers = WorkersHere(config, lost_after)
    asyncio.run(run_all(config, workers))
    assert exact_bytes(config.out_dir) == exact_bytes(plain)
    assert workers.loss_n > 0


def test_a_sample_that_ends_every_worker_stops_the_run_and_is_named(tmp_path: Path) -> None:
    config = load_experiment(write_experiment(tmp_path, episodic_memory={"build": None}))
    workers = WorkersHere(config, lost_after=0)
    with pytest.raises(RunDirectoryError, match=r"5 workers in a row ended at sample valid-en-phone-1 of C1__seed42"):
        asyncio.run(run_all(config, workers))


def test_samples_that_fail_alike_stop_a_run_on_workers_too(tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "backbone": {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"},
        "experiment": {"conditions": ["C1"]},
        "episodic_memory": {"build": None},
    }
    config = load_experiment(write_experiment(tmp_path, **changes))
    with pytest.raises(TooManyFailuresError, match=r"the first 10 samples failed alike: openai:m .*127\.0\.0\.1:9"):
        asyncio.run(run_all(config, WorkersHere(config, lost_after=100)))
    assert [output["status"] for output in outputs_of(config.out_dir / "C1__seed42")] == ["error"] * 10


def test_a_worker_with_other_files_refuses_the_task_and_names_them(tmp_path: Path) -> None:
    config = load_experiment(write_experiment(tmp_path))
    condition = load_condition("C1")
    resources = resource_hashes(config, condition)

    async def end_of(task: CellTask) -> AnalysedSample | TaskEnd | Trouble:
        worker = CellWorker(config, version("episodic-absa"), None, "here")
        [end] = [sent async for sent in worker.run(task)]
        return end

    task = CellTask(condition, 42, False, (), 0, None, False, resources)
    assert isinstance(asyncio.run(end_of(task)), TaskEnd)
    elsewhere = {**resources, min(resources): "another file", "unknown here": "a file"}
    refused = asyncio.run(end_of(replace(task, resources=elsewhere)))
    assert isinstance(refused, Trouble)
    assert isinstance(refused.error, ConfigError)
    assert f"than where the command runs: {min(resources)}, unknown here. Install" in str(refused.error)


def test_only_cells_whose_prompts_never_show_memory_are_cut_into_slices() -> None:
    names = ("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen")
    assert [name for name in names if is_sliced(load_condition(name))] == ["C1", "C2_silent", "C2_eval_only"]
    assert slice_size(load_condition("C2"), 5000, workers=2) == 5000
    assert slice_size(load_condition("C1"), 5000, workers=2) == 32
    assert slice_size(load_condition("C1"), 16, workers=2) == 2
