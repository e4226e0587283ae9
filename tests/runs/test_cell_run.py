"""A cell runs from plain data, in any process, and leaves the same bytes as within its grid."""

import asyncio
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import EXACT_FILES, Failing, Scrambled, exact_bytes, outputs_of, run_here, write_experiment
from tests.stored_lines import entries_of
from tests.warm_python import WarmProcess

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.errors import ConfigError, RunDirectoryError
from episodic_absa.runs.cell_run import CellSpec, TooManyFailuresError, run_cell
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import TRACES
from episodic_absa.runs.progress import CellProgress
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import STORE
from episodic_absa.schemas.run_files.case_trace import TraceLine
from episodic_absa.schemas.run_files.manifest import Manifest

PROGRAM = """
import asyncio, pickle, sys
from episodic_absa.runs.cell_run import run_cell
spec = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps(asyncio.run(run_cell(spec))))
"""


def in_another_process(spec: CellSpec) -> CellProgress:
    """Run a cell in a process that gets nothing but the pickled spec."""
    with tempfile.TemporaryFile() as given:
        given.write(pickle.dumps(spec))
        given.seek(0)
        with WarmProcess(["-c", PROGRAM], stdin=given.fileno()) as child:
            out, err = child.communicate()
    assert child.returncode == 0, err.decode()
    outcome = pickle.loads(out)  # noqa: S301 - written by the child above
    assert isinstance(outcome, CellProgress)
    return outcome


def manifest_of(cell: Path) -> Manifest:
    return Manifest.model_validate_json((cell / MANIFEST).read_bytes())


def test_a_cell_in_another_process_leaves_the_bytes_of_the_grid(tmp_path: Path) -> None:
    conditions = {"conditions": ["C1", "C2"]}
    whole = run_here(write_experiment(tmp_path / "whole", experiment=conditions)).out_dir
    config = load_experiment(write_experiment(tmp_path / "apart", experiment=conditions))
    start = config.out_dir / "build__seed42" / STORE
    built = in_another_process(CellSpec(config, "build__seed42"))
    shown = in_another_process(CellSpec(config, "C2__seed42", start_store=start))
    hidden = in_another_process(CellSpec(config, "C1__seed42"))
    expected, found = exact_bytes(whole), exact_bytes(config.out_dir)
    assert len(expected) >= 2 * len(EXACT_FILES)
    assert found == expected
    for outcome in (built, shown, hidden):
        assert outcome.done == outcome.total > 0
        assert outcome.failed == outcome.resumed == 0
        varying: dict[str, object] = {"git_commit": None}
        assert manifest_of(whole / outcome.name).model_copy(update=varying) == manifest_of(
            config.out_dir / outcome.name
        ).model_copy(update=varying)
    assert built.stored == len(entries_of(start)) > 0
    assert shown.shown > hidden.shown == 0


def test_a_cell_of_another_configuration_is_refused_also_without_its_grid(tmp_path: Path) -> None:
    few: dict[str, Any] = {"experiment": {"conditions": ["C1"]}, "data": {"limit": 2}}
    config = load_experiment(write_experiment(tmp_path, **few))
    asyncio.run(run_cell(CellSpec(config, "C1__seed42")))
    before = exact_bytes(config.out_dir)
    other = load_experiment(write_experiment(tmp_path, **few, pipeline={"override_profile": "t2"}))
    with pytest.raises(RunDirectoryError, match=r"belongs to another configuration.*override_profile"):
        asyncio.run(run_cell(CellSpec(other, "C1__seed42")))
    assert exact_bytes(config.out_dir) == before


def test_a_cell_stops_by_itself_when_too_many_of_its_samples_failed(tmp_path: Path) -> None:
    changes = {"conditions": ["C1"], "max_failures": 1}
    config = load_experiment(write_experiment(tmp_path, experiment=changes))
    failing = RepairingBackend(Failing(lambda _: True))
    with pytest.raises(TooManyFailuresError, match="max_failures"):
        asyncio.run(run_cell(CellSpec(config, "C1__seed42"), backend=failing))
    statuses = [output["status"] for output in outputs_of(config.out_dir / "C1__seed42")]
    assert statuses == ["error", "error"]


def test_the_trace_of_a_failed_sample_sums_the_time_of_its_calls(tmp_path: Path) -> None:
    few = write_experiment(tmp_path, experiment={"conditions": ["C1"]}, data={"limit": 5})
    config = load_experiment(few)
    failing = RepairingBackend(Scrambled(1, replier=Failing(lambda request: request.ask.role == "validator")))
    outcome = asyncio.run(run_cell(CellSpec(config, "C1__seed42"), backend=failing))
    assert outcome.failed == outcome.total
    for line in (config.out_dir / "C1__seed42" / TRACES).read_bytes().splitlines():
        trace = TraceLine.model_validate_json(line)
        assert trace.timing.latency_ms_sum == pytest.approx(sum(call.latency_ms for call in trace.calls), abs=0.001)
        assert trace.timing.latency_ms_sum > 0
        waited = sum(call.waited_ms or 0.0 for call in trace.calls)
        assert trace.timing.waited_ms_sum == pytest.approx(waited, abs=0.001)
        assert 0 < (trace.timing.answering_ms or 0.0) <= trace.timing.latency_ms_sum


def test_an_unknown_cell_is_refused_with_the_known_names(tmp_path: Path) -> None:
    config = load_experiment(write_experiment(tmp_path, experiment={"conditions": ["C1"]}))
    with pytest.raises(ConfigError, match="C1__seed42"):
        asyncio.run(run_cell(CellSpec(config, "C9__seed1")))
