"""`experiment.engine: ray` on a real cluster of this machine: the bytes of the local engine, also with lost processes.

One cluster serves all tests of this file; starting it and its workers is most of their time.
"""

import asyncio
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra
from tests.runs.engines.cluster_processes import kill_a_worker, wait_until_ended
from tests.runs.served_model import Served
from tests.runs.small_grid import Remembering, exact_bytes, run_here, write_experiment
from tests.warm_python import WarmProcess

from episodic_absa.runs.config import ExperimentConfig, load_experiment
from episodic_absa.runs.derived.derived_samples import SCORECARDS
from episodic_absa.runs.engines.ray_cluster import RayCluster, connect
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.run_files.manifest import Manifest

# Ray warns of its own settings, and of files that it leaves to the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PROGRAM = Path(__file__).parents[1] / "run_grid_process.py"
RAY = {"engine": "ray"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    require_extra("ray")
    with connect(None, feature="this test", num_cpus=2) as cluster:
        yield cluster


class Stop(Exception):  # noqa: N818 - it is how a test stops a run
    """Ends a run in the middle."""


def run_until(path: Path, reached: Callable[[GridProgress], None]) -> ExperimentConfig:
    """Run a grid; `reached` is called after every commit and may raise."""
    config = load_experiment(path)
    asyncio.run(run_cells(config, progress=GridProgress(on_change=reached)))
    return config


def stop_after(sample_n: int) -> Callable[[GridProgress], None]:
    def reached(progress: GridProgress) -> None:
        if progress.run_n >= sample_n:
            raise Stop

    return reached


def manifests_of(out: Path) -> list[Manifest]:
    return [Manifest.model_validate_json(path.read_bytes()) for path in sorted(out.glob(f"*/{MANIFEST}"))]


def comparable(out: Path) -> dict[str, object]:
    """What must be equal by path; of scorecards all but the tokens, which the engine does not use, and the backend."""
    exact: dict[str, object] = dict(exact_bytes(out))
    for path in out.glob(f"*/{SCORECARDS}"):
        cards = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        exact[str(path.relative_to(out))] = [{**card, "usage": None, "cfg_hash": None} for card in cards]
    for path in out.glob(f"*/{SAMPLES}"):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        exact[str(path.relative_to(out))] = [
            {**line, "calls": None, "cfg_hash": None, "sha256": None} for line in lines
        ]
    return exact


@pytest.mark.usefixtures("cluster")
def test_a_grid_that_begins_here_and_loses_one_of_two_workers_ends_as_on_one_machine(tmp_path: Path) -> None:
    limit = 17  # two workers
    grid: dict[str, Any] = {
        "experiment": {"conditions": ["C1", "C2", "C2_silent"], "seeds": [1, 2], "concurrency": limit},
        "data": {"limit": 12},
    }
    answers = Remembering()
    offline = run_here(write_experiment(tmp_path / "offline", **grid), answers).out_dir
    different_n = len(grid["experiment"]["seeds"]) * len(answers.texts)
    killed: list[int] = []
    before_n: list[int] = []
    state = GridProgress()

    def kill_one(progress: GridProgress) -> None:
        state.requests = progress.requests
        if not killed and progress.cells["C2__seed1"].done >= 3:
            before_n.append(server.count)
            killed.append(kill_a_worker())

    with Served(answers.texts, delay_s=0.05) as server:
        backbone = {"provider": "openai", "model": "m", "base_url": server.base_url}
        with pytest.raises(Stop):
            run_until(write_experiment(tmp_path / "served", backbone=backbone, **grid), stop_after(3))
        grid["experiment"] |= RAY
        out = run_until(write_experiment(tmp_path / "served", backbone=backbone, **grid), kill_one).out_dir
        sent_n, most = server.count, server.most_under_way()
        del server.times[before_n[0] :]
        most_before = server.most_under_way()
    assert len(killed) == 1
    assert comparable(out) == comparable(offline)
    wait_until_ended()
    assert most_before <= limit
    assert most <= 2 * limit, "the server still answers what a killed worker asked"
    # What was in flight at the two stops, or answered and not yet in the cache, is sent twice; nothing else.
    assert different_n <= sent_n <= different_n + 4 * limit
    counts = state.requests()
    assert 0 < counts.answered_n < sent_n
    assert counts.usage.tokens_in == 10 * counts.answered_n
    assert counts.in_flight_n == 0


def test_a_lost_driver_leaves_a_run_that_continues_here(cluster: RayCluster, tmp_path: Path) -> None:
    alone: dict[str, Any] = {"experiment": {"conditions": ["C2"]}, "episodic_memory": {"build": None}}
    plain = run_here(write_experiment(tmp_path / "plain", **alone)).out_dir
    alone["experiment"] |= {**RAY, "ray_address": cluster.ray.get_runtime_context().gcs_address}
    path = write_experiment(tmp_path / "killed", **alone)
    with WarmProcess([PROGRAM, path]) as driver:
        assert driver.stdout is not None
        for _ in range(6):
            assert driver.stdout.readline() == b"commit\n"
        driver.send_signal(signal.SIGKILL)
        rest, _ = driver.communicate()
    assert not rest.endswith(b"done\n")
    alone["experiment"] |= {"engine": "local", "ray_address": None}
    out = run_here(write_experiment(tmp_path / "killed", **alone)).out_dir
    assert exact_bytes(out) == exact_bytes(plain)
    assert manifests_of(out) == manifests_of(plain)
