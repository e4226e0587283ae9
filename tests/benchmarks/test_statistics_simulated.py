"""A small part of the simulation of the statistics; `make bench` runs it whole."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import simulated_experiments as situations  # noqa: E402 - the folder is no package: it is run, not installed
import statistics_simulated as simulation  # noqa: E402

EXPERIMENTS = 80
CHANCE = 0.05 + 3 * (0.05 * 0.95 / EXPERIMENTS) ** 0.5
"""An error of 5 % seldom shows as more than this in so few experiments."""


@pytest.mark.parametrize(
    "situation",
    [
        situations.Situation("no effect", 200, 1, situations.no_effect, effect=0.09),
        situations.Situation("order shocks", 200, 5, situations.order_shocks(0.03), effect=0.06),
        situations.Situation("drifting shocks", 200, 5, situations.drifting_shocks(0.03), effect=0.06),
        situations.Situation("skewed", 50, 1, situations.rare_losses(0.25, 1.0, 0.025), effect=0.12),
    ],
    ids=lambda situation: situation.name,
)
def test_claims_are_rare_without_an_effect_and_common_with_one(situation: situations.Situation) -> None:
    measured = simulation.measure(situation, EXPERIMENTS, resamples=300)
    assert measured["false_claims"] <= CHANCE
    assert measured["coverage"] >= 0.9
    assert measured["power"] > 0.5


def test_looks_rarely_find_what_is_not_there_and_stop_early_for_what_is() -> None:
    situation = situations.Situation("shocks", 400, 3, situations.order_shocks(0.01), effect=0.09)
    measured = simulation.measure_looks(situation, 40, resamples=300)
    assert measured["false_sequence"] <= 0.05
    assert measured["power_sequence"] > 0.5
    assert measured["median_stop"] < 400


def test_the_drawn_differences_have_the_mean_that_is_meant() -> None:
    for situation in (*situations.SITUATIONS, *situations.LOOKED_AT):
        random = np.random.default_rng(5)
        for effect in (0.0, situation.effect):
            drawn = [situation.draw(random, 400, situation.orders, effect).differences.mean() for _ in range(60)]
            assert np.mean(drawn) == pytest.approx(effect, abs=4 * np.std(drawn) / len(drawn) ** 0.5)


def test_an_error_above_the_limit_is_named() -> None:
    rows = [{"situation": "no effect", "orders": 1, "false_claims": 0.07}, {"situation": "looks", "orders": 1}]
    assert simulation.too_often(rows) == ["no effect, 1 order(s): 7.0%"]


def test_the_table_of_the_page_is_that_of_the_last_run() -> None:
    latest = json.loads(simulation.LATEST.read_text())["statistics"]
    page = (ROOT / "docs" / "statistics_simulated.md").read_text(encoding="utf-8")
    rows = [*latest["protected"], *latest["unprotected"]]
    assert min(row["experiments"] for row in (*rows, *latest["looks"])) >= 1_000
    assert [line for line in simulation.table_lines(rows) if line not in page] == []
    assert [line for line in simulation.look_lines(latest["looks"]) if line not in page] == []
