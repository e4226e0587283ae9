"""Measures a grid and batches of reviews: time beside the lower bound of the requests, requests saved, CPU, processes.

A server on loopback, in a process of its own, answers every request after the same time with what the embedded engine
said to that prompt; requests go through the real client.

python benchmarks/throughput.py [--samples 60] [--latency 1.0] [--concurrency 64] [--part grid|many]
"""

import argparse
import asyncio
import csv
import json
import os
import tempfile
import time
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from many_reviews import measure_command, measure_engine, measure_model
from recording import RememberingReplier, serving

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.runs.config.experiment_config import ExperimentConfig, load_experiment
from episodic_absa.runs.derived.derived_samples import OUTPUTS, OVERRIDE_DEBUG, SCORECARDS, TRACES
from episodic_absa.runs.estimate import estimate_run
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.run_directory import RUN_META, STORE

LATEST = Path(__file__).with_name("latest.json")
DATA = Path(__file__).resolve().parents[1] / "experiments" / "data"
CONDITIONS = ("C1", "C2", "C2_silent", "C2_eval_only")
NEVER_EXPOSED = ("C1", "C2_silent", "C2_eval_only")
SEEDS = (42, 123, 456)
ONE_BY_ONE_SAMPLES = 2


class Measured(NamedTuple):
    """One run of a grid against the server."""

    config: ExperimentConfig
    wall_s: float
    cpu_s: float
    requests: int
    unrecorded: int
    most_under_way: int
    started: float


def write_data(folder: Path, samples: int) -> None:
    """Return samples of both shipped splits with new uids, repeated if more are needed."""
    rows = []
    for name in ("train.csv", "valid.csv"):
        with open(DATA / name, encoding="utf-8", newline="") as file:
            rows.append(list(csv.DictReader(file)))
    mixed = [row for pair in zip(*rows, strict=False) for row in pair]
    (folder / "data").mkdir(parents=True)
    with open(folder / "data" / "valid.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(mixed[0]))
        writer.writeheader()
        for number in range(samples):
            row = mixed[number % len(mixed)]
            # A repeated text would be answered by the cache.
            again = f" ({number // len(mixed) + 1})" if number >= len(mixed) else ""
            writer.writerow({**row, "uid": f"s{number:04d}", "text": row["text"] + again})


def write_config(folder: Path, name: str, base_url: str | None, **experiment: Any) -> ExperimentConfig:
    """Write the experiment file; with a `base_url` the experiment asks that server."""
    backbone = {"provider": "openai", "model": "recorded", "base_url": base_url} if base_url else {}
    config = {
        "run_id": "throughput",
        "out": name,
        "backbone": backbone,
        "data": {"allowed_roots": ["data"], "valid_file": "data/valid.csv"},
        "episodic_memory": {"conditions_path": "v1_3", "allow_empty_store": True},
        "experiment": {"conditions": CONDITIONS, "seeds": SEEDS, "shuffle": True, "comparisons": [], **experiment},
        "cache": {"path": f"{name}.sqlite"},
    }
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(config), "utf-8")
    return load_experiment(path)


def measure(config: ExperimentConfig) -> Measured:
    """Run a grid against its server and count."""
    started, start, cpu = time.time(), time.perf_counter(), time.process_time()
    asyncio.run(run_cells(config))
    wall_s, cpu_s = time.perf_counter() - start, time.process_time() - cpu
    with urllib.request.urlopen(f"{config.file.backbone.base_url}/stats") as answer:  # noqa: S310 - loopback
        stats = json.load(answer)
    return Measured(config, wall_s, cpu_s, **stats, started=started)


def cells_of(config: ExperimentConfig, *conditions: str) -> list[Path]:
    return [config.out_dir / f"{condition}__seed{seed}" for condition in conditions for seed in SEEDS]


def traces_of(cell: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (cell / TRACES).read_text("utf-8").splitlines()]


def asks_of(config: ExperimentConfig) -> int:
    """Count what separate runs without a cache would send."""
    return sum(len(trace["calls"]) for cell in cells_of(config, *CONDITIONS) for trace in traces_of(cell))


def longest_chain(cell: Path) -> int:
    """Return how many asks must follow one another if memory is shown: each turn needs the one before."""
    committed = 0
    for trace in traces_of(cell):
        stages = [call["stage"] for call in trace["calls"]]
        stage1, debate = stages.count("stage1"), stages.count("debate")
        after_read = debate + max(0, stages.count("stage2") - 1)  # the two reviewers are asked at once
        meta = trace["memory"]
        open_gate = bool(meta["injection_trigger_reason"] or meta["stage2_memory_gate_reason"])
        finished = (max(stage1, committed) if open_gate else stage1) + after_read
        committed = max(committed, finished)
    return committed


def ended_at(cells: list[Path]) -> float:
    metas = [json.loads((cell / RUN_META).read_text()) for cell in cells]
    return max(datetime.fromisoformat(meta["ended_at"]).timestamp() for meta in metas)


def same_bytes(one: ExperimentConfig, other: ExperimentConfig, *names: str) -> bool:
    pairs = zip(cells_of(one, *CONDITIONS), cells_of(other, *CONDITIONS), strict=True)
    return all(
        (a / name).read_bytes() == (b / name).read_bytes() for a, b in pairs for name in names if (a / name).exists()
    )


