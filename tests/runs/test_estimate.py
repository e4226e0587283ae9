"""`run --dry-run`: what it says encloses what a run sends."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
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
REVIEWS = (
    "It's not that the room was dirty, it just hadn't seen a vacuum in a while.",
    "Although the app is a breeze to use, substitutions are a joke: I asked for oat milk and got cat food.",
    "Lovely staff.",
    "The room is clean and the bed is soft.",
)
MakeExperiment = Callable[..., ExperimentConfig]


@pytest.fixture
def make_experiment(tmp_path: Path) -> MakeExperiment:
    def make(**blocks: Any) -> ExperimentConfig:
        for split in ("train", "valid"):
            rows = [f'{split}-{number},"{text}"' for number, text in enumerate(REVIEWS)]
            (tmp_path / f"{split}.csv").write_text("\n".join(["uid,text", *rows]) + "\n", encoding="utf-8")
        document = {
            "run_id": "toy",
            "data": {"allowed_roots": ["."], "train_file": "train.csv", "valid_file": "valid.csv"},
            "experiment": {"conditions": ["C1", "C2_silent", "C2"], "seeds": [1, 2]},
            **blocks,
        }
        # Ten calls in every condition; the mixed grid below has the other rules and efforts.
        document["episodic_memory"] = {"conditions_path": "v1_3", **document.get("episodic_memory", {})}
        (tmp_path / "experiment.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        return load_experiment(tmp_path / "experiment.yaml")

    return make


def estimate(config: ExperimentConfig) -> RunEstimate:
    return asyncio.run(estimate_run(config))


def test_bounds_enclose_the_estimate(make_experiment: MakeExperiment) -> None:
    result = estimate(make_experiment())
    assert (result.evaluated_n, result.samples_per_cell, result.calls_per_sample["C2"].total) == (6, 4, 10)
    assert result.lower.sent == 2 * 4 * 10
    assert result.upper.sent == 6 * 4 * 10
    # Only C2 shows memory: debate and Stage2 of half of the samples are asked once more per seed.
    assert result.estimate.sent == result.lower.sent + 2 * 2 * 7
    for name in ("sent", "tokens_in", "tokens_out"):
        assert getattr(result.lower, name) < getattr(result.estimate, name) < getattr(result.upper, name)
    for bound in (result.lower, result.estimate, result.upper):
        assert bound.sent + bound.shared == result.upper.sent
        assert bound.cost_usd == 0.0


def test_a_build_is_counted_once_per_seed(make_experiment: MakeExperiment) -> None:
    built = estimate(make_experiment(episodic_memory={"build": {"split": "train", "condition": "C2_silent"}}))
    plain = estimate(make_experiment())
    assert (built.build_n, built.samples_per_build) == (2, 4)
    for name in ("lower", "estimate", "upper"):
        assert getattr(built, name).sent == getattr(plain, name).sent + 2 * 4 * 10


def test_orders_share_every_answer_without_memory(make_experiment: MakeExperiment) -> None:
    one, three = (
        estimate(make_experiment(experiment={"conditions": ["C1", "C2"], "orders": orders, "seeds": [1, 2]}))
        for orders in (1, 3)
    )
    assert three.evaluated_n == 3 * one.evaluated_n
    assert (three.lower.sent, three.upper.sent) == (one.lower.sent, 3 * one.upper.sent)
    assert three.estimate.sent - one.estimate.sent == 2 * (one.estimate.sent - one.lower.sent) > 0


def test_conditions_that_share_nothing_cost_the_full_price(make_experiment: MakeExperiment) -> None:
    result = estimate(make_experiment(cache={"share": "condition"}))
    assert result.lower.sent == result.estimate.sent == result.upper.sent == 240


@pytest.mark.parametrize(
    ("pipeline", "stages"),
    [
        ({"enable_validator": False}, (2, 4, 2)),
        ({"enable_debate": False}, (3, 0, 3)),
        ({"enable_stage2": False}, (3, 4, 0)),
        ({"debate": {"rounds": 3, "order": ["epm", "cj"]}}, (3, 7, 3)),
    ],
)
def test_calls_follow_the_switches(
    make_experiment: MakeExperiment, pipeline: dict[str, Any], stages: tuple[int, int, int]
) -> None:
    result = estimate(make_experiment(pipeline=pipeline))
    for condition in result.calls_per_sample.values():
        assert condition[2:] == (*stages, sum(stages), sum(stages))
    assert result.upper.sent == 6 * 4 * sum(stages)


def test_a_listed_model_has_a_price_and_a_local_one_has_none(
    make_experiment: MakeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    priced = estimate(make_experiment(backbone={"provider": "openai", "model": "gpt-4o-mini"}))
    assert priced.no_price == ""
    assert 0 < (priced.lower.cost_usd or 0) < (priced.estimate.cost_usd or 0) < (priced.upper.cost_usd or 0) < 1
    local = estimate(make_experiment(backbone={"provider": "openai", "model": "mine", "base_url": "vllm"}))
    assert local.upper.cost_usd is None
    assert "mine" in local.no_price
    monkeypatch.delenv("OPENAI_API_KEY")
    keyless = estimate(make_experiment(backbone={"provider": "openai", "model": "gpt-4o-mini"}))
    assert keyless.upper.sent == priced.upper.sent
    assert "OPENAI_API_KEY" in keyless.no_price


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
    assert lower.sent <= grid.stats.misses <= upper.sent
    assert lower.sent < estimate.sent < upper.sent
    asked_n = sum(sum(grid.calls(cell.name)) for cell in all_cells(grid.config))
    assert asked_n == sum(grid.stats)
    assert lower.sent + lower.shared <= asked_n <= upper.sent


def test_every_condition_is_measured_with_its_own_rules_and_effort(grid: _Grid) -> None:
    for name in CONDITIONS[:-1]:
        calls = grid.estimate.calls_per_sample[name]
        for seed in (1, 2):
            asked = grid.calls(f"{name}__seed{seed}")
            assert calls.least <= min(asked) <= max(asked) <= calls.most
    ranges = {name: (condition.least, condition.most) for name, condition in grid.estimate.calls_per_sample.items()}
    assert ranges == {
        "C1": (8, 9),
        "C2": (8, 10),  # only a condition that writes asks the referee
        "adaptive": (0, 8),
        "stage1_only": (2, 2),
        "one_call": (1, 1),
        "one_call_votes": (VOTE_N, VOTE_N),
    }
    assert grid.estimate.calls_per_sample["adaptive"].total == 4


def test_only_votes_add_to_what_the_full_analysis_asks(grid: _Grid) -> None:
    # All other efforts ask a part of C1's questions. Votes are numbered, so the seeds of the experiment share them.
    assert grid.estimate.lower.sent == SEED_N * 8 * (SAMPLE_N + BUILD_N) + VOTE_N * SAMPLE_N
    most = 9 + 10 + 8 + 2 + 1 + VOTE_N
    assert grid.estimate.upper.sent == SEED_N * (most * SAMPLE_N + 10 * BUILD_N)


def test_the_view_has_a_line_per_kind_of_condition_and_fits_a_narrow_terminal(grid: _Grid) -> None:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(dry_run_view(grid.config, grid.estimate))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert max(map(len, lines)) <= 80
    shown = [line.split() for line in lines]
    assert ["C1", "v3", "full", "8.5", "8-9", "2", "4", "2.5"] in shown
    assert ["one_call_votes", "v3", "one_call", "5", "5", "5", "0", "0"] in shown
    assert any(line[:1] == ["C2,"] and "8-10" in line for line in shown), "the build takes as many as C2"
    notes = " ".join(lines)
    assert "answers lead to half of the further calls" in notes
    votes = dry_run_json(grid.config, grid.estimate)["calls_per_sample"]["one_call_votes"]
    assert (votes["rules"], votes["effort"], votes["total"], votes["most"]) == ("v3", "one_call", VOTE_N, VOTE_N)


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
