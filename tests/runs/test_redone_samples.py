"""What failed is done again by the next run, and the end equals that of a run that nothing disturbed."""

import asyncio
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import Around, Failing, exact_bytes, outputs_of, write_experiment

from episodic_absa.backends.backend import RepairingBackend, Replier, Reply, Request
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.runs.cell_run import TooManyFailuresError
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import OUTPUTS
from episodic_absa.runs.failure_causes import read_failures
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.reading.manifest_file import MANIFEST

CONDITIONS = ["C1", "C2", "C2_frozen"]
BAD_DAY = ("valid-ko-sight-4", "valid-en-hotel-6", "valid-ko-phone-5", "train-en-course-3")
CHANGES: dict[str, dict[str, Any]] = {"experiment": {"conditions": CONDITIONS}, "data": {"limit": 9}}


class Counted(Around):
    """Counts the requests by review."""

    def __init__(self, replier: Replier | None = None) -> None:
        super().__init__(replier)
        self.by_text: Counter[str] = Counter()

    async def reply(self, request: Request) -> Reply:
        self.by_text[request.ask.inputs.text] += 1
        return await super().reply(request)


def run_grid(path: Path, replier: Replier, *, keep_failures: bool = False, stop_after: int = 0) -> GridProgress:
    """Run a grid; it is cancelled after so many changes of its progress."""
    progress = GridProgress()

    async def run() -> None:
        seen = 0

        def count(_: GridProgress) -> None:
            nonlocal seen
            seen += 1
            if seen == stop_after:
                task.cancel()

        progress.on_change = count
        grid = run_cells(
            load_experiment(path), progress=progress, keep_failures=keep_failures, backend=RepairingBackend(replier)
        )
        task = asyncio.ensure_future(grid)
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    asyncio.run(run())
    return progress


def texts_of(path: Path) -> dict[str, str]:
    texts = {}
    for traces in (path.parent / "results" / "grid").glob("*/traces.jsonl"):
        for line in traces.read_text("utf-8").splitlines():
            trace = json.loads(line)
            texts[trace["case_trace"]["case_id"]] = trace["text"]
    return texts


