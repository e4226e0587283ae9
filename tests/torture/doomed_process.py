"""Runs a program with a fault at a chosen system call: python doomed_process.py OPTIONS -- PROGRAM ARGUMENTS

PROGRAM is a file, or `-m` and a module. Calls that change a file are numbered from 1; at call --at the process kills
itself with signal 9 before the call, in the middle of it or after it, or the call fails with --errno. --power-cut also
takes away everything that was not synced, as a machine without power does. --log writes the name of every such call.
--clock replaces the wall clock.
"""

import argparse
import datetime as dt
import errno
import os
import random
import runpy
import signal
import stat
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

REAL = {name: getattr(os, name) for name in ("open", "write", "pwrite", "fsync", "ftruncate", "replace", "rename")}
REAL |= {name: getattr(os, name) for name in ("unlink", "mkdir", "sendfile", "close")}
WRITING = ("write", "pwrite")
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


class Disk:
    """Remembers what a power cut would leave of the files that the program changes."""

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}
        self._synced: dict[str, int] = {}
        self._before_rename: dict[str, bytes | None] = {}
        self._before_pwrite: dict[str, bytes] = {}

    def opened(self, descriptor: int, path: Any, *, existed: bool) -> None:
        place = os.path.realpath(path)
        self._paths[descriptor] = place
        if not existed:
            self._before_rename.setdefault(place, None)
        self._synced.setdefault(place, os.fstat(descriptor).st_size)

    def closed(self, descriptor: int) -> None:
        self._paths.pop(descriptor, None)

    def cut(self, descriptor: int, size: int) -> None:
        if descriptor in self._paths:
            place = self._paths[descriptor]
            self._synced[place] = min(self._synced[place], size)

    def synced(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            folder = Path(f"/proc/self/fd/{descriptor}").readlink()
            for place in [place for place in self._before_rename if Path(place).parent == folder]:
                del self._before_rename[place]
        elif descriptor in self._paths:
            self._synced[self._paths[descriptor]] = status.st_size
            self._before_pwrite.pop(self._paths[descriptor], None)

    def overwritten(self, descriptor: int) -> None:
        if descriptor in self._paths:
            place = self._paths[descriptor]
            self._before_pwrite.setdefault(place, Path(place).read_bytes())

    def renamed(self, source: Any, target: Any) -> None:
        old, new = os.path.realpath(source), os.path.realpath(target)
        self._before_rename.pop(old, None)
        self._before_rename.setdefault(new, Path(new).read_bytes() if Path(new).exists() else None)
        if old in self._synced:
            self._synced[new] = self._synced.pop(old)

    def lose_power(self) -> None:
        for place, content in self._before_pwrite.items():
            Path(place).write_bytes(content)
        for place, size in self._synced.items():
            if Path(place).exists() and Path(place).stat().st_size > size:
                os.truncate(place, size)
        for place, replaced in self._before_rename.items():
            if replaced is None:
                Path(place).unlink(missing_ok=True)
            else:
                Path(place).write_bytes(replaced)


class Doom:
    """Counts calls and strikes at one of them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._lock = threading.RLock()
        self._disk = Disk()
        self._calls = 0
        self._log = REAL["open"](options.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if options.log else None

    def install(self) -> None:
        for name in ("write", "pwrite", "fsync", "ftruncate", "replace", "rename", "unlink", "mkdir", "sendfile"):
            setattr(os, name, self._around(name))
        os.open = self._open
        os.close = self._close  # type: ignore[assignment] # it names its argument otherwise

    def _around(self, name: str) -> Any:
        real = REAL[name]

        def call(*arguments: Any, **named: Any) -> Any:
            if name in (*WRITING, "fsync", "ftruncate") and arguments[0] in (0, 1, 2):
                return real(*arguments, **named)
            with self._lock:
                strikes = self._next(name)
                if strikes:
                    self._before(name, arguments)
                if name in ("replace", "rename"):
                    self._disk.renamed(*arguments[:2])
                elif name == "pwrite":
                    self._disk.overwritten(arguments[0])
                try:
                    result = real(*arguments, **named)
                except OSError:
                    if strikes and self._options.when == "after":
                        self._die()
                    raise
                if name == "fsync":
                    self._disk.synced(arguments[0])
                elif name == "ftruncate":
                    self._disk.cut(*arguments)
                if strikes and self._options.when == "after":
                    self._die()
                return result

        return call

    def _open(self, path: Any, flags: int, mode: int = 0o777, **named: Any) -> int:
        if not flags & (os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR):
            return int(REAL["open"](path, flags, mode, **named))
        with self._lock:
            strikes = self._next("open")
            if strikes:
                self._before("open", (path,))
            existed = Path(path).exists()
            descriptor = int(REAL["open"](path, flags, mode, **named))
            self._disk.opened(descriptor, path, existed=existed)
            if strikes and self._options.when == "after":
                self._die()
            return descriptor

    def _close(self, descriptor: int) -> None:
        self._disk.closed(descriptor)
        REAL["close"](descriptor)

    def _next(self, name: str) -> bool:
        if self._options.calls and name not in self._options.calls.split(","):
            return False
        self._calls += 1
        if self._log is not None:
            REAL["write"](self._log, f"{name}\n".encode())
        if self._options.errno and self._options.stays:
            return bool(self._options.at) and self._calls >= self._options.at
        return bool(self._calls == self._options.at)

    def _before(self, name: str, arguments: tuple[Any, ...]) -> None:
        if self._options.errno:
            number = getattr(errno, self._options.errno)
            # As the system does: a call that takes a name names it in its error, one on a descriptor cannot.
            named = arguments[:1] if isinstance(arguments[0], str | os.PathLike) else ()
            raise OSError(number, os.strerror(number), *map(os.fspath, named))
        if self._options.when == "half" and name in WRITING:
            REAL[name](arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2], *arguments[2:])
            self._die()
        if self._options.when != "after":
            self._die()

    def _die(self) -> NoReturn:
        if self._options.power_cut:
            self._disk.lose_power()
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a process outlived signal 9")


class Clock:
    """A wall clock that stands still, or that jumps back and forth by up to a year at random calls."""

    def __init__(self, plan: str) -> None:
        self._chance = None if plan == "still" else random.Random(plan)
        self._offset = dt.timedelta()

    def now(self) -> dt.datetime:
        if self._chance is None:
            return START
        if self._chance.random() < 0.3:
            far = self._chance.choice((0.5, 60, 86_400, 31_536_000))
            self._offset = dt.timedelta(seconds=self._chance.uniform(-far, far))
        return START + self._offset

    def install(self) -> None:
        clock = self

        class JumpingDatetime(dt.datetime):
            @classmethod
            def now(cls, tz: dt.tzinfo | None = None) -> Any:
                return clock.now().astimezone(tz)

        replaced = {id(dt.datetime): JumpingDatetime, id(time.time): lambda: self.now().timestamp()}
        if self._chance is None:
            replaced[id(time.perf_counter)] = lambda: 0.0
        for module in [module for name, module in sys.modules.items() if name.startswith("episodic_absa")]:
            for name, value in list(vars(module).items()):
                if id(value) in replaced:
                    setattr(module, name, replaced[id(value)])
        # Modules that are not imported yet, and those that say `time.time()`.
        dt.datetime = JumpingDatetime  # type: ignore[misc]
        for name in ("time", "perf_counter"):
            setattr(time, name, replaced.get(id(getattr(time, name)), getattr(time, name)))


def main() -> None:
    own, program = _split(sys.argv[1:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--at", type=int, default=0, help="the call that is struck; 0 strikes none")
    parser.add_argument("--when", choices=("before", "half", "after"), default="before")
    parser.add_argument("--calls", default="", help="count only these, separated by commas")
    parser.add_argument("--errno", default="", help="fail with this error instead of dying")
    parser.add_argument("--stays", action="store_true", help="all later calls fail as well")
    parser.add_argument("--power-cut", action="store_true")
    parser.add_argument("--log", default="")
    parser.add_argument("--clock", default="", help="`still`, or a seed of jumps")
    options = parser.parse_args(own)
    if options.clock:
        Clock(options.clock).install()
    Doom(options).install()
    if program[0] == "-m":
        sys.argv = program[1:]
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = program
        runpy.run_path(program[0], run_name="__main__")


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    middle = words.index("--")
    return words[:middle], words[middle + 1 :]


if __name__ == "__main__":
    main()
