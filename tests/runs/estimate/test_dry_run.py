import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from episodic_absa.runs.config import ExperimentConfig, load_experiment
from episodic_absa.runs.estimate import RunEstimate, dry_run, estimate_run

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
        # Ten calls in every condition; test_mixed_efforts.py has the other rules and efforts.
        document["episodic_memory"] = {"conditions_path": "v1_3", **document.get("episodic_memory", {})}
        (tmp_path / "experiment.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        return load_experiment(tmp_path / "experiment.yaml")

    return make


def estimate(config: ExperimentConfig) -> RunEstimate:
    return asyncio.run(estimate_run(config))


def test_bounds_enclose_the_estimate(make_experiment: MakeExperiment) -> None:
    result = estimate(make_experiment())
    assert (result.evaluated_n, result.samples_per_cell, result.calls_per_sample["C2"].calls.total) == (6, 4, 10)
    assert result.lower.sent == 2 * 4 * 10
    assert result.upper.sent == 6 * 4 * 10
    # Only C2 shows memory: debate and Stage2 of those samples are asked once more per seed.
    assert 0 < result.may_show_n < 4
    assert result.estimate.sent == result.lower.sent + 2 * result.may_show_n * 7
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
        assert condition.calls == (*stages, sum(stages), sum(stages))
    assert result.upper.sent == 6 * 4 * sum(stages)


def test_many_samples_are_judged_by_a_few(make_experiment: MakeExperiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "MEASURED_AT_MOST", 2)
    result = estimate(make_experiment())
    assert result.measured_n == 2
    assert result.upper.sent == 240


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
