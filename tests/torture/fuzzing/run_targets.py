"""Targets: a finished run with one damaged file, as tables, reports and `verify` read it."""

import atexit
import contextlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.runs.small_grid import run_here, write_experiment
from tests.torture.fuzzing.answer_targets import Talker
from tests.torture.fuzzing.outcome import MAX_MESSAGE_CHARS, Target

from episodic_absa.analysis import load_run
from episodic_absa.errors import RunDirectoryError
from episodic_absa.reports.data import SampleReader
from episodic_absa.reports.report_json import report_json
from episodic_absa.reports.run_report import build_report
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.verification import verify

_NAMES: Final = (
    "scorecards.jsonl",
    "samples.jsonl",
    "timings.jsonl",
    "outputs.jsonl",
    "traces.jsonl",
    "manifest.json",
    "run_meta.json",
    "episodic_store.jsonl",
    "integrity.json",
)
_CELL: Final = "C2__seed1"
_LEFT: Final = frozenset({_CELL})
_REPLY: Final = (
    b'{"pairs":[{"quote":"dark","term":"screen","polarity":"negative"}],"risks":[],"judgements":[],"targets":[],'
    b'"wrong":[],"decisions":[],"verdicts":[],"label":"negative"}'
)


@cache
def _finished_cell() -> Path:
    """Return the directory of a finished cell, run once per process by a model that always says the same."""
    folder = Path(tempfile.mkdtemp(prefix="fuzzed_run_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    config = write_experiment(
        folder,
        data={"limit": 2},
        pipeline={"reader": False},
        episodic_memory={"conditions_path": "v3_0", "build": None},
        experiment={"conditions": ["C2"], "seeds": [1], "concurrency": 1},
    )
    cell = run_here(config, Talker([_REPLY])).out_dir / _CELL
    verify(cell)
    return cell


def _damaged_cell(data: bytes, folder: Path) -> Path:
    """Copy the finished cell; the first byte chooses the file that holds the rest of the input instead."""
    cell = folder / _CELL
    shutil.copytree(_finished_cell(), cell)
    name = _NAMES[data[0] % len(_NAMES)] if data else _NAMES[0]
    (cell / name).write_bytes(data[1:])
    return cell


def _read_lines(data: bytes, folder: Path) -> None:
    """Read every file of a damaged cell: what is unreadable is a problem in few words, or an error."""
    cell = _damaged_cell(data, folder)
    files = CellFiles(cell)
    assert len(files.manifest_problem) <= MAX_MESSAGE_CHARS, "the problem of the manifest is too long"
    if files.manifest is not None:
        assert len(files.store.raw) == len(files.store.values)
        assert len(files.beginning) <= len(files.store.episodes)
        assert len(files.derived) == len(files.scorecards) == len(files.records)
        assert files.texts is not None
    with _quietly():
        run = load_run(cell)
    for finished in run.cells:
        SampleReader(with_text=True).read(finished)
        assert finished.metrics


def _read_as_a_whole(data: bytes, folder: Path) -> None:
    """Verify a damaged cell and build its report."""
    cell = _damaged_cell(data, folder)
    with _quietly():
        verified = verify(cell)
        assert verified.cells
        assert all(len(result.detail) <= 10 * MAX_MESSAGE_CHARS for result in verified.cells[_CELL])
        run = load_run(cell)
        reader = SampleReader(with_text=True)
        report_json(build_report(run, {finished.path: reader.read(finished) for finished in run.cells})).encode("utf-8")


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep warnings about damage off the terminal."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _file_seeds() -> Iterator[bytes]:
    cell = _finished_cell()
    for number, name in enumerate(_NAMES):
        if (cell / name).exists():
            yield bytes([number]) + (cell / name).read_bytes()


RUN_TARGETS: Final = (
    Target("run_files", _read_lines, inputs=8_000, leaves=_LEFT, seeds=_file_seeds, permitted=(RunDirectoryError,)),
    Target("run_report", _read_as_a_whole, inputs=400, leaves=_LEFT, seeds=_file_seeds, permitted=(RunDirectoryError,)),
)
