"""`run` and `verify` notice every damage to a finished run. `damaged_run` makes as many as are asked for."""

import json
import random
import resource
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runs.sealed_files import as_before_seals
from tests.verification.damaged_run import DAMAGES, DamagedRun

from episodic_absa.verification.verify import verify

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
        *("journal.jsonl", "manifest.json", "run_meta.json", "question.json"),
        *("structural_metrics.csv", "triptych.csv", "memory_growth.jsonl", "grid_metrics.csv", "comparisons.csv"),
    }
    chance = random.Random(262)
    edits = [*run.edits(1, chance, ["character"]), *chance.sample([*run.edits(1, chance, DAMAGES[1:])], 8)]
    outcomes = [run.trial(edit) for edit in edits]
    assert [outcome for outcome in outcomes if outcome.verify == "passed"] == []
    assert [outcome for outcome in outcomes if outcome.run == "accepted"] == []


def test_a_refused_cell_says_which_file_from_which_sample_on_and_what_to_do(run: DamagedRun) -> None:
    traces = run.grid / CELL / "traces.jsonl"
    first, second, *others = traces.read_bytes().splitlines(keepends=True)
    traces.write_bytes(b"".join([first, second.replace(b'"latency_ms":', b'"latency_mz":', 1), *others]))
    uid = json.loads(second)["case_trace"]["case_id"]
    refused, words = run.run_again()
    assert refused == "refused"
    assert words.startswith(f"{traces}, from sample 2 ('{uid}') on, is not as the run wrote it; restore the file, or ")
    failed = {result.check: result.detail for _, result in verify(traces.parent).failures}
    assert failed["file_hashes"] == f"traces.jsonl is not as committed, from sample 2 ({uid}) on"


def test_a_cell_that_continues_is_refused_if_what_it_continues_is_damaged(run: DamagedRun) -> None:
    cell = run.grid / CELL
    for name in ("journal.jsonl", "outputs.jsonl"):
        lines = (cell / name).read_bytes().splitlines(keepends=True)
        (cell / name).write_bytes(b"".join(lines[:-1]))
    store = cell / "episodic_store.jsonl"
    store.write_bytes(store.read_bytes().replace(b'"language":"en"', b'"language":"ko"', 1))
    refused, words = run.run_again()
    assert (refused, "episodic_store.jsonl, from sample" in words) == ("refused", True)


def test_what_stands_behind_the_last_sample_of_a_finished_cell_is_cut_off_with_a_notice(run: DamagedRun) -> None:
    with open(run.grid / CELL / "outputs.jsonl", "ab") as file:
        file.write(b"{}\n")
    assert run.run_again() == (
        "restored",
        f"{CELL}: more than was committed stood in outputs.jsonl; it was cut off\n",
    )


def test_a_run_without_hashes_is_accepted_as_before_and_verify_says_that_the_check_does_not_apply(
    run: DamagedRun,
) -> None:
    cell = run.grid / CELL
    as_before_seals(cell)
    traces = (cell / "traces.jsonl").read_bytes().replace(b'"latency_ms":0.', b'"latency_ms":1.', 1)
    (cell / "traces.jsonl").write_bytes(traces)
    _, words = run.run_again()
    assert words == ""
    assert (cell / "traces.jsonl").read_bytes() == traces
    results = {result.check: result for result in verify(cell).cells[CELL]}
    for name in ("file_hashes", "manifest_sealed"):
        assert results[name].result == "not_applicable"
        assert results[name].detail == "the run is of an older version, which wrote no hashes of its files"


def test_only_the_user_may_read_what_a_run_writes(run: DamagedRun) -> None:
    # The store makes its own lock.
    below = (path for path in run.grid.rglob("*") if path.name != "episodic_store.jsonl.lock")
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (run.grid.parent, run.grid, *below)}
    assert modes == {(True, 0o700), (False, 0o600)}


@pytest.mark.parametrize(("limit", "name"), [(400, "question.json"), (10_000, "traces.jsonl")])
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
