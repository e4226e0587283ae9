"""A run under rules v3 stores each sample once, however often it is interrupted, and keeps verdicts."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import exact_bytes, outputs_of, run_here, write_experiment
from tests.stored_lines import entries_of

from episodic_absa.cli.feedback.given_feedback import store_of as store_named
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.feedback import give_feedback
from episodic_absa.runs.run_directory import STORE
from episodic_absa.runs.samples_file import SAMPLES
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


def test_every_sample_is_stored_once_and_plain_ones_leave_no_episode(grid: Path) -> None:
    lines = [json.loads(line) for line in entries_of(store_of(grid))]
    stored = [output["uid"] for output in outputs_of(cell_of(grid)) if output["meta"]["episode_id"]]
    assert [line["provenance"]["source_id"] for line in lines] == stored
    assert verify(cell_of(grid)).failures == ()


def test_a_run_killed_before_a_commit_stores_no_sample_twice(grid: Path) -> None:
    before, stored = exact_bytes(cell_of(grid).parent), store_of(grid).read_bytes()
    lose_commits(cell_of(grid), 1)
    run_here(grid)
    assert (exact_bytes(cell_of(grid).parent), store_of(grid).read_bytes()) == (before, stored)


def test_what_others_added_to_a_shared_store_stays(grid: Path) -> None:
    with MemoryStore(store_of(grid)) as store:
        others = store.append(next(store.newest_episodes()).model_copy(update={"action_taken": "defer"}))
    lose_commits(cell_of(grid), 1)
    run_here(grid)
    with MemoryStore(store_of(grid)) as store:
        held = [episode.action_taken for episode in store.load()]
        # The records make the cell's own store anew.
        assert (store.get(others.episode_id) == others) is not store_of(grid).is_relative_to(cell_of(grid))
        assert len(held) == sum(bool(output["meta"]["episode_id"]) for output in outputs_of(cell_of(grid))) + (
            not store_of(grid).is_relative_to(cell_of(grid))
        )
    assert verify(cell_of(grid)).failures == ()


def test_a_verdict_on_a_finished_run_survives_the_next_run_and_verify(grid: Path) -> None:
    first = outputs_of(cell_of(grid))[0]["uid"]
    before = entries_of(store_of(grid))
    with store_named(str(cell_of(grid))) as store:
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
