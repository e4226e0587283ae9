"""Python processes that need not load anything: forked from one that has imported the package and loaded the engine.

Most of what a command costs is its imports, and the Korean analyser takes seconds to load. A warm process has its own
streams, signals, working directory, environment and exit code, and begins with these modules in memory; in all else it
is `python -m MODULE ...`, `python FILE ...` or `python -c CODE ...`. Tests of a cold start use `subprocess`, and so do
tests of what an interpreter reads from its environment when it starts (PYTHON*, LANG).
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, Self

_NUMBER = struct.Struct("i")
_UNWANTED = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH")
_REQUEST_BYTES = 180_000
_IMPORTED_LATE = (
    *("defusedxml.ElementTree", "numpy.ma", "rapidfuzz.distance", "rapidfuzz.fuzz"),
    *("openai", "pydantic_ai.models.openai", "pydantic_ai.providers.openai"),
)


def plain_environment() -> dict[str, str]:
    """The environment without what a developer's terminal adds to it."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    return kept | {"PYTHONIOENCODING": "utf-8"}


def _is_readable(descriptor: int, timeout: float) -> bool:
    """Return whether a descriptor can be read in time; unlike `select`, also one above 1,023."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(timeout * 1000))


class WarmProcess:
    """A process like one of `subprocess.Popen`; its stderr can be read when it has ended."""

    def __init__(
        self,
        arguments: Sequence[object],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        loads_engine: bool = True,
    ) -> None:
        """Start `python ARGUMENTS`; streams that are not given are nothing, a pipe and a file.

        Args:
            arguments: `-m` and a module, `-c` and code, or a file, with the arguments of the program.
            cwd: the working directory; None takes the one of this process.
            env: the environment; None takes a plain one.
            stdin: what the process reads.
            stdout: where it writes; a pipe that `stdout` reads if None.
            stderr: where it complains; a file that `communicate` reads if None.
            loads_engine: whether it needs the embedded engine.
        """
        self.args = list(map(str, arguments))
        self.returncode: int | None = None
        self.stdout: IO[bytes] | None = None
        self._stderr = None if stderr is not None else tempfile.TemporaryFile()  # noqa: SIM115 - closed with the rest
        request = {
            "arguments": self.args,
            "cwd": str(cwd or Path.cwd()),
            "env": dict(plain_environment() if env is None else env),
            "loads_engine": loads_engine,
        }
        with contextlib.ExitStack() as sent:
            if stdin is None:
                stdin = os.open(os.devnull, os.O_RDONLY)
                sent.callback(os.close, stdin)
            if stdout is None:
                read_end, stdout = os.pipe()
                sent.callback(os.close, stdout)
                self.stdout = open(read_end, "rb")  # noqa: SIM115 - closed with the rest
            if self._stderr is not None:
                stderr = self._stderr.fileno()
            self._status, status = os.pipe()
            sent.callback(os.close, status)
            assert stderr is not None
            socket.send_fds(_server(), [json.dumps(request).encode()], [stdin, stdout, stderr, status])
        self.pid = self._read_number()

    def _read_number(self) -> int:
        data = os.read(self._status, _NUMBER.size)
        assert len(data) == _NUMBER.size, "the process that starts the others has gone"
        number: int = _NUMBER.unpack(data)[0]
        return number

    def send_signal(self, number: int) -> None:
        """Send a signal to a process that has not ended yet."""
        if not _is_readable(self._status, 0):
            os.kill(self.pid, number)

    def poll(self) -> int | None:
        """Return the exit code, None as long as the process runs."""
        if self.returncode is None and _is_readable(self._status, 0):
            self.returncode = self._read_number()
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Return the exit code; a process that takes longer is killed."""
        if self.returncode is None:
            is_late = not _is_readable(self._status, timeout)
            if is_late:
                os.kill(self.pid, signal.SIGKILL)
            self.returncode = self._read_number()
            if is_late:
                raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def communicate(self, timeout: float = 120) -> tuple[bytes, bytes]:
        """Return what is left to read of both streams when the process has ended."""
        late = threading.Timer(timeout, self.send_signal, [signal.SIGKILL])
        late.start()
        try:
            out = self.stdout.read() if self.stdout else b""
        finally:
            late.cancel()
        self.wait(timeout)
        if self._stderr is None:
            return out, b""
        self._stderr.seek(0)
        return out, self._stderr.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.send_signal(signal.SIGKILL)
        self.wait(timeout=120)
        os.close(self._status)
        for stream in (self.stdout, self._stderr):
            if stream is not None:
                stream.close()


