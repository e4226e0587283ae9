"""Measures batches of reviews: processes for the embedded engine, requests side by side for a model, the command."""

import csv
import itertools
import json
import os
import resource
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

from recording import RememberingReplier, serving

from episodic_absa import Analyzer, SampleResult
from episodic_absa.backends.backend import RepairingBackend

DATA = Path(__file__).resolve().parents[1] / "experiments" / "data"
ENGINE_REVIEWS = 2000
MODEL_REVIEWS = 200
WARM_UP = 64


def reviews(number: int) -> list[str]:
    """Return different reviews made of the shipped ones."""
    texts = []
    for name in ("train.csv", "valid.csv"):
        with open(DATA / name, encoding="utf-8", newline="") as file:
            texts += [row["text"] for row in csv.DictReader(file)]
    return [f"{text} ({place})" for place, text in zip(range(number), itertools.cycle(texts), strict=False)]


class EngineRate(NamedTuple):
    """How quick a number of processes is, after they have loaded."""

    per_s: float
    cpu_ms: float
    """Of all processes together, per review: another load on the machine changes it little."""


def measure_engine() -> dict[str, Any]:
    """Return reviews per second of the embedded engine in one process and in two."""
    one, two = _rate(1), _rate(2)
    return {
        "reviews": ENGINE_REVIEWS,
        "cores": len(os.sched_getaffinity(0)),
        "other_load": round(os.getloadavg()[0], 2),
        "one_process_per_s": round(one.per_s, 1),
        "one_process_cpu_ms": round(one.cpu_ms, 2),
        "two_processes_per_s": round(two.per_s, 1),
        "two_processes_cpu_ms": round(two.cpu_ms, 2),
        "times_faster": round(two.per_s / one.per_s, 2),
        "times_faster_by_cpu": round(2 * one.cpu_ms / two.cpu_ms, 2),
    }


def _rate(processes: int) -> EngineRate:
    loading_s = _cpu_s(processes, WARM_UP)[0]
    cpu_s, wall_s = _cpu_s(processes, WARM_UP + ENGINE_REVIEWS)
    return EngineRate(ENGINE_REVIEWS / wall_s, (cpu_s - loading_s) / ENGINE_REVIEWS * 1e3)


def _cpu_s(processes: int, number: int) -> tuple[float, float]:
    """Return the CPU time of all processes, and the time that the reviews after the first ones took."""
    command = [sys.executable, __file__, str(processes), str(number)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    cpu_s, wall_s = map(float, done.stdout.split())
    return cpu_s, wall_s


def _analyse(processes: int, number: int) -> None:
    with Analyzer() as analyzer:
        outcomes = analyzer.analyze_many(reviews(number), processes=processes)
        for _ in range(WARM_UP):
            next(outcomes)
        start = time.perf_counter()
        for _ in outcomes:
            pass
        wall_s = time.perf_counter() - start
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(sum(usage.ru_utime + usage.ru_stime for usage in both), wall_s)


def measure_command(folder: Path) -> dict[str, Any]:
    """Return reviews per second of `episodic-absa analyze reviews.csv --out results.csv`, its start included."""
    table = folder / "reviews.csv"
    with open(table, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "review"])
        writer.writerows(enumerate(reviews(ENGINE_REVIEWS)))
    start = time.perf_counter()
    command = ["analyze", str(table), "--out", str(folder / "results.csv")]
    subprocess.run([sys.executable, "-m", "episodic_absa", *command], check=True, capture_output=True)
    wall_s = time.perf_counter() - start
    return {
        "reviews": ENGINE_REVIEWS,
        "wall_s": round(wall_s, 2),
        "reviews_per_s": round(ENGINE_REVIEWS / wall_s, 1),
        "other_load": round(os.getloadavg()[0], 2),
    }


def measure_model(folder: Path, latency_s: float, concurrency: int) -> dict[str, Any]:
    """Return the time of a batch against a server on loopback, beside what its requests take at least."""
    texts = reviews(MODEL_REVIEWS)
    recorder = RememberingReplier()
    with Analyzer(backend=RepairingBackend(recorder)) as analyzer:
        expected = [labelled(outcome) for outcome in analyzer.analyze_many(texts)]
    recording = folder / "many.json"
    recording.write_text(json.dumps(recorder.texts), "utf-8")
    with serving(recording, latency_s) as url, Analyzer(backend="openai:recorded", base_url=url) as analyzer:
        start = time.perf_counter()
        analyzer.analyze(texts[0])
        chain_s = (time.perf_counter() - start) // latency_s * latency_s  # requests of one review that follow another
        stats_of(url)
        start, cpu = time.perf_counter(), time.process_time()
        outcomes = [labelled(outcome) for outcome in analyzer.analyze_many(texts, concurrency=concurrency)]
        wall_s, cpu_s = time.perf_counter() - start, time.process_time() - cpu
        stats = stats_of(url)
    assert outcomes == expected, "the server's results differ from the engine's"
    bound_s = max(stats["requests"] * latency_s / concurrency, chain_s)
    return {
        "reviews": MODEL_REVIEWS,
        "latency_s": latency_s,
        "concurrency": concurrency,
        "requests": stats["requests"],
        "most_under_way": stats["most_under_way"],
        "wall_s": round(wall_s, 2),
        "lower_bound_s": round(bound_s, 2),
        "wall_over_lower_bound": round(wall_s / bound_s, 3),
        "client_cpu_ms_per_request": round(cpu_s / stats["requests"] * 1e3, 2),
        "other_load": round(os.getloadavg()[0], 2),
    }


def labelled(outcome: Any) -> str:
    assert isinstance(outcome, SampleResult), outcome
    return str(outcome)


def stats_of(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/stats") as answer:  # noqa: S310 - loopback
        stats: dict[str, int] = json.load(answer)
    return stats


if __name__ == "__main__":
    _analyse(int(sys.argv[1]), int(sys.argv[2]))