def compare(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run all parts and return the figures."""
    write_data(folder, options.samples)
    engine = RememberingReplier()
    offline = write_config(folder, "offline", None, concurrency=options.concurrency)
    asyncio.run(run_cells(offline, backend=RepairingBackend(engine)))
    recording = folder / "recording.json"
    recording.write_text(json.dumps(engine.texts), "utf-8")
    latency, concurrency = options.latency, options.concurrency
    with serving(recording, latency) as url:
        measure(part_config(folder, "warm_up", url, samples=1))  # imports and lexicons are not what is measured
        part = measure(part_config(folder, "one_by_one", url, samples=ONE_BY_ONE_SAMPLES))
        per_request_s = part.wall_s / part.requests
        grid = measure(write_config(folder, "grid", url, concurrency=concurrency))
        print(f"grid: {grid.wall_s:.1f} s, {grid.requests} requests", flush=True)
        guessing = measure(write_config(folder, "guessing", url, concurrency=concurrency, speculate=True))
        estimated = asyncio.run(estimate_run(grid.config)).estimate.sent
        print(f"speculating: {guessing.wall_s:.1f} s, {guessing.requests} requests", flush=True)
    assert same_bytes(offline, grid.config, OUTPUTS, STORE, OVERRIDE_DEBUG), "the grid differs from the offline one"

    chain_n = max(longest_chain(cell) for cell in cells_of(grid.config, "C2"))
    by_requests_s, by_chain_s = grid.requests * latency / concurrency, chain_n * latency
    bound_s = max(by_requests_s, by_chain_s)
    unexposed_s = ended_at(cells_of(grid.config, *NEVER_EXPOSED)) - grid.started
    unexposed_n = len(
        {
            (seed, call["prompt_hash"])
            for seed in SEEDS
            for condition in NEVER_EXPOSED
            for trace in traces_of(grid.config.out_dir / f"{condition}__seed{seed}")
            for call in trace["calls"]
        }
    )
    asks = asks_of(grid.config)
    return {
        "samples_per_cell": options.samples,
        "cells": len(CONDITIONS) * len(SEEDS),
        "latency_s": latency,
        "concurrency": concurrency,
        "wall_s": round(grid.wall_s, 2),
        "lower_bound_s": round(bound_s, 2),
        "lower_bound_by_requests_s": round(by_requests_s, 2),
        "lower_bound_by_chain_s": round(by_chain_s, 2),
        "wall_over_lower_bound": round(grid.wall_s / bound_s, 3),
        "one_at_a_time_s_extrapolated": round(per_request_s * grid.requests, 1),
        "one_at_a_time_measured_requests": part.requests,
        "one_at_a_time_measured_s": round(part.wall_s, 2),
        "never_exposed_s": round(unexposed_s, 2),
        "never_exposed_requests": unexposed_n,
        "never_exposed_times_faster": round(per_request_s * unexposed_n / unexposed_s, 1),
        "requests": grid.requests,
        "requests_estimated_by_dry_run": estimated,
        "dry_run_estimate_off_by": round(estimated / grid.requests - 1, 3),
        "requests_of_separate_runs": asks,
        "requests_share": round(grid.requests / asks, 3),
        "most_under_way": grid.most_under_way,
        "client_cpu_ms_per_request": round(grid.cpu_s / grid.requests * 1e3, 2),
        "speculating": {
            "wall_s": round(guessing.wall_s, 2),
            "same_bytes": same_bytes(grid.config, guessing.config, OUTPUTS, SCORECARDS, STORE, OVERRIDE_DEBUG),
            "requests": guessing.requests,
            "wasted_requests": guessing.requests - grid.requests,
            "redone_samples": sum(
                json.loads((cell / RUN_META).read_text())["speculation"]["redone_samples"]
                for cell in cells_of(guessing.config, "C2")
            ),
        },
    }


def part_config(folder: Path, name: str, base_url: str, *, samples: int) -> ExperimentConfig:
    """Return an experiment over a few samples, one request at a time; all samples would take an hour."""
    lines = (folder / "data" / "valid.csv").read_text("utf-8").splitlines(keepends=True)
    part = folder / name
    (part / "data").mkdir(parents=True)
    (part / "data" / "valid.csv").write_text("".join(lines[: 1 + samples]), "utf-8")
    return write_config(part, name, base_url, conditions=["C1"], seeds=[SEEDS[0]], concurrency=1)


def main() -> None:
    parser = argparse.ArgumentParser(description="A grid against a slow server on loopback.")
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--part", choices=("grid", "many"), help="measure only a grid, or only batches of reviews")
    parser.add_argument("--keep", action="store_true", help="write no benchmarks/latest.json")
    options = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "not-needed")
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        if options.part != "many":
            grid = figures["throughput"] = compare(options, Path(folder))
            print(
                f"{grid['wall_over_lower_bound']}x the lower bound; one request at a time: "
                f"{grid['one_at_a_time_s_extrapolated']} s, extrapolated from "
                f"{grid['one_at_a_time_measured_requests']} requests"
            )
        if options.part != "grid":
            figures["many_reviews"] = {
                "engine": measure_engine(),
                "command": measure_command(Path(folder)),
                "model": measure_model(Path(folder), options.latency, options.concurrency),
            }
    print(json.dumps(figures, indent=2))
    if not options.keep:
        known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
        LATEST.write_text(json.dumps({**known, **figures}, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
