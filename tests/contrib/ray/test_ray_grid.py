"""`experiment.engine: ray` on a real cluster of this machine: the local engine's bytes, also with lost processes."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.ray.cluster_processes import kill_workers, wait_until_ended
from tests.runs.small_grid import exact_bytes, write_experiment
from tests.warm_python import WarmProcess

from episodic_absa.runs.config import ExperimentConfig, load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.schemas.run_files.manifest import Manifest

# Ray warns of its own settings, and of files that it leaves to the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PROGRAM = Path(__file__).parents[2] / "runs" / "run_grid_process.py"
GRID: dict[str, Any] = {"conditions": ["C1", "C2", "C2_frozen"], "seeds": [1, 2]}


class Stop(Exception):  # noqa: N818 - it is how a test stops a run
    """Ends a run in the middle."""


def run(path: Path, reached: Callable[[GridProgress], None] = lambda _: None) -> ExperimentConfig:
    """Run a grid with the engine that its file names; `reached` is called after every commit and may raise."""
    config = load_experiment(path)
    asyncio.run(run_cells(config, progress=GridProgress(on_change=reached)))
    return config


def manifests_of(out: Path) -> list[Manifest]:
    return [Manifest.model_validate_json(path.read_bytes()) for path in sorted(out.glob(f"*/{MANIFEST}"))]


@pytest.mark.usefixtures("cluster")
def test_a_grid_that_begins_here_and_loses_its_workers_ends_as_on_one_machine(tmp_path: Path) -> None:
    alone = run(write_experiment(tmp_path / "alone", experiment=GRID)).out_dir
    killed: list[int] = []

    def stop(progress: GridProgress) -> None:
        if progress.run_n >= 8:
            raise Stop

    def kill(progress: GridProgress) -> None:
        cell = progress.cells["C2__seed1"]
        if not killed and cell.resumed < cell.done < cell.total:
            killed.append(kill_workers())

    with pytest.raises(Stop):
        run(write_experiment(tmp_path / "shared", experiment=GRID), stop)
    out = run(write_experiment(tmp_path / "shared", experiment={**GRID, "engine": "ray"}), kill).out_dir
    assert killed
    assert killed[0] >= 1
    assert exact_bytes(out) == exact_bytes(alone)
    assert manifests_of(out) == manifests_of(alone)
    wait_until_ended()


def test_a_lost_command_leaves_a_run_that_continues_here(cluster: Any, tmp_path: Path) -> None:
    alone: dict[str, Any] = {"experiment": {"conditions": ["C2"]}, "episodic_memory": {"build": None}}
    plain = run(write_experiment(tmp_path / "plain", **alone)).out_dir
    alone["experiment"] |= {"engine": "ray", "ray_address": cluster.get_runtime_context().gcs_address}
    path = write_experiment(tmp_path / "killed", **alone)
    with WarmProcess([PROGRAM, path]) as driver:
        assert driver.stdout is not None
        for _ in range(6):
            assert driver.stdout.readline() == b"commit\n"
        driver.send_signal(signal.SIGKILL)
        rest, _ = driver.communicate()
    assert not rest.endswith(b"done\n")
    alone["experiment"] |= {"engine": "local", "ray_address": None}
    out = run(write_experiment(tmp_path / "killed", **alone)).out_dir
    assert exact_bytes(out) == exact_bytes(plain)
    assert manifests_of(out) == manifests_of(plain)
