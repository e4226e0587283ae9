"""Checks of a cell's files: they are complete, in step with the journal, and of one cell."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from episodic_absa.runs.committed.damage import differing_files, find_damages, is_seal_whole
from episodic_absa.runs.reading.cell_files import CellFiles, directory_name
from episodic_absa.runs.reading.jsonl_file import JsonlFile
from episodic_absa.runs.run_directory import (
    COMMITTED_FILES,
    JOURNAL,
    MANIFEST,
    OUTPUTS,
    OVERRIDE_DEBUG,
    SCORECARDS,
    TRACES,
)
from episodic_absa.schemas.memory_v1_2 import VerdictV1_2
from episodic_absa.schemas.run_files.journal_line import STORE_KEY
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError


def check_completed(cell: CellFiles) -> Findings:
    """The cell was run to its end."""
    yield None if cell.known_manifest.completed else "the manifest says that the run is not completed"


def check_line_counts(cell: CellFiles) -> Findings:
    """Every file has a line per sample; of a cell that is not finished, per committed sample."""
    manifest = cell.known_manifest
    expected, source = manifest.dataset.processing_count, "processing_count is"
    if not manifest.completed:
        expected, source = len(cell.journal.raw), f"{JOURNAL} commits"
    for name, lines in _sample_files(cell).items():
        line_n = len(lines.raw)
        yield None if line_n == expected else f"{name} has {line_n} lines; {source} {expected}"


def check_schemas(cell: CellFiles) -> Findings:
    """Every line is what its schema says."""
    for lines in (*_sample_files(cell).values(), cell.decisions):
        yield from lines.problems
        yield from (None for _ in lines.valid())


def check_sample_order(cell: CellFiles) -> Findings:
    """All files name the same samples in the same order, each once."""
    committed = [entry.uid if entry else None for entry in cell.journal.values]
    for uid, times in Counter(committed).items():
        yield None if times == 1 else f"{JOURNAL} names {uid!r} {times} times"
    named = {
        JOURNAL: [(entry.uid, entry.sample_index) if entry else None for entry in cell.journal.values],
        OUTPUTS: [(output.uid, output.sample_index) if output else None for output in cell.outputs.values],
        SCORECARDS: [(card.uid, card.sample_index) if card else None for card in cell.scorecards.values],
        TRACES: [
            (trace.case_trace.case_id, trace.case_trace.sample_index) if trace else None for trace in cell.traces.values
        ],
    }
    for name, places in named.items():
        expected = [(uid, index) for index, uid in enumerate(committed)]
        for index in range(max(len(places), len(expected))):
            place = places[index] if index < len(places) else None
            meant = expected[index] if index < len(expected) else None
            yield None if place == meant else f"{name}, line {index + 1}: {place} stands where {meant} is due"


def check_journal_offsets(cell: CellFiles) -> Findings:
    """The journal's offsets are the ends of the lines, and the last ones the sizes of the files."""
    files = _sample_files(cell)
    files.pop(JOURNAL)
    entries = list(cell.journal.valid())
    for number, entry in enumerate(entries, start=1):
        for name, lines in files.items():
            end = lines.ends[number - 1] if number <= len(lines.ends) else None
            offset = entry.offsets.get(name)
            yield None if offset == end else f"{JOURNAL}, line {number}: {name} ends at {end}, journalled is {offset}"
    last = entries[-1].offsets if entries else {}
    for name, lines in {**files, OVERRIDE_DEBUG: cell.decisions}.items():
        yield (
            None
            if last.get(name, 0) == lines.size
            else (f"{name} has {lines.size} bytes; the journal ends at {last.get(name, 0)}")
        )


def check_store_offsets(cell: CellFiles) -> Findings:
    """The store's last line at each commit is the journalled one, and only verdicts of persons follow the last one."""
    require_store(cell)
    entries = list(cell.journal.valid())
    for number, entry in enumerate(entries, start=1):
        offset = entry.offsets.get("store", 0)
        count = cell.store.count_until(offset)
        line = cell.store.raw[count - 1] if count else None
        ends_there = (cell.store.ends[count - 1] if count else 0) == offset
        same = (hashlib.sha256(line).hexdigest() if line else None) == entry.store_last_sha256
        yield None if ends_there and same else f"{JOURNAL}, line {number}: the store's line there is another one"
    last = entries[-1].offsets.get("store", 0) if entries else 0
    later = cell.store.values[cell.store.count_until(last) :]
    only_verdicts = last <= cell.store.size and all(isinstance(line, VerdictV1_2) for line in later)
    yield None if only_verdicts else f"the store has {cell.store.size} bytes; the journal ends at {last}"


