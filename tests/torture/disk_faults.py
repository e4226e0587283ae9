"""Disks that are full, fail or refuse: commands name the file, and nothing is lost when the disk works again.

The full and the read-only disk are real where this process may mount one; elsewhere system calls fail in their place.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.store.places import draft
from tests.torture.chance import chance_for, scaled
from tests.torture.doomed import CLI, calls_of, refused_plainly, run_doomed
from tests.torture.grids import STILL, committed_n, differences, files_of, out_of, run_grid, write_grid
from tests.torture.table import Row, Tally

from episodic_absa.memory import MemoryStore

_MOUNT, _UMOUNT = shutil.which("mount"), shutil.which("umount")
_GRID_BYTES = 8_000_000


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per fault and program."""
    with tempfile.TemporaryDirectory() as folder:
        yield _grid_on_a_full_disk(Path(folder, "grid"), scaled(16, scale, 1))
        yield _grid_calls_fail(Path(folder, "calls"), scaled(40, scale))
        yield _read_only(Path(folder, "readonly"))


@contextmanager
def _disk(place: Path, size: int) -> Iterator[bool]:
    """Mount a disk of so many bytes; yield whether that was allowed, else `place` is a plain directory."""
    place.mkdir(parents=True)
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    mounted = bool(_MOUNT and subprocess.run([_MOUNT, *options], capture_output=True, check=False).returncode == 0)
    try:
        yield mounted
    finally:
        if mounted and _UMOUNT:
            subprocess.run([_UMOUNT, "-l", str(place)], check=True)


def _fill_up(place: Path, room: int) -> Path:
    """Leave so many bytes free, whole pages; return the file that takes the rest."""
    free = os.statvfs(place)
    ballast = place / "ballast"
    ballast.write_bytes(b"\0" * max(0, free.f_bavail * free.f_bsize - room))
    return ballast


def _failing(error: str, at: int, calls: str = "write,pwrite,sendfile") -> tuple[str, ...]:
    return ("--errno", error, "--calls", calls, "--at", str(at), "--stays")


def _grid_on_a_full_disk(folder: Path, trials: int) -> Row:
    chance = chance_for("grid on a full disk")
    whole = write_grid(folder / "whole", ("C1", "C2"), limit=3)
    assert run_grid(whole).returncode == 0
    expected = files_of(out_of(whole))
    size = sum(map(len, expected.values()))
    tally = Tally("run on a full disk")
    kind = "failing writes"
    while tally.trials < trials:
        place = folder / str(tally.trials)
        with _disk(place, _GRID_BYTES) as mounted:
            kind = "a real one" if mounted else kind
            config = write_grid(place / "grid", ("C1", "C2"), limit=3)
            fault = () if mounted else _failing("ENOSPC", chance.randint(1, 120))
            # Early in the run as often as late, in the tables and the report.
            ballast = _fill_up(place, int(size * chance.random() ** 2)) if mounted else place / "ballast"
            done = run_grid(config, *fault)
            before = committed_n(out_of(config))
            ballast.unlink(missing_ok=True)
            again = run_grid(config)
            unequal = (
                differences(files_of(out_of(config)), expected) if again.returncode == 0 else [again.stderr[-200:]]
            )
            plain = refused_plainly(done) and str(place) in done.stderr.replace("\n", "")
            tally.count(
                lost=max(0, before - committed_n(out_of(config))),
                torn=not plain,
                differing=bool(unequal),
                words=f"exit {done.returncode}, {done.stderr[-300:]!r}; other bytes in {unequal[:3]}",
            )
    row = tally.row()
    return row if row.note else Row(row.name, row.trials, note=f"{kind}; the error names the file")


def _grid_calls_fail(folder: Path, trials: int) -> Row:
    chance = chance_for("grid calls fail")
    whole = write_grid(folder / "whole", ("C1", "C2"), limit=2)
    calls, done = calls_of([*CLI, "run", whole], *STILL, loads_engine=True)
    assert done.returncode == 0, done.stderr
    expected = files_of(out_of(whole))
    tally = Tally("run with failing writes and syncs", f"EIO, ENOSPC, EROFS at random ones of {len(calls)} calls")
    for trial in range(trials):
        config = write_grid(folder / str(trial), ("C1", "C2"), limit=2)
        at, error = chance.randint(1, len(calls)), chance.choice(("EIO", "ENOSPC", "EROFS", "EDQUOT"))
        done = run_grid(config, "--errno", error, "--at", at, *(["--stays"] * chance.randint(0, 1)))
        before = committed_n(out_of(config))
        again = run_grid(config)
        unequal = differences(files_of(out_of(config)), expected) if again.returncode == 0 else [again.stderr[-200:]]
        # A call may fail harmlessly, such as the making of a directory that exists.
        plain = done.returncode == 0 or (refused_plainly(done) and _names_a_file(done.stderr, folder))
        tally.count(
            lost=max(0, before - committed_n(out_of(config))),
            torn=not plain,
            differing=bool(unequal),
            words=f"{error} at {calls[at - 1]} {at}: exit {done.returncode}, {done.stderr[-300:]!r}; {unequal[:3]}",
        )
    return tally.row()


def _names_a_file(stderr: str, folder: Path) -> bool:
    return str(folder) in stderr.replace("\n", "")


def _read_only(folder: Path) -> Row:
    """A finished run and its store, where nothing can be written."""
    tally = Tally("read-only directory", "run, verify, report, feedback, compact: nothing changes, words say why")
    place = folder / "disk"
    with _disk(place, _GRID_BYTES) as mounted:
        config = write_grid(place / "grid", ("C2",), limit=2)
        assert run_grid(config).returncode == 0
        store = place / "memory" / "store.jsonl"
        with MemoryStore(store) as opened:
            known = [opened.append(draft(number)).episode_id for number in range(1, 4)]
        before = files_of(place)
        commands: list[list[object]] = [
            [*CLI, "run", config],
            [*CLI, "run", config, "--limit", 1],
            [*CLI, "verify", out_of(config)],
            [*CLI, "report", out_of(config)],
            [*CLI, "feedback", store, "review-1", "right"],
            [*CLI, "memory", "compact", "--keep", "1", "--store", store],
            [*CLI, "memory", "repair", "--store", store],
            [*CLI, "memory", "check", "--store", store],
        ]
        for command in commands:
            with _write_protected(place, mounted=mounted):
                done = run_doomed(command, *STILL, loads_engine=True)
            reading = command[2:4] == ["memory", "check"]
            plain = "Traceback" not in done.stderr and done.returncode in ((0,) if reading else (0, 1, 2, 3))
            changed = differences(files_of(place), before)
            words = (
                f"{' '.join(map(str, command[-4:]))}: exit {done.returncode}, changed {changed}, {done.stderr[-300:]!r}"
            )
            tally.count(torn=not plain or bool(changed), words=words)
        with MemoryStore(store) as opened:
            fresh = opened.append(draft(4)).episode_id
            held = [episode.episode_id for episode in opened.load()]
        tally.count(lost=len(set(known) - set(held)), torn=held[-1] != fresh, words="append once it can be written")
    return tally.row()


@contextmanager
def _write_protected(place: Path, *, mounted: bool) -> Iterator[None]:
    if mounted:
        assert _MOUNT is not None
        subprocess.run([_MOUNT, "-o", "remount,ro", str(place)], check=True)
        try:
            yield
        finally:
            subprocess.run([_MOUNT, "-o", "remount,rw", str(place)], check=True)
        return
    folders = [place, *(path for path in place.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path in folders:
            path.chmod(0o755)
