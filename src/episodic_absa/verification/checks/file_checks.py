"""Checks of a cell's files: manifest and records are as the run wrote them, and everything else follows from them."""

import json
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, Final

from episodic_absa.analysis import FinishedRun, tables_of
from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.runs.derived.derived_samples import file_texts
from episodic_absa.runs.reading.cell_files import CellFiles, directory_name
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import RUN_META
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.serialization.seals import seal_state
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError

_TIMES: Final = ("timing", "timestamp", "cached", "latency_ms", "waited_ms", "started_at")


def check_completed(cell: CellFiles) -> Findings:
    """The cell was run to its end, and nothing stands behind its last record."""
    yield None if cell.known_manifest.completed else "the manifest says that the run is not completed"
    is_whole = not (cell.known_manifest.completed and cell.samples.is_torn)
    yield None if is_whole else f"the last line of {SAMPLES} is not ended"


def check_manifest_sealed(cell: CellFiles) -> Findings:
    """The manifest is as the run wrote it, in the directory of its cell, and so is what a run says of itself."""
    directory = directory_name(cell.known_manifest)
    yield None if cell.path.resolve().name == directory else f"the directory of {directory} has another name"
    for name in (MANIFEST, RUN_META) if cell.known_manifest.completed else (MANIFEST,):
        path = cell.path / name
        is_whole = path.is_file() and seal_state(path.read_bytes()) == "whole"
        yield None if is_whole else f"{name} was changed after the run wrote it"


def check_derived_files(cell: CellFiles) -> Findings:
    """What was derived of the samples of a finished cell equals a derivation from records, data and manifest."""
    if not cell.known_manifest.completed:
        raise NotApplicableError("the cell is not finished; its files are derived when it stops")
    for name, due in file_texts(cell.derived).items():
        path = cell.path / name
        if not path.is_file():
            yield f"{name} is missing; `episodic-absa report --rebuild` derives it"
            continue
        lines = enumerate(zip_longest(path.read_bytes().split(b"\n"), due.encode().split(b"\n")), start=1)
        differing = [
            number for number, (held, meant) in lines if held != meant and not _differs_in_lost_times(cell, held, meant)
        ]
        yield _differing(name, differing)


def check_tables(run: FinishedRun) -> Findings:
    """Every table of a cell or a grid equals a recomputation; a finished run has all of its tables, or none."""
    due = tables_of(run)
    missing = [path for path in due if not path.exists()]
    if len(missing) == len(due):
        raise NotApplicableError("no table was written; `episodic-absa report` derives them")
    if all(cell.manifest.completed for cell in run.cells):
        for path in missing:
            name = path.relative_to(run.root).as_posix()
            yield f"{name} is missing, though other tables are there; `episodic-absa report` derives it"
    # The tables of a grid's cells are compared where the cells are looked at.
    for path in (path for path in due if path.parent == run.root and path not in missing):
        try:
            text = due[path]()
        except EpisodicAbsaError as error:
            # The message names uids and files and quotes nothing.
            yield f"{path.name} cannot be recomputed: {error}"
            continue
        lines = enumerate(zip_longest(path.read_bytes().split(b"\n"), text.encode().split(b"\n")), start=1)
        yield _differing(path.name, [number for number, (held, meant) in lines if held != meant])


FILE_CHECKS: Final[Mapping[str, Check]] = {
    "completed": check_completed,
    "manifest_sealed": check_manifest_sealed,
    "derived_files": check_derived_files,
}


def _differing(name: str, lines: list[int]) -> str | None:
    """Return which lines differ. No line is quoted, since it may hold words of reviews."""
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f"{name}, line {lines[0]}{more}: not what the records give" if lines else None


def _differs_in_lost_times(cell: CellFiles, held: bytes | None, meant: bytes | None) -> bool:
    """Return whether a trace was derived while the times of its sample were known, which are lost now."""
    try:
        first, second = (json.loads(line or b"") for line in (held, meant))
    except ValueError:
        return False
    uid = second.get("case_trace", {}).get("case_id")
    return uid is not None and uid not in cell.timings and _without_times(first) == _without_times(second)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in _TIMES}
    return [_without_times(item) for item in value] if isinstance(value, list) else value
