"""A wall clock that jumps back and forth, up to a year at once, during runs and store writes; odd file times."""

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.runs.small_grid import exact_bytes
from tests.torture.chance import chance_for, scaled
from tests.torture.doomed import CLI, run_doomed
from tests.torture.grids import committed_n, differences, files_of, out_of, run_grid, verify, write_grid
from tests.torture.table import Row, Tally

_FARTHEST_S = 4e9


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per thing that must not depend on the clock."""
    with tempfile.TemporaryDirectory() as folder:
        yield _grids(Path(folder, "grids"), scaled(20, scale, 1), ("C2",) if scale < 0.5 else ("C1", "C2"))
        yield _file_times(Path(folder, "times"), scaled(12, scale, 1))


def _grids(folder: Path, runs: int, conditions: tuple[str, ...]) -> Row:
    """Runs under jumping clocks, killed and continued under others: same bytes, and `verify` passes."""
    chance = chance_for("grids under jumping clocks")
    whole = write_grid(folder / "whole", conditions, limit=2)
    assert run_grid(whole).returncode == 0
    expected = exact_bytes(out_of(whole))
    tally = Tally("run under a jumping clock", "killed and continued; outputs, scorecards, store; verify passes")
    for number in range(runs):
        config = write_grid(folder / str(number), conditions, limit=2)
        command = [*CLI, "run", config]
        run_doomed(command, "--clock", f"{number}", "--at", chance.randint(20, 200), loads_engine=True)
        before = committed_n(out_of(config))
        done = run_doomed(command, "--clock", f"{number} later", loads_engine=True)
        unequal = differences(exact_bytes(out_of(config)), expected)
        judged = run_doomed([*CLI, "verify", out_of(config)], "--clock", f"{number} last", loads_engine=True)
        tally.count(
            lost=max(0, before - committed_n(out_of(config))),
            torn=bool(done.returncode or judged.returncode),
            differing=bool(unequal),
            words=f"run {number}: {done.stderr[-200:]}{judged.stdout[-200:]} other bytes in {unequal[:3]}",
        )
    return tally.row()


def _file_times(folder: Path, trials: int) -> Row:
    """Files that seem to come from the past or the future: `run` and `verify` judge by content."""
    chance = chance_for("file times")
    config = write_grid(folder, ("C2",), limit=2)
    run_grid(config)
    assert verify(out_of(config)).returncode == 0
    assert run_grid(config).returncode == 0
    expected = files_of(out_of(config))
    tally = Tally("files with odd times", "modified in 1970 or in 2096: run and verify judge by content")
    for trial in range(trials):
        _scatter_times(config.parent, chance)
        ends = run_grid(config), verify(out_of(config))
        unequal = differences(files_of(out_of(config)), expected)
        words = f"trial {trial}: exits {[end.returncode for end in ends]}, other bytes in {unequal}"
        tally.count(torn=any(end.returncode for end in ends), differing=bool(unequal), words=words)
    return tally.row()


def _scatter_times(folder: Path, chance: random.Random) -> None:
    for path in folder.rglob("*"):
        moment = chance.uniform(0, _FARTHEST_S)
        os.utime(path, (moment, moment))
