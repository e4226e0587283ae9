"""Fuzzed inputs for every reader: loaders, configuration, answers, stores, run files, verdicts, situations.

Only the package's own errors may come out, with a short message; nothing hangs, crashes, stays open or is lost.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.torture.chance import seed
from tests.torture.table import Row
from tests.warm_python import run_warm

ROOT = Path(__file__).parents[2]
FINDINGS = "EPISODIC_ABSA_FUZZ_FINDINGS"
"""The environment variable that names a folder for inputs with findings."""
_TWO_PROCESSES_FROM = 0.2
"""Below this share of the inputs, loading the package a second time takes longer than it saves."""
_LONGEST_S = 3600


def rows(scale: float) -> Iterator[Row]:
    """Yield one row per target."""
    halves = 2 if scale >= _TWO_PROCESSES_FROM else 1
    with tempfile.TemporaryDirectory(prefix="fuzzed_") as folder, ThreadPoolExecutor(halves) as pool:
        kept = Path(os.environ.get(FINDINGS, folder))
        for campaigns in pool.map(lambda part: _campaigns(scale, part, halves, kept), range(halves)):
            yield from map(row_of, campaigns)


def _campaigns(scale: float, part: int, parts: int, kept: Path) -> Sequence[dict[str, Any]]:
    """Fuzz every so many-th target in a process of its own; a process that dies is a campaign that found that."""
    options = ("--scale", str(scale), "--seed", str(seed()), "--part", f"{part}/{parts}", "--keep", str(kept))
    program = ("-m", "tests.torture.fuzzing", *options)
    if find_spec("atheris") is None:
        done = run_warm(program, cwd=ROOT, timeout=_LONGEST_S)
    else:  # it instruments the package while it is imported
        done = subprocess.run([sys.executable, *program], cwd=ROOT, capture_output=True, text=True, check=False)
    campaigns = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or not campaigns:
        died = {"kind": "crash", "place": "", "detail": f"exit code {done.returncode}: {done.stderr[-600:]}"}
        campaigns.append({"target": "(the fuzzer)", "inputs": 1, "findings": [died], "engine": "", "edges": 0})
    return campaigns


def row_of(campaign: dict[str, Any]) -> Row:
    """Return the row of what `python -m tests.torture.fuzzing` printed about one target."""
    findings = campaign["findings"]
    lost = sum(finding["kind"] == "lost" for finding in findings)
    if findings:
        told = "; ".join(f"{finding['kind']} {finding['place']}: {finding['detail'][:300]}" for finding in findings[:3])
        note = f"FAILED: {told}"
    elif campaign["edges"]:
        new = campaign["edges"] - campaign["edges_before"]
        note = f"{campaign['edges']:,} edges, {new:,} beyond the first inputs; {campaign['engine']}; 0 findings"
    else:
        note = f"{campaign['engine']}; edges are not counted; 0 findings"
    name = f"fuzzed {campaign['target']}"
    return Row(name, campaign["inputs"], lost=lost, torn=len(findings) - lost, note=note)
