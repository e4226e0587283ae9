"""`report` derives tables and reports anew, without asking a model and without touching the run's own files."""

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.run.test_run import write_experiment
from tests.run_copies import keep_first

from episodic_absa.cli import step_progress

Cli = Callable[..., subprocess.CompletedProcess[str]]
PAGES = ["report.html", "report.json"]
TABLES = ["structural_metrics.csv", "triptych.csv", "memory_growth.jsonl"]


def test_report_derives_everything_anew_and_rewrites_no_jsonl(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", write_experiment(tmp_path, experiment={"conditions": ["C1"], "seeds": [1]})).returncode == 0
    grid = tmp_path / "results" / "toy"
    own = {path: path.read_bytes() for path in grid.rglob("*.jsonl") if path.name != "memory_growth.jsonl"}
    tables = {path: path.read_bytes() for path in grid.rglob("*.csv")}
    for path in (*tables, *grid.rglob("report.html"), *grid.rglob("memory_growth.jsonl")):
        path.unlink()

    done = cli("report", grid, "--no-text", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["directory"] == str(grid)
    in_cell = [f"C1__seed1/{name}" for name in (*TABLES, *PAGES)]
    assert sorted(told["written"]) == sorted(["grid_metrics.csv", "comparisons.csv", *PAGES, *in_cell])
    assert {path: path.read_bytes() for path in tables} == tables
    assert {path: path.read_bytes() for path in own} == own
    without_text = (grid / "report.html").read_bytes()

    # A run with nothing to do brings no text back.
    again = cli("run", tmp_path / "experiment.yaml")
    assert again.returncode == 0
    assert "report.html stays without review text; with it: episodic-absa report " in again.stderr
    assert (grid / "report.html").read_bytes() == without_text
    assert "report.html has its interval" in again.stdout  # one condition: comparisons.csv has none

    shown = cli("report", grid)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "triptych.csv            in its cell" in shown.stdout
    assert [line.split()[0] for line in shown.stdout.splitlines()][:3] == [
        "grid_metrics.csv",
        "comparisons.csv",
        "report.html",
    ]
    assert (grid / "report.html").read_bytes() != without_text

    alone = cli("report", grid / "C1__seed1", "--json", "--export", tmp_path / "figures")
    told = json.loads(alone.stdout)
    assert sorted(told["written"]) == sorted([*TABLES, *PAGES])
    assert told["export_directory"] == str(tmp_path / "figures")
    assert sorted(told["exported"]) == sorted(path.name for path in (tmp_path / "figures").iterdir())

    refused = cli("report", grid / "C1__seed1", "--export", tmp_path / "experiment.yaml")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: cannot make the directory ")
    assert refused.stderr.count("\n") == 1


def test_what_is_wrong_with_a_run_is_said_once(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", write_experiment(tmp_path, experiment={"conditions": ["C1"], "seeds": [1]})).returncode == 0
    grid = tmp_path / "results" / "toy"
    keep_first(grid / "C1__seed1", 2)
    done = cli("report", grid)
    assert done.returncode == 2
    # Work that takes long also names its steps on stderr.
    [told] = [line for line in done.stderr.splitlines() if not line.startswith("report: ")]
    assert re.search(r"samples\.jsonl has 2 of 3 samples although the run was finished", told)


def test_long_work_tells_its_steps_on_plain_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(step_progress, "_SECONDS_BETWEEN_LINES", 0.01)
    told = ""
    with step_progress.show_steps("report") as tell:
        tell("page of \x1b[31mred")
        while "red" not in told:
            time.sleep(0.01)
            told += capsys.readouterr().err
    assert set(told.splitlines()) <= {"report: ...", "report: page of \\x1b[31mred ..."}


def test_a_directory_that_no_run_wrote_is_refused_on_one_line(cli: Cli, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        done = cli("report", place)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
