"""Runs a command of the CLI in a process of its own and measures it: exit code, peak memory, open descriptors."""

import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.warm_python import WarmProcess

_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")
_PAUSE_S = 0.02


class Measured(NamedTuple):
    """What a process came to."""

    exit_code: int
    stderr: str
    peak_mb: int
    """Resident memory."""
    descriptors_n: int
    """The most that were open at once, as far as they were seen."""


def run_measured(arguments: Sequence[object], *, timeout_s: float = 300) -> Measured:
    """Run `episodic-absa ARGUMENTS` to its end."""
    with WarmProcess(["-m", "episodic_absa", *arguments]) as process:
        watch = _Watch(process.pid)
        watch.start()
        try:
            _, stderr = process.communicate(timeout_s)
        finally:
            watch.end()
        exit_code = process.wait(timeout_s)
    return Measured(exit_code, stderr.decode(), watch.peak_mb, watch.descriptors_n)


class _Watch(threading.Thread):
    """Looks at a process from time to time; its peak memory is kept by the kernel."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._folder = Path("/proc") / str(pid)
        self._ended = threading.Event()
        self.peak_mb = self.descriptors_n = 0

    def run(self) -> None:
        while not self._ended.wait(_PAUSE_S):
            try:
                status = (self._folder / "status").read_text()
                self.descriptors_n = max(self.descriptors_n, len(os.listdir(self._folder / "fd")))
            except OSError:  # it has ended
                return
            if peak := _PEAK.search(status):
                self.peak_mb = max(self.peak_mb, int(peak[1]) // 1024)

    def end(self) -> None:
        self._ended.set()
        self.join()
