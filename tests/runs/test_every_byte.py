"""A run whose records end at any byte goes on, and ends with the bytes of a run that was never stopped."""

import json
import shutil
from pathlib import Path

import pytest
from tests.run_copies import keep_first
from tests.runs.sealed_files import change_records
from tests.runs.small_grid import Failing, exact_bytes, run_here, write_experiment

from episodic_absa.errors import RunDirectoryError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.memory_store import Scratch
from episodic_absa.runs.cell_store import CellStore, episodes_of
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import STORE, RunDirectory
from episodic_absa.runs.samples_file import SAMPLES, read_samples
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.store.maintenance import check_store

LIMIT = 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The config of a finished grid: one condition that reads, shows and stores, another that knows no memory."""
    path = write_experiment(
        tmp_path_factory.mktemp("whole"),
        data={"limit": LIMIT},
        episodic_memory={"conditions_path": "v3_0", "build": None, "selective_storage": False},
        experiment={"conditions": ["C1", "C2"]},
    )
    run_here(path, with_tables=False)
    return path


def cell_of(path: Path, name: str = "C2__seed42") -> Path:
    return path.parent / "results" / "grid" / name


def test_at_every_byte_records_and_store_are_cut_back_to_the_last_whole_sample(whole: Path, tmp_path: Path) -> None:
    finished = cell_of(whole)
    cell = tmp_path / finished.name
    shutil.copytree(finished, cell)
    content, stored = (finished / SAMPLES).read_bytes(), (finished / STORE).read_bytes()
    records = read_samples(finished / SAMPLES).records
    uids = [record.uid for record in records]
    cfg_hash = CellFiles(finished).known_manifest.cfg_hash
    lines, kept = stored.splitlines(keepends=True), [b""]
    kept += [b"".join(lines[: len(list(episodes_of(records[:place])))]) for place in range(1, LIMIT + 1)]
    assert (kept[-1], len(set(kept))) == (stored, LIMIT + 1), "every sample was stored"
    ends = read_samples(finished / SAMPLES).ends
    for size in range(len(content) + 1):
        (cell / SAMPLES).write_bytes(content[:size])
        with MemoryStore(Scratch(cell / STORE)) as live:
            directory = RunDirectory(cell, store=CellStore(live, cell / STORE, cell, "v3"))
            try:
                sample_n = directory.resume(uids, cfg_hash).next_index
                directory.publish_store(is_finished=False)
            finally:
                directory.close()
        assert sample_n == max(0, len(split_lines(content[:size]).lines) - 1)
        assert (cell / SAMPLES).read_bytes() == content[: ends[sample_n]]
        assert (cell / STORE).read_bytes() == kept[sample_n]


@pytest.mark.parametrize("name", ["C1__seed42", "C2__seed42"])
@pytest.mark.parametrize("lines", range(LIMIT + 2))
@pytest.mark.parametrize("more", [0, 1, 700])
def test_a_run_that_goes_on_from_there_ends_alike(
    whole: Path, tmp_path: Path, name: str, lines: int, more: int
) -> None:
    shutil.copytree(whole.parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / whole.name
    samples = cell_of(path, name) / SAMPLES
    content = samples.read_bytes()
    size = len(b"".join(content.splitlines(keepends=True)[:lines])) + more
    samples.write_bytes(content[:size])
    run_here(path, with_tables=False)
    assert exact_bytes(path.parent / "results" / "grid") == exact_bytes(whole.parent / "results" / "grid")


def test_no_changed_byte_of_a_record_is_read_by_anybody(whole: Path, tmp_path: Path) -> None:
    cell = tmp_path / "C2__seed42"
    shutil.copytree(cell_of(whole), cell)
    content = (cell / SAMPLES).read_bytes()
    for place in range(0, len(content), 7):
        changed = bytes([content[place] ^ 1])
        (cell / SAMPLES).write_bytes(content[:place] + changed + content[place + 1 :])
        # The end of the last line may be lost with a kill: that line then counts as unfinished.
        if place == len(content) - 1:
            continue
        with pytest.raises(RunDirectoryError, match=r"samples\.jsonl, line \d+"):
            read_samples(cell / SAMPLES)


def test_a_finished_cell_asks_nothing_and_a_record_holds_no_text_no_gold_and_no_clock(whole: Path) -> None:
    run_here(whole, Failing(lambda _: True), with_tables=False)
    for name in ("C1__seed42", "C2__seed42"):
        cell = cell_of(whole, name)
        content = (cell / SAMPLES).read_text("utf-8")
        traces = [json.loads(line) for line in (cell / "traces.jsonl").read_text("utf-8").splitlines()]
        assert all(json.dumps(trace["text"], ensure_ascii=False)[1:-1] not in content for trace in traces)
        assert not any(word in content for word in ("gold_tuples", "latency", "started_at", "cached", "timestamp"))


@pytest.mark.parametrize("cfg_hash", ["the same", "another"])
def test_a_cell_that_was_killed_before_its_manifest_stood_begins_again(
    whole: Path, tmp_path: Path, cfg_hash: str
) -> None:
    shutil.copytree(whole.parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / whole.name
    samples = cell_of(path) / SAMPLES
    header = samples.read_bytes().splitlines(keepends=True)[0]
    samples.write_bytes(header)
    (cell_of(path) / MANIFEST).unlink()
    if cfg_hash == "another":
        change_records(cell_of(path), lambda lines: lines[0].update(cfg_hash="0" * 64))
    run_here(path, with_tables=False)
    assert exact_bytes(path.parent / "results" / "grid") == exact_bytes(whole.parent / "results" / "grid")


def test_verdicts_of_persons_stay_except_on_samples_that_run_again(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole.parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / whole.name
    store = cell_of(path) / STORE
    uids = [record.uid for record in read_samples(cell_of(path) / SAMPLES).records]
    with MemoryStore(store) as opened:
        for uid in uids:
            opened.append_verdict(VerdictV1_3(source_id=uid, verdict="right"))
    judged = store.read_bytes()
    run_here(path, with_tables=False)
    assert store.read_bytes() == judged, "a finished cell leaves its store as it is"
    keep_first(cell_of(path), LIMIT - 1)
    run_here(path, with_tables=False)
    with MemoryStore(store) as opened:
        assert check_store(opened.dialect).is_sound
        assert [len(opened.verdicts_on(uid)) for uid in uids] == [1] * (LIMIT - 1) + [0]
        assert len(opened) == LIMIT
