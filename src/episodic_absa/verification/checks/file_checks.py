"""Checks of a cell's files: records, manifest and store are whole and of one cell; derived files follow from them."""

import json
import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, Final

from episodic_absa.runs.cell_store import episodes_of, export_form
from episodic_absa.runs.derived.derived_samples import file_texts
from episodic_absa.runs.reading.cell_files import CellFiles, directory_name
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import RUN_META
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.sealed_json import seal_state
from episodic_absa.store.exported_lines import episode_line
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError


def check_completed(cell: CellFiles) -> Findings:
    """The cell was run to its end."""
    yield None if cell.known_manifest.completed else "the manifest says that the run is not completed"


def check_records(cell: CellFiles) -> Findings:
    """A finished cell has nothing unfinished; a record holds a result or an error. Its reader counts the records."""
    if cell.known_manifest.completed:
        yield "the last line is not ended" if cell.samples.is_torn else None
    for record in cell.records:
        is_either = (record.analysis is None) != (record.error is None)
        yield None if is_either else f"{record.uid}: a record holds an analysis or an error"


def check_canonical(cell: CellFiles) -> Findings:
    """Every record has one form: sorted keys, no default written out, floats of 6 decimals."""
    lines = (cell.path / SAMPLES).read_bytes().splitlines()[1:]
    for record, line in zip(cell.records, lines, strict=False):
        held = {key: value for key, value in json.loads(line).items() if key != "sha256"}
        is_same = canonical_json(held) == canonical_json(record.to_json())
        yield None if is_same else f"{record.uid}: its record holds something that no version writes"


def check_same_cell(cell: CellFiles) -> Findings:
    """The directory is that of the cell that the manifest names; that the records are, their reader makes sure."""
    manifest, header = cell.known_manifest, cell.samples.header
    directory = directory_name(manifest)
    yield None if cell.path.resolve().name == directory else f"the directory of {directory} has another name"
    if header is not None:
        has_store = (header.store is not None) == manifest.needs_store
        yield None if has_store else f"{SAMPLES} speaks of a store, or of none, against {MANIFEST}"


def check_manifest_sealed(cell: CellFiles) -> Findings:
    """The manifest is as the run wrote it, to the character, and so is what a finished run says of itself."""
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
        more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
        yield f"{name}, line {differing[0]}{more}: not what the records give" if differing else None


def check_store_follows(cell: CellFiles) -> Findings:
    """The store is what it began with and the episodes of the records, in order; people may have added verdicts."""
    require_store(cell)
    yield None if cell.begins_as_recorded else "the store does not begin as it did before the first sample"
    form = export_form(cell.known_manifest.condition.rules)
    recorded = [episode_line(episode, form) for episode in episodes_of(cell.records)]
    held = cell.store.episode_lines[len(cell.beginning) :]
    if cell.shares_its_store:
        # Others may have added episodes before and between them, so that ids differ.
        held = tuple(map(_without_id, held))
        for number, line in enumerate(map(_without_id, recorded), start=1):
            yield None if line in held else f"episode {number} of the records is not in the store"
        return
    for number, (stored, meant) in enumerate(zip_longest(held, recorded), start=1):
        yield (
            None if stored == meant else f"episode {number} that samples added to the store is not what the records say"
        )


def _without_id(line: bytes) -> bytes:
    return _ID.sub(b"", line, count=1)


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


_ID: Final = re.compile(rb'"episode_id":"epi_[0-9]+",')
_TIMES: Final = ("timing", "timestamp", "cached", "latency_ms", "waited_ms", "started_at")
FILE_CHECKS: Final[Mapping[str, Check]] = {
    "completed": check_completed,
    "records": check_records,
    "canonical": check_canonical,
    "same_cell": check_same_cell,
    "manifest_sealed": check_manifest_sealed,
    "derived_files": check_derived_files,
    "store_follows": check_store_follows,
}


def require_store(cell: CellFiles) -> None:
    """Raise NotApplicableError unless the cell has a store within reach."""
    if not cell.known_manifest.needs_store:
        raise NotApplicableError("the condition neither reads nor writes a store")
    if cell.store_path is None:
        raise NotApplicableError("the store lies outside the run directory and the config file is not reachable")
