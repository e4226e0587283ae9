"""Starts doomed processes: `run_doomed` to their end, `calls_of` for the moments at which they can be struck."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

from tests.warm_python import run_warm

PROGRAM = Path(__file__).with_name("doomed_process.py")
CLI = ("-m", "episodic_absa")
KILLED = -9


class Moment(NamedTuple):
    """A system call of a program, and where in it the process dies."""

    call: int
    name: str
    when: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `doomed_process.py` that strike here."""
        return ("--at", str(self.call), "--when", self.when)

    def __str__(self) -> str:
        return f"{self.when} {self.name} (call {self.call})"


def run_doomed(
    program: Sequence[object],
    *options: object,
    stdin: bytes = b"",
    cwd: Path | None = None,
    timeout: float = 180,
    loads_engine: bool = False,
) -> CompletedProcess[str]:
    """Run a program with the given fault; -9 is the exit code of one that died of it."""
    return run_warm(
        [PROGRAM, *options, "--", *program], stdin=stdin, cwd=cwd, timeout=timeout, loads_engine=loads_engine
    )


def calls_of(
    program: Sequence[object], *options: object, stdin: bytes = b"", loads_engine: bool = False
) -> tuple[list[str], CompletedProcess[str]]:
    """Run a program undisturbed; return the names of the calls by which it changes files, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "calls")
        done = run_doomed(program, *options, "--log", log, stdin=stdin, loads_engine=loads_engine)
        return log.read_text("utf-8").split() if log.exists() else [], done


def moments_of(calls: Sequence[str]) -> Iterator[Moment]:
    """Yield every moment before, inside and after each call."""
    for number, name in enumerate(calls, 1):
        for when in ("before", "half", "after") if name in ("write", "pwrite") else ("before", "after"):
            yield Moment(number, name, when)


def refused_plainly(done: CompletedProcess[str]) -> bool:
    """Return whether a command ended with an error for its user: not 0, no traceback, words on stderr."""
    return done.returncode in (1, 2) and "Traceback" not in done.stderr and bool(done.stderr.strip())
