"""Every file that a finished grid leaves behind."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
from tests.cli.run.test_run import write_experiment

import episodic_absa

Cli = Callable[..., subprocess.CompletedProcess[str]]
SCHEMAS = Path(episodic_absa.__file__).parent / "schemas" / "json"
CELL_FILES = {
    *("outputs.jsonl", "traces.jsonl", "scorecards.jsonl", "manifest.json", "run_meta.json", "samples.jsonl"),
    "timings.jsonl",
    *("override_gate_debug.jsonl", "structural_metrics.csv", "triptych.csv", "memory_growth.jsonl"),
    *("report.html", "report.json", "integrity.json"),
}


def test_a_finished_grid_holds_every_file_and_a_valid_trace_of_every_sample(cli: Cli, tmp_path: Path) -> None:
    grid = tmp_path / "results" / "toy"
    experiment = {"conditions": ["C1", "C2"], "seeds": [1]}
    assert cli("run", write_experiment(tmp_path, experiment=experiment)).returncode == 0
    assert cli("verify", grid).returncode == 0
    assert {"grid_metrics.csv", "comparisons.csv", "report.html"} <= {path.name for path in grid.iterdir()}
    schema = json.loads((SCHEMAS / "case_trace_v1_1.json").read_text("utf-8"))
    for name, store in (("C1__seed1", set()), ("C2__seed1", {"episodic_store.jsonl"})):
        files = {path.name for path in (grid / name).iterdir() if path.suffix != ".lock"}
        assert files >= CELL_FILES | store
        assert files & {"episodic_store.jsonl"} == store
        traces = [json.loads(line) for line in (grid / name / "traces.jsonl").read_text("utf-8").splitlines()]
        assert [trace["case_trace"]["case_id"] for trace in traces] == ["r0", "r1", "r2"]
        for trace in traces:
            jsonschema.validate(trace["case_trace"], schema)
