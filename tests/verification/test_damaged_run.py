"""`run` and `verify` notice every damage to a finished run. `damaged_run` makes as many as are asked for."""

import json
import random
import re
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.run_copies import keep_first
from tests.verification.damaged_run import DAMAGES, DamagedRun

from episodic_absa.analysis import load_run, load_sides
from episodic_absa.cli.feedback.given_feedback import store_of
from episodic_absa.errors import RunDirectoryError
from episodic_absa.reports.written_results import write_results
from episodic_absa.verification import verify
from episodic_absa.verification.receipts import explain

CELL = "C2__seed42"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> DamagedRun:
    return DamagedRun(tmp_path_factory.mktemp("damaged") / "study")


@pytest.fixture
def run(whole: DamagedRun) -> Iterator[DamagedRun]:
    yield whole
    whole.put_back()


def test_no_damage_passes_verify_and_none_is_accepted_by_run(run: DamagedRun) -> None:
    assert {Path(name).name for name in run.files} == {
        *("outputs.jsonl", "scorecards.jsonl", "traces.jsonl", "override_gate_debug.jsonl", "episodic_store.jsonl"),
        *("samples.jsonl", "manifest.json", "run_meta.json", "question.json"),
        *("structural_metrics.csv", "triptych.csv", "memory_growth.jsonl", "grid_metrics.csv", "comparisons.csv"),
    }
    chance = random.Random(262)
    edits = [*run.edits(1, chance, ["character"]), *chance.sample([*run.edits(1, chance, DAMAGES[1:])], 8)]
    outcomes = [run.trial(edit) for edit in edits]
    assert [outcome for outcome in outcomes if outcome.verify == "passed"] == []
    assert [outcome for outcome in outcomes if outcome.run == "accepted"] == []


def test_a_refused_cell_says_which_file_and_line_and_what_to_do(run: DamagedRun) -> None:
    samples = run.grid / CELL / "samples.jsonl"
    header, first, second, *others = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(b"".join([header, first, second.replace(b'"sample_index":1', b'"sample_index":7', 1), *others]))
    refused, words = run.run_again()
    assert refused == "refused"
    start = f"{samples}, line 3: its checksum does not fit: the line was changed, or a line before it was changed"
    assert words.startswith(start)
    assert "restore the file, or move" in words
    failed = {result.check: result.detail for _, result in verify(samples.parent).failures}
    assert failed["samples_read"] == words


def test_every_reader_refuses_a_changed_record(run: DamagedRun) -> None:
    samples = run.grid / CELL / "samples.jsonl"
    samples.write_bytes(samples.read_bytes().replace(b'"polarity":"positive"', b'"polarity":"negative"', 1))
    _every_reader_refuses(run, r"samples\.jsonl, line \d+: its checksum does not fit")


def test_every_reader_refuses_the_samples_of_another_cell(run: DamagedRun) -> None:
    shutil.copyfile(run.grid / "C2_seed_rules__seed42" / "samples.jsonl", run.grid / CELL / "samples.jsonl")
    told = r"samples\.jsonl, line 1: these samples belong to another cell or configuration; restore the file"
    _every_reader_refuses(run, told)
    refused, words = run.run_again()
    assert refused == "refused"
    assert re.search(told, words)


def test_every_reader_refuses_a_finished_cell_that_was_cut_behind_a_whole_line(run: DamagedRun) -> None:
    keep_first(run.grid / CELL, 2)
    _every_reader_refuses(run, r"samples\.jsonl has 2 of \d+ samples although the run was finished")
    assert "samples_read" in {result.check for _, result in verify(run.grid).failures}


def _every_reader_refuses(run: DamagedRun, told: str) -> None:
    readers: list[Callable[[], object]] = [
        lambda: load_run(run.grid),
        lambda: load_sides([run.grid, Path("C2"), Path("C2_seed_rules")]),
        lambda: write_results(run.grid),
        lambda: explain(run.grid, "n_samples", "C2"),
        lambda: store_of(str(run.grid / CELL)),
    ]
    for read in readers:
        with pytest.raises(RunDirectoryError, match=told):
            read()


def test_a_store_in_a_cell_is_made_anew_from_the_records(run: DamagedRun) -> None:
    store = run.grid / CELL / "episodic_store.jsonl"
    before = store.read_bytes()
    for content in (b"", before[: len(before) // 2], before.replace(b'"language":"en"', b'"language":"ko"', 1)):
        store.write_bytes(content)
        assert run.run_again()[0] == "restored"
        assert store.read_bytes() == before


def test_lost_times_are_no_fault_and_what_was_derived_is_derived_again_without_them(run: DamagedRun) -> None:
    cell = run.grid / CELL
    (cell / "timings.jsonl").unlink()
    assert verify(cell).failures == ()
    results = write_results(run.grid, rebuild=True)
    assert cell / "traces.jsonl" in results.tables
    assert verify(cell).failures == ()
    [trace, *_] = [json.loads(line) for line in (cell / "traces.jsonl").read_text("utf-8").splitlines()]
    assert trace["timing"] == {"latency_ms_sum": 0.0, "waited_ms_sum": None}


def test_only_the_user_may_read_what_a_run_writes(run: DamagedRun) -> None:
    # The store makes its own lock.
    below = (path for path in run.grid.rglob("*") if path.name != "episodic_store.jsonl.lock")
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (run.grid.parent, run.grid, *below)}
    assert modes == {(True, 0o700), (False, 0o600)}


@pytest.mark.parametrize(("limit", "name"), [(400, "question.json"), (10_000, "samples.jsonl")])
def test_a_full_disk_names_the_file(run: DamagedRun, limit: int, name: str) -> None:
    shutil.rmtree(run.grid)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        refused, words = run.run_again()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused == "refused"
    assert f"/{name}: File too large; make room on the disk and run the command again" in words
