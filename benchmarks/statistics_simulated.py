"""Tables how often the statistics of `compare` and `run --watch` err, on experiments whose truth is known.

python benchmarks/statistics_simulated.py [--experiments 2000]

The script is not called statistics.py: in this folder that name would hide the standard library's module.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from simulated_experiments import LOOKED_AT, SITUATIONS, UNPROTECTED, Differences, Situation

from episodic_absa.contrib.watch.confidence_sequence import confidence_sequence, order_width
from episodic_absa.metrics.statistics.paired import Evidence, PairedCells, assess

LATEST = Path(__file__).with_name("latest.json")
MOST: Final = 0.06
"""The type I error that a protected situation may have."""
_AT_ONCE: Final = 50
"""Experiments that share their resamples: enough to be fast, few enough to fit into memory."""
_STEP: Final = 100
_LARGE: Final = 0.35
_NOISE: Final = 1e-9


class Claims(NamedTuple):
    """The share of experiments in which a claim is made, and in which the interval holds the truth."""

    claimed: float
    covered: float
    """The truth that the interval is about: of these orders alone, where it says so, and of all orders elsewhere."""
    covered_all: float
    """The truth of all orders, whatever the interval says of itself."""


def claims_of(situation: Situation, experiments: int, *, effect: float, resamples: int, seed: int) -> Claims:
    """Return how often experiments with this true effect support a claim about their primary metric."""
    random = np.random.default_rng(seed)
    counts = np.zeros(3)
    for start in range(0, experiments, _AT_ONCE):
        drawn = [
            situation.draw(random, situation.reviews, situation.orders, effect)
            for _ in range(min(_AT_ONCE, experiments - start))
        ]
        found = evidence_of(random, situation, [experiment.differences for experiment in drawn], resamples=resamples)
        for evidence, experiment in zip(found, drawn, strict=True):
            truth = experiment.in_these_orders if evidence.is_of_these_orders else effect
            counts += (not evidence.doubt, holds(evidence, truth), holds(evidence, effect))
    return Claims(*(counts / experiments).tolist())


def evidence_of(
    random: np.random.Generator, situation: Situation, tables: Sequence[Differences], *, resamples: int
) -> Sequence[Evidence]:
    """Return what the comparison says about each table."""
    if not situation.failing:
        return assess([cells_of(table) for table in tables], memory_grows=situation.grows, resamples=resamples)
    failed = [(table < -_LARGE) & (random.random(table.shape) < situation.failing) for table in tables]
    # B scored 0.7 where A failed: A could have had 0 or 1.
    seen = assess(
        [PairedCells.of_differences(table, ~gone) for table, gone in zip(tables, failed, strict=True)],
        resamples=resamples,
    )
    low, high = (
        assess(
            [cells_of(np.where(gone, value, table)) for table, gone in zip(tables, failed, strict=True)],
            resamples=resamples,
        )
        for value in (-0.7, 0.3)
    )
    return [
        evidence.model_copy(update={"failed_low": worst.ci_low, "failed_high": best.ci_high})
        for evidence, worst, best in zip(seen, low, high, strict=True)
    ]


def cells_of(table: Differences) -> PairedCells:
    """Return the cells of an experiment; equal orders are one column."""
    groups = np.unique(table, axis=1, return_inverse=True)[1]
    return PairedCells.of_differences(table).merged(groups.tolist())


def holds(evidence: Evidence, truth: float) -> bool:
    """Return whether the interval, with what failed samples leave open, holds the truth."""
    low, high = evidence.ci_low, evidence.ci_high
    if evidence.failed_low is not None and evidence.failed_high is not None:
        low, high = evidence.failed_low, evidence.failed_high
    if low is None or high is None:
        return abs((evidence.difference or 0.0) - truth) < _NOISE
    return low - _NOISE <= truth <= high + _NOISE


class Watched(NamedTuple):
    """One experiment as `run --watch` sees it."""

    stream: Differences
    """One difference per review, in the order of arrival: each in the order in which the review comes first."""
    widths: list[float]
    """At every look, what the means of the orders add to the interval."""


def watch(random: np.random.Generator, differences: Differences, looks: Sequence[int]) -> Watched:
    """Return what arrives if all orders run side by side."""
    reviews, orders = differences.shape
    places = np.column_stack([random.permutation(reviews) for _ in range(orders)])
    first = places.argmin(axis=1)
    arrival = np.lexsort((first, places.min(axis=1)))
    widths = []
    for look in looks:
        is_done = places <= places.min(axis=1)[arrival[look - 1]]
        widths.append(order_width(((differences * is_done).sum(axis=0) / is_done.sum(axis=0)).tolist()))
    return Watched(differences[arrival, first[arrival]], widths)


def watched_experiments(
    situation: Situation, experiments: int, looks: Sequence[int], *, effect: float, seed: int
) -> list[Watched]:
    """Draw experiments and watch them."""
    random = np.random.default_rng(seed)
    size = situation.reviews, situation.orders
    return [watch(random, situation.draw(random, *size, effect).differences, looks) for _ in range(experiments)]


def first_exclusions(watched: Sequence[Watched], looks: Sequence[int]) -> Iterator[int | None]:
    """Yield the number of reviews at the first look whose sequence excludes 0; None if none does."""
    streams = np.array([experiment.stream for experiment in watched])
    low, high = confidence_sequence(streams, planned=streams.shape[1], looks=looks)
    means = (streams.cumsum(axis=1) / np.arange(1, streams.shape[1] + 1))[:, [look - 1 for look in looks]]
    added = np.array([experiment.widths for experiment in watched])
    low, high = means - np.hypot(means - low, added), means + np.hypot(high - means, added)
    for excludes in (low > 0) | (high < 0):
        yield looks[int(excludes.argmax())] if excludes.any() else None


def naive_looks(watched: Sequence[Watched], looks: Sequence[int], *, resamples: int) -> float:
    """Return the share of experiments in which `compare`, called at every look, ever makes a claim."""
    streams = [experiment.stream for experiment in watched]
    claimed = np.zeros(len(streams), dtype=bool)
    for look in looks:
        for start in range(0, len(streams), _AT_ONCE):
            tables = [PairedCells.of_differences(stream[:look, None]) for stream in streams[start : start + _AT_ONCE]]
            found = [not evidence.doubt for evidence in assess(tables, resamples=resamples)]
            claimed[start : start + len(found)] |= found
    return float(claimed.mean())


def measure(situation: Situation, experiments: int, *, resamples: int, seed: int = 1) -> dict[str, Any]:
    """Return type I error and power of one situation."""
    null = claims_of(situation, experiments, effect=0.0, resamples=resamples, seed=seed)
    effect = situation.effect
    true = claims_of(situation, max(experiments // 4, 1), effect=effect, resamples=resamples, seed=seed + 1)
    return {
        "situation": situation.name,
        "reviews": situation.reviews,
        "orders": situation.orders,
        "experiments": experiments,
        "false_claims": round(null.claimed, 4),
        "coverage": round(null.covered, 4),
        "coverage_all_orders": round(null.covered_all, 4),
        "effect": effect,
        "power": round(true.claimed, 3),
    }


def measure_looks(situation: Situation, experiments: int, *, resamples: int, seed: int = 3) -> dict[str, Any]:
    """Return how often looks after every 100 reviews find a difference that is not there, and one that is."""
    looks = range(_STEP, situation.reviews + 1, _STEP)
    null = watched_experiments(situation, experiments, looks, effect=0.0, seed=seed)
    true = watched_experiments(situation, experiments, looks, effect=situation.effect, seed=seed + 1)
    found = [stop for stop in first_exclusions(true, looks) if stop is not None]
    return {
        "situation": situation.name,
        "reviews": situation.reviews,
        "orders": situation.orders,
        "experiments": experiments,
        "false_sequence": sum(stop is not None for stop in first_exclusions(null, looks)) / experiments,
        # Over several orders `compare` needs them all, and there is no such look before the end.
        "false_compare_at_every_look": naive_looks(null, looks, resamples=resamples) if situation.orders == 1 else None,
        "effect": situation.effect,
        "power_sequence": round(len(found) / experiments, 3),
        "median_stop": int(np.median(found)) if found else None,
    }


def too_often(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the situations whose type I error is above 6 %."""
    errors = [(row, row.get("false_claims", row.get("false_sequence", 0.0))) for row in rows]
    return [f"{row['situation']}, {row['orders']} order(s): {error:.1%}" for row, error in errors if error > MOST]