def check_manifest_sealed(cell: CellFiles) -> Findings:
    """The manifest is as the run wrote it, to the character."""
    _require_sealed(cell)
    is_whole = is_seal_whole(cell.path / MANIFEST, is_sealed=True)
    yield None if is_whole else f"{MANIFEST} was changed after the run wrote it"


def check_file_hashes(cell: CellFiles) -> Findings:
    """Every file is as it was committed, to the byte; what the journal does not cover is as the manifest names it."""
    _require_sealed(cell)
    paths = {name: cell.path / name for name in (*COMMITTED_FILES, JOURNAL)}
    if cell.known_manifest.needs_store and cell.store_path is not None:
        paths[STORE_KEY] = cell.store_path
    damages = {damage.name: damage.entry for damage in find_damages(list(cell.journal.valid()), paths)}
    for name, path in paths.items():
        entry = damages.get(name)
        place = f"from sample {entry.sample_index + 1} ({entry.uid}) on" if entry else ""
        yield f"{path.name} is not as committed, {place}" if entry else None
    differing = differing_files(cell.path, cell.known_manifest)
    for name in cell.known_manifest.files:
        yield f"{name} is not as it was when the run was finished" if name in differing else None


def check_same_cell(cell: CellFiles) -> Findings:
    """Every record names the run, condition, order and seed of the manifest, as far as it names them."""
    manifest = cell.known_manifest
    name, mode = manifest.condition.name, manifest.condition.memory_mode
    directory = directory_name(manifest)
    yield None if cell.path.resolve().name == directory else f"the directory of {directory} has another name"
    for card in cell.scorecards.valid():
        of_card = (card.run_id, card.condition, card.memory_mode, (card.order, card.seed), card.cfg_hash)
        same = of_card == (manifest.run_id, name, mode, manifest.repetition, manifest.cfg_hash)
        yield None if same else f"{card.uid}: the scorecard belongs to another cell"
    for output in cell.outputs.valid():
        of_output = (output.meta.condition, output.meta.memory_mode, output.meta.seed)
        yield None if of_output == (name, mode, manifest.seed) else f"{output.uid}: the output is of another cell"
    for trace in cell.traces.valid():
        meta = trace.case_trace.run_meta
        same = (meta.run_id, meta.condition, meta.memory_mode, meta.seed) == (
            manifest.run_id,
            name,
            mode,
            manifest.seed,
        )
        yield None if same else f"{trace.case_trace.case_id}: the trace is of another cell"


FILE_CHECKS: Final[Mapping[str, Check]] = {
    "completed": check_completed,
    "line_counts": check_line_counts,
    "schemas": check_schemas,
    "sample_order": check_sample_order,
    "journal_offsets": check_journal_offsets,
    "store_offsets": check_store_offsets,
    "manifest_sealed": check_manifest_sealed,
    "file_hashes": check_file_hashes,
    "same_cell": check_same_cell,
}


def _sample_files(cell: CellFiles) -> dict[str, JsonlFile[Any]]:
    return {OUTPUTS: cell.outputs, SCORECARDS: cell.scorecards, TRACES: cell.traces, JOURNAL: cell.journal}


def _require_sealed(cell: CellFiles) -> None:
    if not cell.known_manifest.is_sealed:
        raise NotApplicableError("the run is of an older version, which wrote no hashes of its files")


def require_store(cell: CellFiles) -> None:
    """Raise NotApplicableError unless the cell has a store within reach."""
    if not cell.known_manifest.needs_store:
        raise NotApplicableError("the condition neither reads nor writes a store")
    if cell.store_path is None:
        raise NotApplicableError("the store lies outside the run directory and the config file is not reachable")
