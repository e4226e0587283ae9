"""`verify` passes what the runner wrote, says what it could not look at, and writes it down."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from tests.reports.shared_grids import hostile_grid
from tests.runs.sealed_files import write_sealed

from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.create_backend import create_backend
from episodic_absa.errors import BackendUnavailableError, RunDirectoryError
from episodic_absa.experiment import run_grid
from episodic_absa.runs.config import load_experiment
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.verification import verify


def result_of(results: tuple[CheckResult, ...], check: str) -> CheckResult:
    return next(result for result in results if result.check == check)


def test_a_review_that_names_the_slot_or_its_uid_passes_and_poses_as_no_memory(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    made = hostile_grid(tmp_path_factory)
    copied = shutil.copytree(made.parents[1], tmp_path / "copy") / made.relative_to(made.parents[1])
    verified = verify(copied)
    assert verified.failures == ()
    named = {"slot-1", "order-2026-000117-1"}
    for cell in ("C1__seed42", "C2__seed42"):
        traces = [json.loads(line) for line in (copied / cell / "traces.jsonl").read_text("utf-8").split("\n")[:-1]]
        ours = [trace for trace in traces if trace["case_trace"]["case_id"] in named]
        assert len(ours) == len(named)
        assert not any(trace.get("error") for trace in ours)
        unseen = ("stage1", "debate", "stage2") if cell.startswith("C1") else ("stage1",)
        calls = [call for trace in ours for call in trace["calls"] if call["stage"] in unseen]
        assert {call["memory_slot_present"] for call in calls} == {False}


def test_every_check_looked_at_something_in_some_cell(grid: Path) -> None:
    verified = verify(grid)
    passed = {result.check for results in verified.cells.values() for result in results if result.result == "pass"}
    known = {result.check for results in verified.cells.values() for result in results}
    # Labels agree with their pairs under rules v3 only, override decisions are made under seed rules only.
    # No condition of this grid has an advice overlay; tests/runs/test_arms_grid.py has some.
    assert known - passed == {"arm_promises"}
    details = {result.detail: result.result for results in verified.cells.values() for result in results}
    assert "looked at 0" not in details
    assert details["nothing to look at"] == "not_applicable"


def test_integrity_json_stands_in_every_cell_and_in_the_grid(grid: Path) -> None:
    verified = verify(grid)
    for directory, results in (
        (grid, verified.grid),
        *((grid / name, cell_results) for name, cell_results in verified.cells.items()),
    ):
        written = json.loads((directory / "integrity.json").read_bytes())
        assert [result["check"] for result in written] == [result.check for result in results]
        assert all(result.keys() - {"sha256"} == {"check", "result", "detail", "count"} for result in written)


def test_one_cell_can_be_verified_alone(grid: Path) -> None:
    verified = verify(grid / "C2__seed42")
    assert verified.failures == ()
    assert set(verified.cells) == {"C2__seed42"}
    assert verified.grid == ()


def test_nothing_but_integrity_json_is_written(grid: Path) -> None:
    before = {path: path.read_bytes() for path in grid.rglob("*") if path.is_file()}
    verify(grid)
    after = {path: path.read_bytes() for path in grid.rglob("*") if path.is_file()}
    assert {path.name for path in after.keys() - before.keys()} == {"integrity.json"}
    assert all(after[path] == content for path, content in before.items())


def test_a_run_moved_away_from_its_data_says_where_it_belongs(grid: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.move(grid, moved)
    (found,) = [result for name, result in verify(moved).failures if name == "C2__seed42"]
    assert found.check == "samples_read"
    assert (
        "its data, data/valid.csv, are out of reach: keep the run directory where its experiment file" in found.detail
    )


def test_a_run_of_another_version_is_not_held_against_this_one(grid: Path) -> None:
    path = grid / "C2__seed42" / "manifest.json"
    write_sealed(path, {**json.loads(path.read_bytes()), "package_version": "0.0.1"})
    verified = verify(grid / "C2__seed42")
    assert verified.failures == ()
    assert result_of(verified.cells["C2__seed42"], "resources").result == "not_applicable"


def test_samples_that_failed_are_no_fault_of_the_run(grid: Path) -> None:
    folder = grid.parents[1]
    shutil.rmtree(folder / "results")
    config = load_experiment(folder / "small.yaml")
    backend = _FailsInDebate(create_backend(config.file.backbone))
    progress = asyncio.run(run_grid(config, use_cache_file=False, backend=backend)).progress
    assert progress.failed > 0
    assert verify(grid).failures == ()


@pytest.mark.parametrize("name", ["no_such_place", "data"])
def test_a_directory_that_no_run_wrote_is_refused(name: str, grid: Path) -> None:
    with pytest.raises(RunDirectoryError, match="directory"):
        verify(grid.parents[1] / name)


class _FailsInDebate(PassedOnFacts):
    """Loses the connection when the judge of a Korean review is asked."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._backend = backend

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        if ask.role == "judge" and ask.inputs.language == "ko":
            raise BackendUnavailableError("no connection", backend=self.name, kind="provider_error")
        return await self._backend.answer(ask)

    async def close(self) -> None:
        await self._backend.close()
