"""A grid of several rules and efforts sends what its dry run says."""

import asyncio
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console
from tests.runs.small_grid import write_experiment

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.cache.caching_replier import CachingReplier
from episodic_absa.backends.cache.response_cache import CacheStats, ResponseCache
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.cli.run.dry_run_view import dry_run_json, dry_run_view
from episodic_absa.runs.config import ExperimentConfig, all_cells, load_experiment
from episodic_absa.runs.derived.derived_samples import TRACES
from episodic_absa.runs.estimate import RunEstimate, estimate_run
from episodic_absa.runs.grid_run import run_cells

CONDITIONS = ("C1", "adaptive", "one_call", "one_call_votes", "stage1_only", "C2")
SAMPLE_N, BUILD_N, SEED_N, VOTE_N = 5, 5, 2, 5
_FLAGS = {
    "memory_mode": "off",
    "retrieval_execute": False,
    "injection_mask": True,
    "store_write": False,
    "exposed_to_debate": False,
    "exposed_to_stage2": False,
}
_MIXED = {
    "version": "mixed",
    "dangerous_advice": "block",
    "use_lexical": True,
    "conditions": {
        "old": _FLAGS,
        "new": {**_FLAGS, "rules": "v3"},
        "new_apart": {**_FLAGS, "rules": "v3", "pipeline": {"effort": "stage1", "stage1": {"joint": False}}},
    },
}


class _Grid(NamedTuple):
    config: ExperimentConfig
    estimate: RunEstimate
    stats: CacheStats

    def calls(self, cell: str) -> list[int]:
        """Return the calls of every sample of a cell that was run."""
        traces = (self.config.out_dir / cell / TRACES).read_text("utf-8").splitlines()
        return [len(json.loads(line)["calls"]) for line in traces]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> _Grid:
    """Estimate a grid, then run it: the embedded engine answers what a cache does not know."""
    path = write_experiment(
        tmp_path_factory.mktemp("efforts"),
        episodic_memory={"conditions_path": "v3_0", "referee": True},
        experiment={"conditions": list(CONDITIONS), "seeds": [1, 2]},
        data={"limit": SAMPLE_N},
    )
    config = load_experiment(path)
    estimate = asyncio.run(estimate_run(config))
    with ResponseCache.in_memory() as cache:
        replier = CachingReplier(
            EmbeddedReplier(), cache, provider="p", model="m", base_url=None, parameters={}, share="all"
        )
        asyncio.run(run_cells(config, backend=RepairingBackend(replier)))
        return _Grid(config, estimate, cache.stats)


def test_a_run_sends_as_many_requests_as_the_dry_run_bounds(grid: _Grid) -> None:
    lower, estimate, upper = grid.estimate.lower, grid.estimate.estimate, grid.estimate.upper
    assert lower.sent <= grid.stats.misses <= estimate.sent < upper.sent
    asked_n = sum(sum(grid.calls(cell.name)) for cell in all_cells(grid.config))
    assert asked_n == sum(grid.stats)
    assert lower.sent + lower.shared <= asked_n <= upper.sent
    # What C2 asks may depend on the memory that it sees.
    assert asked_n == pytest.approx(estimate.sent + estimate.shared, abs=SEED_N * SAMPLE_N)


def test_every_condition_is_measured_with_its_own_rules_and_effort(grid: _Grid) -> None:
    for name in CONDITIONS[:-1]:
        calls = grid.estimate.calls_per_sample[name].calls
        for seed in (1, 2):
            asked = grid.calls(f"{name}__seed{seed}")
            assert sum(asked) == pytest.approx(calls.total * SAMPLE_N)
            assert calls.least <= min(asked) <= max(asked) <= calls.most
    ranges = {
        name: (condition.calls.least, condition.calls.most)
        for name, condition in grid.estimate.calls_per_sample.items()
    }
    assert ranges == {
        "C1": (8, 9),
        "C2": (8, 10),  # only a condition that writes asks the referee
        "adaptive": (0, 8),
        "stage1_only": (2, 2),
        "one_call": (1, 1),
        "one_call_votes": (VOTE_N, VOTE_N),
    }
    assert grid.estimate.calls_per_sample["adaptive"].calls.total < 8
    assert grid.estimate.may_show_n > 0


def test_only_votes_add_to_what_the_full_analysis_asks(grid: _Grid) -> None:
    # All other efforts ask a part of C1's questions. Votes are numbered, so the seeds of the experiment share them.
    assert grid.estimate.lower.sent == SEED_N * 8 * (SAMPLE_N + BUILD_N) + VOTE_N * SAMPLE_N
    most = 9 + 10 + 2 + 1 + VOTE_N
    # The reader of the run is that of the estimate: what leaves it no doubt costs nothing.
    asked_n = sum(calls > 0 for calls in grid.calls("adaptive__seed1"))
    assert grid.estimate.upper.sent == SEED_N * (most * SAMPLE_N + 8 * asked_n + 10 * BUILD_N)


def test_the_view_has_a_line_per_kind_of_condition_and_fits_a_narrow_terminal(grid: _Grid) -> None:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(dry_run_view(grid.config, grid.estimate))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert max(map(len, lines)) <= 80
    rows = {line[:16].strip(): line[16:].split() for line in lines}
    assert rows["C1"][:2] == rows["C2"][:2] == ["v3", "full"]
    assert (rows["C1"][3], rows["C2"][3]) == ("8-9", "8-10")
    assert rows["one_call_votes"] == ["v3", "one_call", "5", "5", "5", "0", "0"]
    assert rows["build: C2_silent"][:2] == ["v3", "full"]
    notes = " ".join(lines)
    assert "adaptive asks the model where the reader is in doubt" in notes
    assert "in lower and estimate all seeds share them" in notes
    assert "the referee is counted with stage2" in notes
    shown = dry_run_json(grid.config, grid.estimate)["calls_per_sample"]["one_call_votes"]
    assert (shown["rules"], shown["effort"], shown["total"], shown["most"]) == ("v3", "one_call", VOTE_N, VOTE_N)


def test_conditions_share_no_answers_across_rules_and_only_the_validator_across_ways_to_stage1(tmp_path: Path) -> None:
    (tmp_path / "mixed.yaml").write_text(json.dumps(_MIXED), "utf-8")
    path = write_experiment(
        tmp_path,
        episodic_memory={"conditions_path": "mixed.yaml", "build": None},
        experiment={"conditions": ["old", "new", "new_apart"]},
        data={"limit": 3},
    )
    estimate = asyncio.run(estimate_run(load_experiment(path)))
    # The validator is asked once more where two asks found other pairs than one.
    assert 3 * (10 + 8 + 2) <= estimate.lower.sent <= 3 * (10 + 8 + 3)
    assert estimate.upper.sent == 3 * (10 + 9 + 3)
    assert [condition.rules for condition in estimate.calls_per_sample.values()] == ["seed", "v3", "v3"]