def table_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rows of the table in docs/statistics_simulated.md; shares in %."""
    return [
        f"| {row['situation']} | {row['reviews']} | {row['orders']} | {row['false_claims']:.1%} | "
        f"{row['coverage']:.1%} | {row['coverage_all_orders']:.1%} | +{row['effect']:g} | "
        f"{row['power']:.0%} |".replace("%", " %")
        for row in rows
    ]


def look_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rows of the table of looks."""
    naive = (row["false_compare_at_every_look"] for row in rows)
    return [
        f"| {row['situation']} | {row['orders']} | {row['false_sequence']:.1%} | "
        f"{'-' if share is None else f'{share:.1%}'} | +{row['effect']:g} | {row['power_sequence']:.0%} | "
        f"{row['median_stop']} |".replace("%", " %")
        for row, share in zip(rows, naive, strict=True)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Type I error and power on simulated experiments.")
    parser.add_argument("--experiments", type=int, default=2000, help="null experiments per situation")
    parser.add_argument("--resamples", type=int, default=1000, help="bootstrap resamples; `compare` uses 10,000")
    parser.add_argument("--latest", type=Path, default=LATEST)
    options = parser.parse_args(arguments)
    results: dict[str, list[dict[str, Any]]] = {"protected": [], "unprotected": [], "looks": []}
    started = time.monotonic()
    for kind, situations, measured in (
        ("protected", SITUATIONS, measure),
        ("unprotected", UNPROTECTED, measure),
        ("looks", LOOKED_AT, measure_looks),
    ):
        for situation in situations:
            results[kind].append(measured(situation, options.experiments, resamples=options.resamples))
            print(json.dumps(results[kind][-1]), flush=True)
    lines = (*table_lines([*results["protected"], *results["unprotected"]]), *look_lines(results["looks"]))
    print(*lines, f"{time.monotonic() - started:.0f} s", sep="\n")
    known = json.loads(options.latest.read_text()) if options.latest.exists() else {}
    options.latest.write_text(json.dumps({**known, "statistics": results}, indent=2, sort_keys=True) + "\n")
    if wrong := too_often([*results["protected"], *results["looks"]]):
        print(f"type I error above {MOST:.0%}: {'; '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
