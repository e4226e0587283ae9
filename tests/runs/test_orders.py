"""Orders and seeds are separate axes; what is added to a finished grid is run, and nothing else."""

import asyncio
import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.runs.small_grid import run_here, write_experiment

from episodic_absa.analysis import compare_sides, derive_tables, incomparabilities, load_run, load_sides, load_summary
from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.errors import RunDirectoryError
from episodic_absa.experiment import Run
from episodic_absa.reports.data import SampleReader
from episodic_absa.reports.page import render_report
from episodic_absa.reports.run_report import build_report
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import SAMPLE_FILES
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.verification import verify

SAMPLE_N = 6
STEPS: tuple[dict[str, Any], ...] = (
    {"conditions": ["C1", "C2"], "orders": [1], "seeds": [42]},
    {"conditions": ["C1", "C2"], "orders": [1, 0], "seeds": [42]},
    {"conditions": ["C1", "C2"], "orders": [1, 0], "seeds": [42, 7]},
    {"conditions": ["C1", "C2", "C2_frozen"], "orders": [1, 0], "seeds": [42, 7]},
)
Files = Mapping[Path, tuple[int, bytes]]


class _Grid(NamedTuple):
    run: Run
    states: tuple[Files, ...]
    """The committed files of all cells after each step, with the time of their last change."""
    ran: tuple[dict[str, int], ...]
    """The samples that each step ran, by cell."""

    @property
    def path(self) -> Path:
        return self.run.path


def _files(grid: Path) -> Files:
    kept = [path for cell in grid.iterdir() for name in (SAMPLES, *SAMPLE_FILES) if (path := cell / name).exists()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in kept}


def _uids(cell: Path) -> list[str]:
    return [json.loads(line)["uid"] for line in (cell / SAMPLES).read_text("utf-8").splitlines()[1:]]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> _Grid:
    """Run a grid of one order, then add an order, a seed and a condition, one after the other."""
    folder = tmp_path_factory.mktemp("orders")
    states, ran = [], []
    for step in STEPS:
        path = write_experiment(folder, data={"limit": SAMPLE_N}, experiment={**step, "comparisons": None})
        config = load_experiment(path)
        progress = asyncio.run(run_cells(config, backend=RepairingBackend(EmbeddedReplier())))
        states.append(_files(config.out_dir))
        ran.append({cell.name: cell.run_n for cell in progress.cells.values() if cell.run_n})
    finished = load_run(config.out_dir)
    derive_tables(finished)
    return _Grid(Run(finished), tuple(states), tuple(ran))


def test_an_added_order_seed_or_condition_runs_its_own_cells_and_touches_no_other(grid: _Grid) -> None:
    build = {"build": 5}
    evaluated = {"C1": SAMPLE_N, "C2": SAMPLE_N}
    expected = (
        {f"{name}__order1__seed42": sample_n for name, sample_n in {**build, **evaluated}.items()},
        {f"{name}__seed42": sample_n for name, sample_n in {**build, **evaluated}.items()},
        {f"{name}{order}__seed7": n for order in ("", "__order1") for name, n in {**build, **evaluated}.items()},
        {f"C2_frozen{order}__seed{seed}": SAMPLE_N for order in ("", "__order1") for seed in (42, 7)},
    )
    assert grid.ran == expected
    for before, after in zip(grid.states, grid.states[1:], strict=False):
        assert {path: after[path] for path in before} == before


def test_an_order_permutes_the_same_samples_alike_under_every_condition_and_seed(grid: _Grid) -> None:
    in_file, permuted = _uids(grid.path / "C1__seed42"), _uids(grid.path / "C1__order1__seed42")
    assert (len(in_file), sorted(permuted)) == (SAMPLE_N, sorted(in_file))
    assert permuted != in_file
    for name in ("C2__order1__seed7", "C2_frozen__order1__seed42"):
        assert _uids(grid.path / name) == permuted
    assert _uids(grid.path / "C2__seed7") == in_file
    assert _uids(grid.path / "build__order1__seed42") == _uids(grid.path / "build__order1__seed7")
    assert _uids(grid.path / "build__order1__seed42") != _uids(grid.path / "build__seed42")


