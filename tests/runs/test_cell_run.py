"""A cell whose samples fail: when it stops, and what its traces sum."""

import asyncio
from pathlib import Path

import pytest
from tests.runs.small_grid import Failing, Scrambled, outputs_of, write_experiment

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.runs.cell_run import TooManyFailuresError
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import TRACES
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.schemas.run_files.case_trace import TraceLine


def test_a_cell_stops_by_itself_when_too_many_of_its_samples_failed(tmp_path: Path) -> None:
    changes = {"conditions": ["C1"], "max_failures": 1}
    config = load_experiment(write_experiment(tmp_path, experiment=changes))
    failing = RepairingBackend(Failing(lambda _: True))
    with pytest.raises(TooManyFailuresError, match="max_failures"):
        asyncio.run(run_cells(config, backend=failing))
    statuses = [output["status"] for output in outputs_of(config.out_dir / "C1__seed42")]
    assert statuses == ["error", "error"]


def test_the_trace_of_a_failed_sample_sums_the_time_of_its_calls(tmp_path: Path) -> None:
    few = write_experiment(tmp_path, experiment={"conditions": ["C1"]}, data={"limit": 5})
    config = load_experiment(few)
    failing = RepairingBackend(Scrambled(1, replier=Failing(lambda request: request.ask.role == "validator")))
    progress = asyncio.run(run_cells(config, backend=failing))
    assert progress.failed == progress.run_n == 5
    for line in (config.out_dir / "C1__seed42" / TRACES).read_bytes().splitlines():
        trace = TraceLine.model_validate_json(line)
        assert trace.timing.latency_ms_sum == pytest.approx(sum(call.latency_ms for call in trace.calls), abs=0.001)
        assert trace.timing.latency_ms_sum > 0
        waited = sum(call.waited_ms or 0.0 for call in trace.calls)
        assert trace.timing.waited_ms_sum == pytest.approx(waited, abs=0.001)
        assert 0 < (trace.timing.answering_ms or 0.0) <= trace.timing.latency_ms_sum