def failures_of(path: Path) -> dict[str, list[str]]:
    cells = sorted((path.parent / "results" / "grid").glob(f"*/{OUTPUTS}"))
    return {
        cell.parent.name: [line["uid"] for line in outputs_of(cell.parent) if line["status"] == "error"]
        for cell in cells
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    run_grid(write_experiment(folder, **CHANGES), EmbeddedReplier())
    return folder / "grid.yaml"


@pytest.fixture(scope="module")
def disturbed(undisturbed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished grid in which some samples failed: in the build, at the debate, at Stage2."""
    folder = tmp_path_factory.mktemp("disturbed")
    path = write_experiment(folder, **CHANGES)
    bad = {texts_of(undisturbed)[uid] for uid in BAD_DAY}
    failing = Failing(lambda request: request.ask.inputs.text in bad and request.ask.role in ("cj", "stage2_validator"))
    run_grid(path, failing)
    found = failures_of(path)
    assert found["build__seed42"] == ["train-en-course-3"]
    assert found["C1__seed42"] == found["C2_frozen__seed42"] == list(BAD_DAY[:3])
    return path


def copied(path: Path, folder: Path) -> Path:
    shutil.copytree(path.parent, folder, dirs_exist_ok=True)
    return folder / path.name


def grid_bytes(path: Path) -> dict[str, bytes]:
    return exact_bytes(path.parent / "results" / "grid")


def test_the_next_run_does_failed_samples_again_and_ends_as_if_nothing_had_failed(
    undisturbed: Path, disturbed: Path, tmp_path: Path
) -> None:
    path, engine = copied(disturbed, tmp_path), Counted()
    progress = run_grid(path, engine)
    assert grid_bytes(path) == grid_bytes(undisturbed)
    manifests = [json.loads(file.read_text()) for file in path.parent.glob(f"results/grid/*/{MANIFEST}")]
    assert len(manifests) == 4
    assert all(manifest["completed"] for manifest in manifests)
    assert not list(path.parent.rglob(".kept_samples*"))
    # C1 knows no memory: only what had failed there was run again.
    plain, stored = progress.cells["C1__seed42"], progress.cells["C2__seed42"]
    assert (plain.redone, plain.run_n, plain.resumed) == (3, 3, 6)
    assert stored.run_n == stored.total, "the store that it starts from was built again"
    again = Counted()
    assert run_grid(path, again).run_n == 0
    assert not again.by_text


def test_without_a_build_a_cell_that_stores_goes_back_to_its_first_failure_and_others_ask_for_failures_only(
    tmp_path: Path,
) -> None:
    conditions = ["C1", "C2_silent"]
    changes: dict[str, dict[str, Any]] = {
        "experiment": {"conditions": conditions},
        "episodic_memory": {"build": None},
        "data": {"limit": 8},
    }
    whole = write_experiment(tmp_path / "whole", **changes)
    run_grid(whole, EmbeddedReplier())
    texts = texts_of(whole)
    path = write_experiment(tmp_path / "bad", **changes)
    run_grid(path, Failing(lambda request: request.ask.inputs.text == texts["valid-en-hotel-6"]))
    engine = Counted()
    progress = run_grid(path, engine)
    assert grid_bytes(path) == grid_bytes(whole)
    assert [progress.cells[f"{name}__seed42"].run_n for name in conditions] == [1, 3]
    assert set(engine.by_text) == {
        texts[output["uid"]] for output in outputs_of(path.parent / "results" / "grid" / "C1__seed42")[5:]
    }
    assert engine.by_text[texts["valid-en-hotel-6"]] == 20


def test_a_redo_that_is_stopped_again_and_again_loses_nothing_and_ends_alike(
    undisturbed: Path, disturbed: Path, tmp_path: Path
) -> None:
    path, run_n, set_aside_n = copied(disturbed, tmp_path), 0, 0
    for stop_after in (3, 8, 7, 0):
        run_n += run_grid(path, EmbeddedReplier(), stop_after=stop_after).cells["C1__seed42"].run_n
        set_aside_n += len(list(path.parent.rglob(".kept_samples.jsonl")))
    assert set_aside_n >= 1
    assert run_n == 3, "what had not failed was committed again as it was"
    assert grid_bytes(path) == grid_bytes(undisturbed)
    assert not list(path.parent.rglob(".kept_samples*"))


def _everything(_: Request) -> bool:
    return True


@pytest.mark.parametrize(("limit", "conditions"), [(12, ["C1"]), (4, ["C1", "C2_silent", "C2"])])
def test_the_first_ten_samples_that_fail_alike_stop_the_run_which_goes_on_later(
    tmp_path: Path, limit: int, conditions: list[str]
) -> None:
    changes: dict[str, dict[str, Any]] = {"data": {"limit": limit}, "episodic_memory": {"build": None}}
    path = write_experiment(tmp_path / "bad", experiment={"conditions": conditions}, **changes)
    with pytest.raises(TooManyFailuresError, match=r"the first 10 samples failed alike: a SECRET-MESSAGE.*run again"):
        run_grid(path, Failing(_everything))
    done_n = sum(len(outputs_of(cell.parent)) for cell in path.parent.glob(f"results/grid/*/{OUTPUTS}"))
    assert done_n == 10
    run_grid(path, EmbeddedReplier())
    whole = write_experiment(tmp_path / "whole", experiment={"conditions": conditions}, **changes)
    run_grid(whole, EmbeddedReplier())
    assert grid_bytes(path) == grid_bytes(whole)


def test_an_unexpected_error_of_a_backend_fails_its_sample_only_and_is_laid_at_its_door(tmp_path: Path) -> None:
    path = write_experiment(
        tmp_path, experiment={"conditions": ["C1"]}, episodic_memory={"build": None}, data={"limit": 3}
    )
    seen = 0

    class Odd(Counted):
        async def reply(self, request: Request) -> Reply:
            nonlocal seen
            seen += 1
            if seen == 2:
                raise KeyError(request.ask.inputs.text)
            return await super().reply(request)

    progress = run_grid(path, Odd())
    assert progress.failed == 1
    [message] = read_failures(tmp_path / "results" / "grid" / "C1__seed42")
    assert " raised an unexpected KeyError in test_redone_samples.py, line " in message
    assert message.startswith("the backend ")
