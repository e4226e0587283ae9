"""Two runs in one directory at once."""

import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.torture.chance import scaled
from tests.torture.doomed import CLI, KILLED
from tests.torture.grids import STILL, committed_n, differences, files_of, out_of, run_grid, write_grid
from tests.torture.table import Row, Tally
from tests.warm_python import WarmProcess


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per way of sharing a store."""
    with tempfile.TemporaryDirectory() as folder:
        yield _two_runs(Path(folder, "runs"), scaled(6, scale, 1))


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
