"""Measures what more workers change: one process, two, Ray.

    python benchmarks/scale.py                    # minutes
    python benchmarks/scale.py --quick            # few reviews
    python benchmarks/scale.py --part workers     # only reviews per second; grid: of a grid

All figures of a part come from one run, as ratios to one process: other load on the machine changes them little.
Every way analyses the same reviews, and the answers are compared. A part whose package is absent is skipped with the
reason. Results go to benchmarks/latest.json.
"""

import argparse
import asyncio
import csv
import hashlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from many_reviews import reviews

from episodic_absa import Analyzer
from episodic_absa.analyzer import make_sample
from episodic_absa.contrib.ray import connect, ray_processes
from episodic_absa.runs.config.experiment_config import load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress

LATEST = Path(__file__).with_name("latest.json")
ROOT = Path(__file__).resolve().parents[1]
WAYS = (("processes", 1), ("processes", 2), ("ray", 1), ("ray", 2), ("ray", 4))
GRID_WAYS = (("local", 1), ("ray", 1), ("ray", 2), ("ray", 4))
GRID_CONDITIONS = ("C1", "C2", "C2_silent", "C2_frozen")
REVIEWS, QUICK_REVIEWS = 4000, 400
LINES_AT_ONCE = 2_000


def measure_workers(ways: Sequence[tuple[str, int]], number: int, *, job: str) -> list[dict[str, Any]]:
    """Return samples per second and the cost of one sample in every way, each in a process of its own."""
    figures: list[dict[str, Any]] = []
    for way, workers in ways:
        if way == "ray" and importlib.util.find_spec("ray") is None:
            figures.append({"way": way, "workers": workers, "skipped": "the extra ray is not installed"})
            continue
        command = [sys.executable, __file__, "--child", job, way, str(workers), str(number)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        first = figures[0] if figures else measured
        assert measured["results"] == first["results"], f"{way} {workers}: other results than one process"
        measured |= {
            "times_one_process": round(measured["per_s"] / first["per_s"], 2),
            "cpu_over_one_process": round(measured["cpu_ms"] / first["cpu_ms"], 2),
        }
        figures.append(measured)
        print(json.dumps(measured), flush=True)
    return figures


class Clock:
    """Measures the last three quarters of some samples: nothing loads any more when they begin."""

    def __init__(self, number: int) -> None:
        self._number, self._warm_n, self._done_n = number, number // 4, 0
        self._begun = time.perf_counter()
        self._at: list[tuple[float, float, float]] = []

    def tick(self) -> None:
        """Count one more sample."""
        self._done_n += 1
        if self._done_n in (self._warm_n, self._number):
            self._at.append((time.perf_counter(), cpu_of_processes(), time.process_time()))

    def figures(self) -> dict[str, Any]:
        """Return samples per second and the CPU time of one sample."""
        (start, cpu_before, own_before), (end, cpu_after, own_after) = self._at
        measured_n = self._number - self._warm_n
        return {
            "reviews": measured_n,
            "per_s": round(measured_n / (end - start), 1),
            "cpu_ms": round((cpu_after - cpu_before) / measured_n * 1e3, 2),
            "caller_cpu_ms": round((own_after - own_before) / measured_n * 1e3, 3),
            "until_warm_s": round(start - self._begun, 1),
        }


def child(job: str, way: str, workers: int, number: int) -> None:
    """Analyse reviews, or run a grid of them, in one way, and print the figures."""
    shown, figures = analysed(way, workers, number) if job == "workers" else ran_grid(way, workers, number)
    machine = {"cores": len(os.sched_getaffinity(0)), "other_load": round(os.getloadavg()[0], 2)}
    print(json.dumps({"way": way, "workers": workers, **figures, "results": shown[:16], **machine}))


def analysed(way: str, workers: int, number: int) -> tuple[str, dict[str, Any]]:
    """Analyse reviews; return a hash of the results, and the figures."""
    shown, clock = hashlib.sha256(), Clock(number)
    with closing(outcomes_of(way, workers, number)) as outcomes:
        for outcome in outcomes:
            shown.update(outcome.encode())
            clock.tick()
    return shown.hexdigest(), clock.figures()


def ran_grid(way: str, workers: int, number: int) -> tuple[str, dict[str, Any]]:
    """Run a grid with so many samples in all cells; return a hash of its outputs, and the figures."""
    per_cell = number // len(GRID_CONDITIONS)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as cluster:
        path = Path(folder) / "grid.yaml"
        with open(path.with_name("reviews.csv"), "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("uid", "text"))
            rows.writerows((f"r{place}", text) for place, text in enumerate(reviews(per_cell)))
        config = {
            "run_id": "grid",
            "data": {"allowed_roots": ["."], "valid_file": "reviews.csv"},
            "episodic_memory": {"allow_empty_store": True},
            "experiment": {"conditions": GRID_CONDITIONS, "seeds": [1], "comparisons": [], "engine": way},
        }
        path.write_text(json.dumps(config))
        if way == "ray":
            cluster.enter_context(connect(None, feature="this benchmark", key="address", num_cpus=workers))
        clock, counted = Clock(per_cell * len(GRID_CONDITIONS)), 0

        def on_change(progress: GridProgress) -> None:
            nonlocal counted
            while counted < progress.run_n:
                counted += 1
                clock.tick()

        experiment = load_experiment(path)
        asyncio.run(run_cells(experiment, progress=GridProgress(on_change=on_change)))
        shown = hashlib.sha256()
        for outputs in sorted(experiment.out_dir.glob("*/outputs.jsonl")):
            shown.update(outputs.read_bytes())
        return shown.hexdigest(), clock.figures()


def outcomes_of(way: str, workers: int, number: int) -> Generator[str, None, None]:
    """Yield the results as text."""
    samples = [make_sample(text) for text in reviews(number)]
    if way == "processes":
        with Analyzer() as analyzer:
            yield from map(str, analyzer.analyze_many(samples, processes=workers))
        return
    # As many CPUs as workers, whatever the machine has: four on two cores show what too many cost.
    with (
        connect(None, feature="this benchmark", key="address", num_cpus=workers),
        ray_processes(number=workers) as processes,
        Analyzer() as analyzer,
    ):
        yield from map(str, analyzer.analyze_many(samples, processes=processes))


def cpu_of_processes() -> float:
    """Return the CPU time of this process and of all that descend from it, in seconds."""
    ticks, parents = {}, {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(folder.name)] = int(fields[1])
        ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    family = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(ticks[pid] for pid in family) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    arguments.add_argument("--quick", action="store_true", help="few reviews")
    arguments.add_argument("--part", choices=("workers", "grid"), help="measure only one part")
    arguments.add_argument("--keep", action="store_true", help="write no benchmarks/latest.json")
    arguments.add_argument("--child", nargs=4, metavar=("JOB", "WAY", "WORKERS", "REVIEWS"), help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.child:
        job, way, workers, number = chosen.child
        child(job, way, int(workers), int(number))
        return
    figures: dict[str, Any] = {}
    number = QUICK_REVIEWS if chosen.quick else REVIEWS
    for job, ways in (("workers", WAYS), ("grid", GRID_WAYS)):
        if chosen.part in (None, job):
            figures[job] = measure_workers(ways, number, job=job)
    if not (chosen.keep or chosen.quick):
        known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
        scale = {**known.get("scale", {}), **figures}
        LATEST.write_text(json.dumps({**known, "scale": scale}, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