def run_warm(
    arguments: Sequence[object],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = 120,
    loads_engine: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` to its end, as `subprocess.run` does; it reads and writes UTF-8."""
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        with WarmProcess(arguments, cwd=cwd, env=env, stdin=given.fileno(), loads_engine=loads_engine) as process:
            out, err = process.communicate(timeout)
            code = process.wait(timeout)
    return subprocess.CompletedProcess(process.args, code, out.decode(), err.decode())


@functools.cache
def _server() -> socket.socket:
    """Start the process that others are forked from; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, str(Path(__file__)), str(theirs.fileno())]
        server = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=plain_environment())

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def _serve(control: socket.socket) -> None:
    """Fork a process for each request and tell how it ended, until the tests have gone."""
    for module in pkgutil.walk_packages(importlib.import_module("episodic_absa.cli").__path__, "episodic_absa.cli."):
        importlib.import_module(module.name)
    gc.freeze()
    ended, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    statuses: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, ended], [], [])
        if ended in ready:
            ended.recv(4096)
            _tell_ends(statuses)
        if control in ready:
            request, streams, _, _ = socket.recv_fds(control, _REQUEST_BYTES, 4)
            if not request:
                return
            *standard, status = streams
            process = _start(json.loads(request), standard, [control, ended, wakes], [status, *statuses.values()])
            os.write(status, _NUMBER.pack(process))
            statuses[process] = status


def _tell_ends(statuses: dict[int, int]) -> None:
    while statuses:
        process, ended = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        status = statuses.pop(process)
        with contextlib.suppress(BrokenPipeError):
            os.write(status, _NUMBER.pack(os.waitstatus_to_exitcode(ended)))
        os.close(status)


def _start(asked: dict[str, Any], standard: list[int], sockets: list[socket.socket], statuses: list[int]) -> int:
    """Return the number of a new process, which has nothing of ours open."""
    if asked["loads_engine"]:
        _load_engine()
    with warnings.catch_warnings():
        # The Korean analyser keeps a thread, which no process needs that analyses one text at a time.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for kept in sockets:
            kept.close()
        for status in statuses:
            os.close(status)
        _become(asked, standard)
    for stream in standard:
        os.close(stream)
    return process


@functools.cache
def _load_engine() -> None:
    from episodic_absa.reader.reader import read

    read("The room was clean.")
    read("방이 깨끗했어요.")
    _load_late_parts()
    gc.freeze()


def _load_late_parts() -> None:
    """Load what commands import when they come to it, and compile the templates: that is most of a small run."""
    from episodic_absa.reports.page.html_page import environment

    for module in _IMPORTED_LATE:
        importlib.import_module(module)
    for name in environment().list_templates():
        environment().get_template(name)


def _become(asked: dict[str, Any], standard: list[int]) -> NoReturn:
    """Be the process that was asked for."""
    for number, stream in enumerate(standard):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process lives
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - see above
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    code = 1
    try:
        _run(asked["arguments"])
        code = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - whatever it is, as the interpreter does
        traceback.print_exc()
    _end(code)


def _run(arguments: list[str]) -> None:
    if arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - as asked for
    elif arguments[0] == "-m":
        sys.path[0] = os.getcwd()  # noqa: PTH109 - a string, as the interpreter puts it there
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))  # noqa: PTH100, PTH120 - see above
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def _end(code: int) -> NoReturn:
    """End as the interpreter does, short of taking the modules apart: that would wait for the analyser's thread."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120
    os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
