"""The worker processes of a cluster that this process started."""

import os
import signal
import time
from pathlib import Path

_WORKER = b"ray::_"


def worker_pids() -> list[int]:
    """Return the processes of workers that descend from this process."""
    parents, workers = {}, []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if (folder / "cmdline").read_bytes().startswith(_WORKER):
                workers.append(int(folder.name))
        except OSError:  # it has just ended
            continue
    return sorted(pid for pid in workers if _descends(pid, parents))


def kill_workers() -> int:
    """End all workers as crashes would; return how many there were."""
    pids = worker_pids()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return len(pids)


def wait_until_ended() -> None:
    """Wait until no worker is left: Ray ends them in the background."""
    deadline = time.monotonic() + 60
    while worker_pids():
        assert time.monotonic() < deadline, "workers outlive their run"
        time.sleep(0.05)


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        pid = parents.get(pid, 0)
        if pid == os.getpid():
            return True
    return False
