"""After `kill -9` at any moment, the next run ends with the bytes of an undisturbed one."""

import asyncio
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.runs.served_model import Served
from tests.runs.small_grid import Remembering, exact_bytes, run_here, write_experiment
from tests.warm_python import WarmProcess

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import OUTPUTS, OVERRIDE_DEBUG
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.run_directory import STORE

PROGRAM = Path(__file__).parents[1] / "runs" / "run_grid_process.py"
EXPERIMENT = {"conditions": ["C1", "C2", "C2_silent"], "seeds": [1, 2], "shuffle": True, "speculate": True}


def _start(path: Path, *options: str) -> WarmProcess:
    return WarmProcess([PROGRAM, path, *options])


def _kill_after(path: Path, commits: int, more_s: float, *options: str) -> bool:
    """Kill a run some time after it said so many commits; return whether it was still at work."""
    with _start(path, *options) as process:
        assert process.stdout is not None
        for _ in range(commits):
            if process.stdout.readline() in (b"", b"done\n"):
                break
        time.sleep(more_s)
        process.send_signal(signal.SIGKILL)
        rest, err = process.communicate()
    assert b"Error" not in err, err.decode()
    return not rest.endswith(b"done\n")


def _run_to_the_end(path: Path) -> None:
    with _start(path) as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err.decode()
    assert out.endswith(b"done\n")


def survive(folder: Path, kills: int, seed: int, experiment: dict[str, Any]) -> None:
    expected = exact_bytes(run_here(write_experiment(folder / "whole", experiment=experiment)).out_dir)
    chance, killed, round_n = random.Random(seed), 0, 0
    while killed < kills:
        round_n += 1
        path = write_experiment(folder / f"killed{round_n}", experiment=experiment)
        at_work = True
        while at_work and killed < kills:
            # Each cell says that it begins, and then each of its 16 commits.
            commits = chance.randint(1, 18 * len(experiment["seeds"]))
            at_work = _kill_after(path, commits, chance.random() * 0.05, "--slow")
            killed += at_work
        _run_to_the_end(path)
        assert exact_bytes(path.parent / "results" / "grid") == expected


def test_a_killed_grid_ends_byte_for_byte_like_an_undisturbed_one(tmp_path: Path) -> None:
    survive(tmp_path, 3, 1, {**EXPERIMENT, "seeds": [1]})


def test_a_second_process_in_one_run_directory_is_refused(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, experiment={"conditions": ["C2"]})
    with _start(path, "--slow") as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.send_signal(signal.SIGSTOP)
        try:
            with _start(path) as second:
                _, err = second.communicate(timeout=120)
        finally:
            first.send_signal(signal.SIGCONT)
        assert second.returncode == 1
        assert b"RunDirectoryError: another process is running" in err
        out, err = first.communicate(timeout=120)
    assert out.endswith(b"done\n"), err.decode()
    whole = write_experiment(tmp_path / "whole", experiment={"conditions": ["C2"]})
    assert exact_bytes(tmp_path / "results" / "grid") == exact_bytes(run_here(whole).out_dir)


def _rows(cache: Path) -> int:
    with closing(sqlite3.connect(cache)) as connection:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


def test_no_answer_that_the_cache_held_is_paid_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed")
    experiment = {"conditions": ["C1", "C2", "C2_silent"], "concurrency": 6}
    few = {"limit": 8}
    engine = Remembering()
    offline = load_experiment(write_experiment(tmp_path / "offline", experiment=experiment, data=few))
    asyncio.run(run_cells(offline, backend=RepairingBackend(engine)))
    with Served(engine.texts, delay_s=0.01) as server:
        backbone = {"provider": "openai", "model": "m", "base_url": server.base_url}
        path = write_experiment(tmp_path / "served", experiment=experiment, data=few, backbone=backbone)
        cache = path.parent / "cache.sqlite"
        for commits in (5, 8):
            assert _kill_after(path, commits, 0.02)
        held, sent = _rows(cache), server.count
        assert held > 40
        _run_to_the_end(path)
        # Each prompt that the cache did not hold is sent once, by whichever condition asks first.
        assert server.count - sent == _rows(cache) - held
        assert _rows(cache) == len(engine.texts)
        assert server.most_under_way() <= 6
    for name in (OUTPUTS, STORE, OVERRIDE_DEBUG):
        for cell in offline.out_dir.iterdir():
            if (cell / name).exists():
                there = path.parent / "results" / "grid" / cell.name / name
                assert there.read_bytes() == (cell / name).read_bytes(), (cell.name, name)
