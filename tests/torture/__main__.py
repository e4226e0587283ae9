"""`make torture`: every family in a process of its own, two at a time; then a table. Exit code 1 if a row failed.

python -m tests.torture [--only FAMILY]... [--scale 1.0] [--seed 16] [--json FILE] [--jobs 2]
"""

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from tests.torture.chance import DEFAULT_SEED, SEED_VARIABLE
from tests.torture.families import FAMILIES, present_families
from tests.torture.table import Row, print_table

ROOT = Path(__file__).parents[2]
_ROW_MARK = "row: "
_LONGEST_S = 1800.0
"""A family that takes longer hangs; it is killed with all that it started."""
_RUNNING: list["subprocess.Popen[str]"] = []


def main(arguments: Sequence[str] | None = None) -> int:
    """Torture, and return the exit code."""
    options = _parser().parse_args(arguments)
    if options.rows_of:
        _say_rows(options.rows_of, options.scale)
        return 0
    there = present_families()
    if unknown := [name for name in options.only if name not in there]:
        _parser().error(f"no family {', '.join(unknown)}; there are {', '.join(there)}")
    wanted = [name for name in there if name in options.only] or list(there)
    os.environ[SEED_VARIABLE] = str(options.seed)
    began = time.monotonic()
    _say(f"seed {options.seed}, scale {options.scale:g}, {options.jobs} families at once: {', '.join(wanted)}")
    with ThreadPoolExecutor(options.jobs) as pool:
        coming = pool.map(lambda name: _rows_of(name, options.scale, began), wanted)
        try:
            by_family = dict(zip(wanted, coming, strict=True))
        except KeyboardInterrupt:
            _interrupt(pool)
            return 130
    rows = [(name, row) for name in FAMILIES if name in by_family for row in by_family[name]]
    print_table(rows)
    minutes = (time.monotonic() - began) / 60
    _say(f"{minutes:.1f} minutes; the same trials again: --seed {options.seed} --scale {options.scale:g}")
    if options.json:
        document = [{"family": name, **asdict(row), "verdict": row.verdict, "passed": row.passed} for name, row in rows]
        text = json.dumps(
            {"seed": options.seed, "scale": options.scale, "rows": document}, indent=2, ensure_ascii=False
        )
        options.json.write_text(f"{text}\n", "utf-8")
    return 0 if all(row.passed for _, row in rows) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="FAMILY", help="only this family; repeatable")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the trials (1: 15 minutes on 2 cores)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="chooses the moments; the same ones again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to a file")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="families at once")
    parser.add_argument("--rows-of", metavar="FAMILY", help=argparse.SUPPRESS)
    return parser


def _say_rows(family: str, scale: float) -> None:
    """Print each row of a family as a line for the process that started this one."""
    for row in importlib.import_module(f"tests.torture.{family}").rows(scale):
        _say(f"{_ROW_MARK}{json.dumps(asdict(row))}")


def _rows_of(family: str, scale: float, began: float) -> list[Row]:
    """Run a family in a process of its own, say each row when it is there, and return all of them."""
    command = [sys.executable, "-m", "tests.torture", "--rows-of", family, "--scale", str(scale)]
    rows: list[Row] = []
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        ) as child,
    ):
        assert child.stdout is not None
        _RUNNING.append(child)
        watch = threading.Timer(_LONGEST_S, os.killpg, [child.pid, signal.SIGKILL])
        watch.start()
        for line in child.stdout:
            if line.startswith(_ROW_MARK):
                rows.append(Row(**json.loads(line.removeprefix(_ROW_MARK))))
                _say(f"[{time.monotonic() - began:5.0f} s] {family}: {rows[-1].name}: {_outcome(rows[-1])}")
        code = child.wait()
        watch.cancel()
        log.seek(0)
        last_words = log.read()[-600:]
    if code:
        rows.append(Row("the family ended early", max(1, len(rows)), torn=1, note=f"FAILED: exit {code}: {last_words}"))
    return rows


def _interrupt(pool: ThreadPoolExecutor) -> None:
    """End the families as Ctrl-C does: they unmount disks and remove their files."""
    pool.shutdown(wait=False, cancel_futures=True)
    for child in _RUNNING:
        child.send_signal(signal.SIGINT)


def _outcome(row: Row) -> str:
    return f"{row.trials:,} trials: {row.verdict}{'' if row.passed else f' ! {row.note}'}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