def test_manifests_scorecards_and_results_name_the_order(grid: _Grid) -> None:
    for cell in grid.run.finished.cells:
        order = 1 if "__order1__" in cell.path.name else 0
        assert (cell.manifest.order, cell.manifest.shuffle) == (order, False)
        assert {card.order for card in cell.cards} == {order}
    keys = [(cell.condition, cell.order, cell.seed) for cell in grid.run.cells]
    trials = [(0, 7), (0, 42), (1, 7), (1, 42)]
    assert keys == [(condition, *trial) for condition in ("C1", "C2", "C2_frozen") for trial in trials]
    assert repr(grid.run) == "Run(grid: C1, C2, C2_frozen; 2 orders x 2 seeds)"
    summary = load_summary(grid.path, [cell.path.name for cell in grid.run.finished.cells])
    assert {(line.orders, line.seeds) for line in summary.conditions[:3]} == {((0, 1), (7, 42))}


def test_verify_checks_every_order_with_every_seed(grid: _Grid) -> None:
    verified = verify(grid.path)
    assert verified.failures == ()
    results = {result.check: result for result in verified.grid}
    assert results["build_stores"].detail == "looked at 8"
    assert results["never_shown_agree"].detail == f"looked at {2 * SAMPLE_N}"  # both orders of C1, for each seed
    assert results["seeds_complete"].detail == "looked at 4"


def test_tables_keep_the_spread_of_orders_apart_from_that_of_seeds(grid: _Grid) -> None:
    with open(grid.path / "grid_metrics.csv", encoding="utf-8", newline="") as file:
        rows = {(row["condition"], row["metric"]): row for row in csv.DictReader(file)}
    never, shown = (rows[condition, "tuple_f1_explicit"] for condition in ("C1", "C2"))
    values = [float(value) for value in shown["seed_values"].split("|")]
    assert values == [values[0]] * 2 + [values[2]] * 2  # the embedded engine ignores the seed
    assert float(shown["sd_orders"]) == pytest.approx(abs(values[0] - values[2]) / 2**0.5, abs=1e-6)
    assert (shown["n_orders"], shown["n_seeds"], shown["sd"]) == ("2", "2", "")
    assert shown["note"] == "the seeds are one trial: the backend ignores them"
    assert (never["n_orders"], never["sd_orders"]) == ("2", "")
    assert "the orders are one trial: memory is never shown" in never["note"]
    assert rows["C2", "tuple_agreement_rate"]["mean"] == ""


def test_samples_are_compared_within_their_order(grid: _Grid) -> None:
    compared = compare_sides(*load_sides([grid.path, Path("C2"), Path("C1")])).of("tuple_f1_explicit")
    assert compared.n_pairs == 4 * compared.n_uids
    sides = load_sides([grid.path / "C2", grid.path / "C1__order1__seed42"])
    assert incomparabilities(*sides) == (
        "left out: order 0, seed 7; order 0, seed 42; order 1, seed 7, with which only C2 was run",
    )
    with pytest.raises(RunDirectoryError, match="run with order 1 and seed 42, C1__seed42 with order 0 and seed 42"):
        compare_sides(*load_sides([grid.path / "C2__order1__seed42", grid.path / "C1__seed42"]))


def test_the_report_lets_a_reader_choose_the_order(grid: _Grid) -> None:
    reader = SampleReader(with_text=True)
    finished = grid.run.finished
    data = build_report(finished, {cell.path: reader.read(cell) for cell in finished.cells})
    # Figures cover what was asked before the first sample; the explorer shows what was added, too.
    assert (data.facts.orders, data.facts.seeds) == ((1,), (42,))
    assert {(cell.order, cell.seed) for cell in data.explorer.cells} == {(0, 7), (0, 42), (1, 7), (1, 42)}
    assert {(card.orders, card.seeds) for card in data.conditions} == {((1,), (42,))}
    assert 'id="pick-order"' in render_report(data)


def test_orders_are_refused_in_a_grid_whose_seeds_set_the_order(tmp_path: Path) -> None:
    shuffled = {"conditions": ["C1"], "seeds": [42], "shuffle": True, "comparisons": None}
    path = write_experiment(tmp_path, data={"limit": 2}, episodic_memory={"build": None}, experiment=shuffled)
    run_here(path)
    config = json.loads(path.read_text("utf-8"))
    config["experiment"].update(shuffle=False, orders=[7])
    ordered = path.with_name("ordered.yaml")
    ordered.write_text(json.dumps(config), "utf-8")
    with pytest.raises(RunDirectoryError, match=r"experiment.shuffle \(was True, now False\)"):
        run_here(ordered)
