"""Several writers of one store at once: processes, forked children, threads; and names that are no store."""

import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from tests.torture.chance import chance_for, scaled
from tests.torture.doomed import CLI, KILLED
from tests.torture.grids import STILL, committed_n, differences, files_of, out_of, run_grid, write_grid
from tests.torture.stores import APPENDER, fill, held, judge, said
from tests.torture.table import Row, Tally
from tests.warm_python import WarmProcess, run_warm

from episodic_absa.memory.store.store_maintenance import compact_store

FORKING = Path(__file__).with_name("forked_writers.py")


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per way of sharing a store."""
    with tempfile.TemporaryDirectory() as folder:
        yield _processes(Path(folder, "processes"), scaled(4, scale, 1), scaled(2000, scale, 50))
        yield _killed_among_others(Path(folder, "killed"), scaled(40, scale))
        yield _forked(Path(folder, "forks"), scaled(60, scale))
        yield _compacting(Path(folder, "compacting"), scaled(6, scale, 1))
        yield _foreign_names(Path(folder, "names"))
        yield _two_runs(Path(folder, "runs"), scaled(6, scale, 1))


def _processes(folder: Path, rounds: int, each: int) -> Row:
    tally = Tally("four processes append at once", f"{each:,} episodes each and round")
    for number in range(rounds):
        path = folder / f"{number}.jsonl"
        with ExitStack() as stack:
            commands = [[APPENDER, path, "--source", f"w-{n}", "--count", each] for n in range(4)]
            writers = [stack.enter_context(WarmProcess(command, loads_engine=False)) for command in commands]
            heard = [said(writer.communicate(timeout=400)[0]) for writer in writers]
        complete = all(len(ids) == each and ids == sorted(ids, key=lambda name: int(name[4:])) for ids in heard)
        judge(tally, path, [name for ids in heard for name in ids], f"round {number}")
        if not complete:
            tally.torn += 1
            tally.problem(f"round {number}: a writer ended early")
    return tally.row()


def _killed_among_others(folder: Path, kills: int) -> Row:
    """One of four writers is killed in the middle of a line; the others go on."""
    chance = chance_for("killed among others")
    tally = Tally("one of four writers killed, the others go on", "the killed one writes slowly, in small pieces")
    for kill in range(kills):
        path = folder / f"{kill}.jsonl"
        with ExitStack() as stack:
            others = [[APPENDER, path, "--count", 20] for _ in range(3)]
            doomed = stack.enter_context(WarmProcess([APPENDER, path, "--slow"], loads_engine=False))
            writers = [stack.enter_context(WarmProcess(command, loads_engine=False)) for command in others]
            time.sleep(chance.uniform(0, 0.15))
            doomed.send_signal(signal.SIGKILL)
            heard = [said(process.communicate()[0]) for process in (doomed, *writers)]
        judge(tally, path, [name for ids in heard for name in ids], f"kill {kill}")
    return tally.row()


def _forked(folder: Path, rounds: int) -> Row:
    tally = Tally("a process forks after it opened the store", "parent, 3 children, up to 3 threads each")
    for number in range(rounds):
        path, threads = folder / f"{number}.jsonl", 1 + number % 3
        done = run_warm([FORKING, path, 3, 6, threads], loads_engine=False)
        expected = 2 + 4 * 6 * threads
        ids = said(done.stdout)
        judge(tally, path, ids, f"round {number}, {threads} threads")
        if done.returncode or len(ids) != expected:
            tally.torn += 1
            tally.problem(f"round {number}: {len(ids)} of {expected} acknowledged; {done.stderr[-200:]}")
    return tally.row()


def _compacting(folder: Path, rounds: int) -> Row:
    tally = Tally("compaction while others append", "two writers, a compaction after each look")
    for number in range(rounds):
        path = folder / f"{number}.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            commands = [[APPENDER, path, "--count", 100] for _ in range(2)]
            writers = [stack.enter_context(WarmProcess(command, loads_engine=False)) for command in commands]
            highest = 0
            deadline = time.monotonic() + 120
            while highest < 200 and time.monotonic() < deadline:
                there = held(path) if path.exists() else []
                if there:
                    highest = int(there[-1][4:])
                    compact_store(path, 5, lock_timeout_s=60)
            ids = [name for writer in writers for name in said(writer.communicate()[0])]
        repeated = len(ids) - len(set(ids))
        missing = 200 - len(set(ids))
        last = held(path)[-5:] == [f"epi_{n:06d}" for n in range(196, 201)]
        words = f"round {number}: {missing} ids missing, {repeated} given twice, last five there: {last}"
        tally.count(lost=missing + repeated, torn=not last, words=words)
    return tally.row()


def _foreign_names(folder: Path) -> Row:
    """Names that are no store: refused at once, and left as they were."""
    folder.mkdir(parents=True)
    tally = Tally("names that are no store", "notes, hard links, FIFO, socket, device, directory: refused, untouched")
    for name, make in _FOREIGN.items():
        path = folder / name / "store.jsonl"
        path.parent.mkdir()
        make(path)
        before = {entry.name: entry.read_bytes() if entry.is_file() else b"" for entry in path.parent.iterdir()}
        done = run_warm([APPENDER, path, "--count", 1, "--lock-timeout-s", 1], loads_engine=False, timeout=10)
        after = {entry.name: entry.read_bytes() if entry.is_file() else b"" for entry in path.parent.iterdir()}
        refused = done.returncode != 0 and "MemoryStoreError" in done.stderr
        words = f"{name}: exit {done.returncode}, changed {before != after}, {done.stderr[-160:]}"
        tally.count(torn=not refused or before != after, words=words)
    return tally.row()


def _make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def _make_hard_link(path: Path) -> None:
    fill(path, 2)
    path.with_name("store.jsonl.lock").unlink(missing_ok=True)
    os.link(path, path.with_name("other.jsonl"))


_FOREIGN: dict[str, Callable[[Path], object]] = {
    "notes": lambda path: path.write_text("Buy milk.\nCall home.\n"),
    "unfinished notes": lambda path: path.write_text("Buy milk"),
    "other JSON lines": lambda path: path.write_text('{"name": "milk"}\n'),
    "FIFO": os.mkfifo,
    "socket": _make_socket,
    "device": lambda path: path.symlink_to("/dev/null"),
    "directory": lambda path: path.mkdir(),
    "hard link": _make_hard_link,
}


def _two_runs(folder: Path, rounds: int) -> Row:
    """A second `run` of the same grid, begun while the first one is at work."""
    whole = write_grid(folder / "whole", ("C2",), limit=2)
    assert run_grid(whole).returncode == 0
    expected = files_of(out_of(whole))
    tally = Tally("two runs in one directory", "the second is refused while the first one works")
    for number in range(rounds):
        config = write_grid(folder / str(number), ("C2",), limit=2)
        command = [Path(__file__).with_name("doomed_process.py"), *STILL, "--", *CLI, "run", config]
        with WarmProcess(command) as first:
            while not committed_n(out_of(config)) and first.returncode is None and not _ended(first):
                time.sleep(0.002)
            first.send_signal(signal.SIGSTOP)
            second = run_grid(config)
            first.send_signal(signal.SIGCONT)
            first.communicate()
        unequal = differences(files_of(out_of(config)), expected)
        words = f"round {number}: exits {first.returncode} and {second.returncode}, other bytes in {unequal[:3]}"
        tally.count(torn=first.returncode in (KILLED, None), differing=bool(unequal), words=words)
    return tally.row()


def _ended(process: WarmProcess) -> bool:
    return not Path(f"/proc/{process.pid}").exists()
