"""SPEC 10, Cache: real processes, real kills."""

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from episodic_absa.backends.cache.response_cache import ResponseCache

ASKER = Path(__file__).with_name("asker.py")


def start_asker(path: Path, *, first: int = 0, count: int = 10**6) -> "subprocess.Popen[bytes]":
    command = [sys.executable, str(ASKER), str(path), "--first", str(first), "--count", str(count)]
    # Unbuffered: `communicate` does not return what `readline` has read ahead.
    return subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kept_in(path: Path) -> set[str]:
    """Return all kept texts, after the cache itself has had the chance to recover the file."""
    ResponseCache(path).close()
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {text.decode() for (text,) in connection.execute("SELECT text FROM answers")}
    finally:
        connection.close()


def acknowledged(lines: bytes) -> dict[int, str]:
    """Read what an asker said; a line cut short by a kill was not said."""
    whole = lines[: lines.rfind(b"\n") + 1].decode().splitlines()
    return {int(number): text for number, _, text in (line.partition("\t") for line in whole)}


def killed_asker(path: Path, chance: random.Random, kill: int) -> tuple[set[str], bytes]:
    """Kill a process that asks through the cache at a random moment; return the answers that it used and its errors."""
    with start_asker(path, first=kill * 10**6) as asker:
        assert asker.stdin is not None
        assert asker.stdout is not None
        assert asker.stdout.readline() == b"ready\n"
        asker.stdin.write(b"go\n")
        asker.stdin.flush()
        heard = b"".join(asker.stdout.readline() for _ in range(chance.randint(1, 60)))
        asker.send_signal(signal.SIGKILL)
        rest, err = asker.communicate()
    return set(acknowledged(heard + rest).values()), err


# CHECKLIST 223
def test_ten_kills_lose_no_answer_that_was_used(tmp_path: Path) -> None:
    path, chance = tmp_path / "cache.sqlite", random.Random(20)
    said: set[str] = set()
    for kill in range(10):
        fresh, err = killed_asker(path, chance, kill)
        assert err == b"", err.decode()
        assert fresh
        said |= fresh
        assert said <= kept_in(path)


# CHECKLIST 223
@pytest.mark.parametrize("processes", [2, 6])
def test_processes_on_one_file_all_use_the_answer_that_was_kept(tmp_path: Path, processes: int) -> None:
    path = tmp_path / "new" / "cache.sqlite"
    count = 200
    with ExitStack() as stack:
        askers = [stack.enter_context(start_asker(path, count=count)) for _ in range(processes)]
        for asker in askers:
            assert asker.stdout is not None
            assert asker.stdout.readline() == b"ready\n"
        for asker in askers:
            assert asker.stdin is not None
            asker.stdin.write(b"go\n")
            asker.stdin.flush()
        outputs = [asker.communicate() for asker in askers]
    assert [err.decode() for _, err in outputs] == [""] * processes
    first, *others = [acknowledged(out) for out, _ in outputs]
    assert sorted(first) == list(range(count))
    assert all(other == first for other in others)
    assert kept_in(path) == set(first.values())
