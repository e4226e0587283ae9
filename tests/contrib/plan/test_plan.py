"""`plan` says what a comparison takes before it is paid for; it sends and writes nothing."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.changing_replier import ChangingReplier, turned_by_memory
from tests.cli.conftest import Cli
from tests.runs.small_grid import write_experiment

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.experiment import run_grid
from episodic_absa.runs.config import load_experiment

EXPERIMENT = {"conditions": ["C1", "C2"], "seeds": [42], "orders": 2, "comparisons": None, "smallest_effect": 0.03}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_experiment(tmp_path, experiment=EXPERIMENT, episodic_memory={"build": None}, data={"limit": 8})


def test_a_plan_without_a_pilot_needs_only_the_config(cli: Cli, config: Path) -> None:
    before = sorted(config.parent.rglob("*"))
    done = cli("plan", config, "--sd", "0.2", "--order-sd", "0.01")
    assert (done.returncode, done.stderr) == (0, "")
    assert "C2 minus C1, tuple_f1_explicit" in done.stdout
    assert "A difference of 0.03 in tuple_f1_explicit needs " in done.stdout
    assert "SD between orders: 0.0100 (--order-sd)." in done.stdout
    assert "a claim of 0.03 needs at least 29 orders that agree" in " ".join(done.stdout.split())
    assert sorted(config.parent.rglob("*")) == before


def test_a_pilot_gives_the_variances_and_json_all_numbers(cli: Cli, config: Path) -> None:
    backend = RepairingBackend(ChangingReplier(turned_by_memory))
    asyncio.run(run_grid(load_experiment(config), use_cache_file=False, backend=backend))
    done = cli("plan", config, "--pilot", config.parent / "results" / "grid", "--effect", "0.05", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    planned = json.loads(done.stdout)
    assert (planned["pair"], planned["metric"], planned["effect"]) == (["C2", "C1"], "tuple_f1_explicit", 0.05)
    assert planned["order_sd_source"] == "2 orders of the pilot"
    assert planned["sd_source"].endswith("reviews of the pilot")
    configured, needed = planned["configured"], planned["needed"]
    assert (configured["orders"], configured["samples_per_cell"]) == (2, 8)
    assert needed["orders"] >= 17
    assert 0.8 <= needed["power"] < 1
    # Calls grow with samples and orders, and answers without memory are shared between orders.
    grown = needed["samples_per_cell"] * needed["orders"] / (8 * 2)
    assert 0 < needed["sent"] <= configured["sent"] * grown + 1
    assert needed["cost_usd"] == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "give a pilot run, or an SD with --sd S"),
        (("--sd", "0.2", "--pilot", "x"), "not both"),
        (("--sd", "0.2", "--effect", "0"), "give a number from 1e-06 to 1"),
        (("--sd", "7"), "got 7"),
        (("--pilot", "nowhere"), "nowhere/C2 is not a directory"),
    ],
)
def test_what_cannot_be_planned_is_one_line(cli: Cli, config: Path, options: tuple[str, ...], told: str) -> None:
    done = cli("plan", config, *options)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_a_pilot_in_which_no_review_differs_gives_no_sd(cli: Cli, config: Path) -> None:
    settings = {**EXPERIMENT, "conditions": ["C1", "C2_silent"], "comparisons": [["C2_silent", "C1"]]}
    silent = write_experiment(config.parent, experiment=settings, episodic_memory={"build": None}, data={"limit": 4})
    asyncio.run(run_grid(load_experiment(silent), use_cache_file=False))
    done = cli("plan", silent, "--pilot", silent.parent / "results" / "grid")
    assert done.returncode == 2
    assert "all have the same difference" in done.stderr
    assert "Traceback" not in done.stderr
