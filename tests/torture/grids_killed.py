"""Kills of whole grids through the CLI: at random moments and at chosen system calls; the end must not show it."""

import random
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.crash.test_grid_kills import EXPERIMENT, survive
from tests.torture.chance import chance_for, scaled
from tests.torture.doomed import CLI, KILLED, PROGRAM, calls_of
from tests.torture.grids import (
    ALL_CONDITIONS,
    ARMS,
    STILL,
    committed_n,
    differences,
    files_of,
    out_of,
    run_grid,
    verify,
    write_grid,
)
from tests.torture.table import Row, Tally
from tests.warm_python import WarmProcess

_KILLS_PER_GRID = 6
_WITH_TIMES = ("traces.jsonl", "report.html", "report.json")
MOMENTS = ("before", "half", "after")


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per set of conditions and way to die."""
    small = scale < 0.5
    with tempfile.TemporaryDirectory() as folder:
        for conditions, share in ((("C2",), 1.0),) if small else ((ALL_CONDITIONS, 1.0), (ARMS, 0.3)):
            trials = _Trials(Path(folder, conditions[0]), conditions, limit=2 if small else 5)
            yield trials.killed_at_random(scaled(36, scale * share))
            yield trials.killed_at_calls(scaled(48, scale * share))
            yield trials.killed_at_calls(scaled(24, scale * share), "--power-cut")
        if not small:
            yield _killed_inside_lines(Path(folder, "lines"), scaled(40, scale))


def _killed_inside_lines(folder: Path, kills: int) -> Row:
    """Two seeds under seed rules, in a process that writes files in small pieces."""
    name, note = "run killed inside lines (seed rules, two seeds)", "files are written in pieces of 700 bytes"
    try:
        survive(folder, kills, chance_for(name).randrange(10**6), EXPERIMENT)
    except AssertionError as error:
        return Row(name, kills, differing=1, note=f"FAILED: {str(error)[:300]}")
    return Row(name, kills, note=note)


class _Trials:
    """One grid, run undisturbed once, and then killed again and again."""

    def __init__(self, folder: Path, conditions: tuple[str, ...], *, limit: int) -> None:
        self._folder = folder
        self._conditions = conditions
        self._limit = limit
        self._grids_n = 0
        self._whole = self._new_grid()
        self._calls, done = calls_of([*CLI, "run", self._whole], *STILL, loads_engine=True)
        assert done.returncode == 0, done.stderr
        self._expected = files_of(out_of(self._whole))
        self._sample_n = committed_n(out_of(self._whole))
        self._what = f"{'all conditions' if conditions == ALL_CONDITIONS else ', '.join(conditions)}"

    def _new_grid(self) -> Path:
        self._grids_n += 1
        return write_grid(self._folder / str(self._grids_n), self._conditions, limit=self._limit)

    def killed_at_random(self, kills: int) -> Row:
        """Kill -9 from outside, some time after the run began or continued."""
        chance = chance_for(f"grids killed at random {self._conditions}")
        tally = Tally(f"run killed at random ({self._what})", f"kill -9 from outside; {len(self._expected)} files")
        while tally.trials < kills:
            config = self._new_grid()
            for _ in range(min(_KILLS_PER_GRID, kills - tally.trials)):
                if not self._trial(tally, config, lambda: _killed_from_outside(config, chance)):  # noqa: B023
                    break
            self._finish(tally, config)
        return tally.row()

    def killed_at_calls(self, kills: int, *options: str) -> Row:
        """Let the run kill itself before, inside or after a call that changes a file."""
        name = "run without power" if options else "run killed around writes and syncs"
        chance = chance_for(f"{name} {self._conditions}")
        note = "what was not synced is gone" if options else f"before, inside and after {len(self._calls):,} calls"
        tally = Tally(f"{name} ({self._what})", f"{note}; {len(self._expected)} files")
        while tally.trials < kills:
            config = self._new_grid()
            for _ in range(min(_KILLS_PER_GRID, kills - tally.trials)):
                strike = ("--at", self._call_left(config, chance), "--when", chance.choice(MOMENTS), *options)
                if not self._trial(tally, config, lambda: run_grid(config, *strike).returncode == KILLED):  # noqa: B023
                    break
            self._finish(tally, config, loses_times="--power-cut" in options)
        return tally.row()

    def _call_left(self, config: Path, chance: random.Random) -> int:
        """Return the number of a call that a run which continues is likely to come to."""
        done = committed_n(out_of(config)) / self._sample_n
        return 1 + int(chance.random() * (1 - 0.95 * done) * (len(self._calls) - 1))

    def _trial(self, tally: Tally, config: Path, kill: object) -> bool:
        """Return whether the run was killed at work."""
        before = committed_n(out_of(config))
        assert callable(kill)
        if not kill():
            return False
        lost = max(0, before - committed_n(out_of(config)))
        tally.count(lost=lost, words=f"{lost} committed samples were gone after a kill")
        return True

    def _finish(self, tally: Tally, config: Path, *, loses_times: bool = False) -> None:
        """Run to the end; compare every file with the undisturbed run, and let `verify` judge.

        Nothing waits for times to reach the disk: without power they may be lost, and pages then lack them.
        """
        done = run_grid(config)
        if done.returncode:
            tally.differing += 1
            tally.problem(f"the run did not continue: {done.stderr[-300:]}")
            return
        unequal = differences(files_of(out_of(config)), self._expected)
        unequal = [name for name in unequal if not (loses_times and name.endswith(_WITH_TIMES))]
        if unequal:
            tally.differing += 1
            tally.problem(f"other bytes in {', '.join(unequal[:4])}")
        elif (judged := verify(out_of(config))).returncode:
            tally.torn += 1
            tally.problem(f"verify fails: {judged.stdout[-300:]}")


def _killed_from_outside(config: Path, chance: random.Random) -> bool:
    with WarmProcess([PROGRAM, *STILL, "--", *CLI, "run", config]) as process:
        # Mostly early: a run that continues has little left to do.
        time.sleep(1.2 * chance.random() ** 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return process.returncode == KILLED
