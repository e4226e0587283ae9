"""`report` derives tables and reports anew, without asking a model and without touching the run's own files."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cli.test_run import write_experiment

Cli = Callable[..., subprocess.CompletedProcess[str]]
TABLES = ["structural_metrics.csv", "triptych.csv", "memory_growth.jsonl"]


# CHECKLIST 145, 228
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
    in_cell = [f"C1__seed1/{name}" for name in (*TABLES, "report.html")]
    assert sorted(told["written"]) == sorted(["grid_metrics.csv", "comparisons.csv", "report.html", *in_cell])
    assert {path: path.read_bytes() for path in tables} == tables
    assert {path: path.read_bytes() for path in own} == own
    without_text = (grid / "report.html").read_bytes()

    shown = cli("report", grid)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [line.split()[0] for line in shown.stdout.splitlines()][:3] == [
        "grid_metrics.csv",
        "comparisons.csv",
        "report.html",
    ]
    assert (grid / "report.html").read_bytes() != without_text

    alone = cli("report", grid / "C1__seed1", "--json")
    assert sorted(json.loads(alone.stdout)["written"]) == sorted([*TABLES, "report.html"])


def test_a_directory_that_no_run_wrote_is_refused_on_one_line(cli: Cli, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        done = cli("report", place)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
