"""`experiment.engine: ray`: what it refuses before a cluster is started, and that it leaves no trace in results."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra
from tests.runs.small_grid import run_here, write_experiment

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.cli import main
from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.runs.config import all_cells, load_experiment
from episodic_absa.runs.config.cfg_hash import cell_config
from episodic_absa.runs.grid_run import run_cells

RAY = {"engine": "ray"}
MODEL = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"backbone": {"record": "r.jsonl"}}, {}, "a recording and a backend of your own are for engine: local"),
        ({"backbone": MODEL}, {}, "a model behind a server, a recording"),
        ({}, {"backend": RepairingBackend(EmbeddedReplier())}, "serves the embedded engine and replay"),
        ({"experiment": {**RAY, "ray_address": "127.0.0.1:1"}}, {}, "cannot use the Ray cluster at '127.0.0.1:1'"),
        ({"experiment": {**RAY, "ray_address": "nowhere"}}, {}, "give HOST:PORT of the cluster's head node"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    if "ray_address" in changes.get("experiment", {}):
        require_extra("ray")
    config = load_experiment(write_experiment(tmp_path, **{"experiment": RAY, **changes}))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError, match=message):
        asyncio.run(run_cells(config, **options))
    assert sorted(tmp_path.rglob("*")) == before


def test_without_the_extra_the_message_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    config = load_experiment(write_experiment(tmp_path, experiment=RAY))
    with pytest.raises(MissingExtraError, match=r"experiment.engine: ray needs .* pip install 'episodic-absa\[ray\]'"):
        asyncio.run(run_cells(config))
    assert not config.out_dir.exists()


def test_the_engine_is_no_part_of_what_a_directory_belongs_to(tmp_path: Path) -> None:
    here = load_experiment(write_experiment(tmp_path))
    there = load_experiment(write_experiment(tmp_path, experiment={**RAY, "ray_address": "auto"}))
    assert (there.file.experiment.engine, there.file.experiment.ray_address) == ("ray", "auto")
    for cell in all_cells(here):
        assert cell_config(here, cell) == cell_config(there, cell)
    assert there.running_on("local", None).file.experiment == here.file.experiment


def test_an_address_without_the_engine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ray_address is for engine: ray"):
        load_experiment(write_experiment(tmp_path, experiment={"ray_address": "auto"}))


def test_a_finished_grid_needs_no_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few: dict[str, Any] = {
        "experiment": {"conditions": ["C1"]},
        "episodic_memory": {"build": None},
        "data": {"limit": 2},
    }
    run_here(write_experiment(tmp_path, **few))
    command = ["run", str(tmp_path / "grid.yaml"), "--engine", "ray", "--ray-address", "127.0.0.1:1", "--json"]
    monkeypatch.setattr(sys, "argv", ["episodic-absa", *command])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None)
    assert json.loads(capsys.readouterr().out)["run_id"] == "grid"


def test_nothing_loads_ray_before_somebody_asks_for_it() -> None:
    program = "import sys, episodic_absa.runs.grid_run, episodic_absa.cli.run.run_work; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
