"""A run under rules v3 tallies each sample once, however often it is interrupted, and keeps verdicts."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import exact_bytes, outputs_of, run_here, write_experiment
from tests.stored_lines import entries_of

from episodic_absa.errors import RunDirectoryError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.feedback import give_feedback
from episodic_absa.runs.run_directory import STORE
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.memory_v1_2 import TallyV1_2
from episodic_absa.verification import verify

V2: dict[str, Any] = {"experiment": {"conditions": ["C2"]}}
MEMORY: dict[str, Any] = {"conditions_path": "v3_0", "build": None}
ELSEWHERE = "kept/{condition}/{seed}.jsonl"


@pytest.fixture(scope="module", params=[None, ELSEWHERE], ids=["own store", "store elsewhere"])
def grid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run one cell under rules v3; return its config."""
    memory = MEMORY if request.param is None else {**MEMORY, "store_path": request.param}
    path = write_experiment(tmp_path_factory.mktemp("tallied"), **V2, episodic_memory=memory)
    run_here(path)
    return path


def cell_of(grid: Path) -> Path:
    return grid.parent / "results" / "grid" / "C2__seed42"


def store_of(grid: Path) -> Path:
    own = cell_of(grid) / STORE
    return own if own.exists() else grid.parent / "kept" / "C2" / "42.jsonl"


def lose_commits(cell: Path, commit_n: int) -> None:
    samples = (cell / SAMPLES).read_bytes().splitlines(keepends=True)
    (cell / SAMPLES).write_bytes(b"".join(samples[:-commit_n]))


def test_every_sample_is_tallied_once_and_plain_ones_leave_no_episode(grid: Path) -> None:
    lines = [json.loads(line) for line in entries_of(store_of(grid))]
    tallied = [line["source_id"] for line in lines if line.get("kind") == "tally"]
    outputs = outputs_of(cell_of(grid))
    assert tallied == [output["uid"] for output in outputs]
    stored = [output["uid"] for output in outputs if output["meta"]["episode_id"]]
    assert [line["provenance"]["source_id"] for line in lines if "episode_id" in line] == stored
    assert verify(cell_of(grid)).failures == ()


def test_a_run_killed_before_a_commit_tallies_no_sample_twice(grid: Path) -> None:
    before, stored = exact_bytes(cell_of(grid).parent), store_of(grid).read_bytes()
    lose_commits(cell_of(grid), 1)
    run_here(grid)
    assert (exact_bytes(cell_of(grid).parent), store_of(grid).read_bytes()) == (before, stored)


def test_a_foreign_line_behind_the_last_commit_is_cut_or_refused(grid: Path) -> None:
    stored = store_of(grid).read_bytes()
    lose_commits(cell_of(grid), 1)
    with MemoryStore(store_of(grid)) as store:
        store.append_tally(TallyV1_2(language="en", source_id="another", terms=()))
    if store_of(grid).is_relative_to(cell_of(grid)):
        run_here(grid)
    else:
        with pytest.raises(RunDirectoryError, match="not as the run"):
            run_here(grid)
        store_of(grid).write_bytes(stored)
        run_here(grid)
    assert store_of(grid).read_bytes() == stored


def test_a_verdict_on_a_finished_run_survives_the_next_run_and_verify(grid: Path) -> None:
    first = outputs_of(cell_of(grid))[0]["uid"]
    before = entries_of(store_of(grid))
    with MemoryStore(store_of(grid)) as store:
        assert give_feedback(store, first, "wrong").is_new
    judged, judged_entries = store_of(grid).read_bytes(), entries_of(store_of(grid))
    run_here(grid)
    assert store_of(grid).read_bytes() == judged
    assert verify(cell_of(grid)).failures == ()
    # The last sample runs again; the verdict on the first one stays.
    lose_commits(cell_of(grid), 1)
    run_here(grid)
    after = entries_of(store_of(grid))
    assert sorted(after) == sorted(judged_entries)
    assert after != before
    assert verify(cell_of(grid)).failures == ()
