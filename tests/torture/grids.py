"""Grids for trials: written small, run through the CLI under a clock that stands still, and compared file by file.

Under such a clock every file of a run is the same in every run, traces and report included.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.runs.small_grid import write_experiment
from tests.torture.doomed import CLI, run_doomed

ALL_CONDITIONS = ("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen", "C2_random", "C2_placebo", "C2_trial")
ARMS = ("adaptive", "stage1_only", "one_call", "one_call_votes")
STILL = ("--clock", "still")
_OF_A_PROCESS = (".lock", "timings.jsonl")


def write_grid(folder: Path, conditions: tuple[str, ...], *, limit: int, **experiment: Any) -> Path:
    """Lay out a grid under rules v3 and return its config.

    It does not speculate: run_meta.json counts what the last process guessed in vain.
    """
    blocks: dict[str, Mapping[str, Any]] = {
        "data": {"limit": limit},
        "episodic_memory": {"conditions_path": "v3_0"},
        "experiment": {"conditions": list(conditions), "seeds": [1], "shuffle": True, **experiment},
    }
    return write_experiment(folder, **blocks)


def out_of(config: Path) -> Path:
    """Return the directory that a grid writes."""
    return config.parent / "results" / "grid"


def run_grid(config: Path, *options: object, command: str = "run") -> CompletedProcess[str]:
    """Run a grid through the CLI, with a fault if options name one."""
    return run_doomed([*CLI, command, config], *STILL, *options, loads_engine=True)


def verify(out: Path) -> CompletedProcess[str]:
    """Run `verify` through the CLI."""
    return run_doomed([*CLI, "verify", out], *STILL, loads_engine=True)


def files_of(out: Path) -> dict[str, bytes]:
    """Return every file below a directory, by its path, without what belongs to the process that ran last."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.endswith(_OF_A_PROCESS)
    }


def differences(files: Mapping[str, bytes], expected: Mapping[str, bytes]) -> list[str]:
    """Return the files that are not the same in both."""
    return sorted(name for name in {*files, *expected} if files.get(name) != expected.get(name))


def committed_n(out: Path) -> int:
    """Return how many samples the records below a directory hold."""
    return sum(max(0, path.read_bytes().count(b"\n") - 1) for path in out.rglob("samples.jsonl"))


def put_back(saved: Path, place: Path) -> None:
    """Make a directory as the saved one again."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(saved, place)
