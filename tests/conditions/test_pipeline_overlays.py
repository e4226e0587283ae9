"""What a condition may change of the pipeline, and which contradictions are refused, where and how."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from episodic_absa import Analyzer
from episodic_absa.conditions import load_condition, load_conditions
from episodic_absa.errors import ConfigError
from episodic_absa.runs.config import ExperimentConfig, load_experiment
from episodic_absa.schemas.overlays import PipelineOverlay
from episodic_absa.schemas.pipeline_settings import PipelineSettings, Stage1Settings

OFF = {
    "memory_mode": "off",
    "retrieval_execute": False,
    "injection_mask": True,
    "store_write": False,
    "exposed_to_debate": False,
    "exposed_to_stage2": False,
}
BASE = PipelineSettings(
    effort="one_call",
    votes=3,
    vote_temperature=0.2,
    reader=False,
    enable_debate_override=False,
    stage1=Stage1Settings(span_repair=False, allowlist=Path("terms.txt")),
)


def write_conditions(folder: Path, **overlays: Any) -> Path:
    """Write a file with the condition `arm`, which has these overlays."""
    document = {
        "version": "2.0",
        "dangerous_advice": "block",
        "use_lexical": True,
        "conditions": {"arm": {**OFF, "rules": "v3", **overlays}, "plain": {**OFF, "rules": "v3"}},
    }
    path = folder / "arms.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def write_experiment(folder: Path, arm: Any, pipeline: Any) -> Path:
    write_conditions(folder, **arm)
    document = {
        "run_id": "demo",
        "data": {"allowed_roots": ["data"], "valid_file": "data/valid.csv"},
        "episodic_memory": {"conditions_path": "arms.yaml"},
        "experiment": {"conditions": ["arm"]},
        "pipeline": pipeline,
    }
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def load(folder: Path, arm: Any, pipeline: Any) -> ExperimentConfig:
    return load_experiment(write_experiment(folder, arm, pipeline))


@pytest.mark.parametrize(
    ("overlays", "named"),
    [
        ({"pipeline": {"effort": "stage1", "votes": 3}}, ["votes: 3", "one_call", "stage1"]),
        ({"pipeline": {"effort": "full", "votes": 2}}, ["votes: 2", "one_call", "full"]),
        ({"pipeline": {"effort": "one_call", "stage1": {"joint": False}}}, ["one_call", "stage1.joint"]),
        ({"rules": "seed", "pipeline": {"effort": "adaptive"}}, ["effort: adaptive", "rules v3", "rules seed"]),
        ({"rules": "seed", "pipeline": {"effort": "one_call"}}, ["effort: one_call", "rules v3", "rules seed"]),
        ({"rules": "seed", "pipeline": {"stage1": {"joint": True}}}, ["stage1.joint", "rules v3", "rules seed"]),
        ({"rules": "seed", "pipeline": {"votes": 3}}, ["votes: 3", "rules v3", "rules seed"]),
    ],
)
def test_an_overlay_that_contradicts_itself_or_its_rules_is_refused_by_name(
    tmp_path: Path, overlays: Any, named: list[str]
) -> None:
    with pytest.raises(ConfigError) as raised:
        load_conditions(write_conditions(tmp_path, **overlays))
    assert raised.value.key == "conditions.arm"
    for words in ("arms.yaml", "conditions.arm", *named):
        assert words in str(raised.value)


@pytest.mark.parametrize(
    ("overlays", "key"),
    [
        ({"pipeline": {"efort": "full"}}, "pipeline.efort"),
        ({"pipeline": {"enable_debate": False}}, "pipeline.enable_debate"),
        ({"pipeline": {"stage1": {"span_repair": False}}}, "pipeline.stage1.span_repair"),
        ({"pipeline": {"effort": "half"}}, "pipeline.effort"),
        ({"pipeline": {"effort": True}}, "pipeline.effort"),
        ({"pipeline": {"votes": "3"}}, "pipeline.votes"),
        ({"pipeline": {"votes": 0}}, "pipeline.votes"),
        ({"pipeline": {"votes": 2.0}}, "pipeline.votes"),
        ({"pipeline": {"votes": True}}, "pipeline.votes"),
        ({"pipeline": {"vote_temperature": True}}, "pipeline.vote_temperature"),
        ({"pipeline": {"vote_temperature": "0.7"}}, "pipeline.vote_temperature"),
        ({"pipeline": {"vote_temperature": -0.1}}, "pipeline.vote_temperature"),
        ({"pipeline": {"vote_temperature": float("nan")}}, "pipeline.vote_temperature"),
        ({"pipeline": {"reader": "no"}}, "pipeline.reader"),
        ({"pipeline": {"stage1": {"joint": 1}}}, "pipeline.stage1.joint"),
        ({"pipeline": {"stage1": None}}, "pipeline.stage1"),
        ({"pipeline": None}, "pipeline"),
        ({"pipeline": ["full"]}, "pipeline"),
        ({"rules": "v4"}, "rules"),
        ({"rules": ["v3"]}, "rules"),
        ({"effort": "full"}, "effort"),
    ],
)
def test_an_overlay_with_an_unknown_key_or_a_wrong_value_is_refused_by_name(
    tmp_path: Path, overlays: Any, key: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load_conditions(write_conditions(tmp_path, **overlays))
    assert raised.value.key == f"conditions.arm.{key}"
    assert f"conditions.arm.{key}" in str(raised.value)


@pytest.mark.parametrize(
    ("arm", "pipeline", "named"),
    [
        ({}, {"votes": 3}, ["votes: 3", "one_call"]),
        ({"pipeline": {"votes": 3}}, {}, ["condition arm", "votes: 3", "one_call", "full"]),
        ({"pipeline": {"effort": "stage1"}}, {"effort": "one_call", "votes": 3}, ["condition arm", "votes: 3"]),
        ({"pipeline": {"effort": "one_call"}}, {"stage1": {"joint": False}}, ["condition arm", "stage1.joint"]),
        ({}, {"stage1": {"independent": True}}, ["condition arm", "stage1.independent"]),
        ({"rules": "seed"}, {"effort": "adaptive"}, ["condition arm", "effort: adaptive", "rules v3"]),
        ({"rules": "seed"}, {"effort": "one_call"}, ["condition arm", "effort: one_call", "rules v3"]),
        ({"rules": "seed"}, {"stage1": {"joint": True}}, ["condition arm", "stage1.joint", "rules v3"]),
    ],
)
def test_an_experiment_that_contradicts_a_condition_is_refused_before_it_runs(
    tmp_path: Path, arm: Any, pipeline: Any, named: list[str]
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, arm, pipeline)
    for words in ("pipeline", *named):
        assert words in str(raised.value)
    if "condition arm" in named:
        with pytest.raises(ConfigError, match="condition arm: pipeline"):
            Analyzer(
                condition="arm",
                conditions=tmp_path / "arms.yaml",
                pipeline=PipelineSettings.model_validate(pipeline),
            )


@pytest.mark.parametrize(
    "pipeline", [{"effort": "half"}, {"votes": "3"}, {"vote_temperature": True}, {"stage1": {"joint": "yes"}}]
)
def test_an_experiment_refuses_wrong_values_of_the_same_keys(tmp_path: Path, pipeline: Any) -> None:
    with pytest.raises(ConfigError, match=f"pipeline.{next(iter(pipeline))}"):
        load(tmp_path, {}, pipeline)


@pytest.mark.parametrize(
    ("overlay", "changed"),
    [
        ({}, {}),
        ({"votes": 5}, {"votes": 5}),
        ({"vote_temperature": 1}, {"vote_temperature": 1.0}),
        ({"reader": True}, {"reader": True}),
        ({"stage1": {"joint": True}}, {"stage1": BASE.stage1.model_copy(update={"joint": True})}),
        ({"effort": "full", "votes": 1}, {"effort": "full", "votes": 1}),
        ({"effort": "adaptive", "votes": 1}, {"effort": "adaptive", "votes": 1}),
    ],
)
def test_an_overlay_changes_only_what_it_names(tmp_path: Path, overlay: Any, changed: Any) -> None:
    path = write_conditions(tmp_path, pipeline=overlay)
    in_force = BASE.under(load_condition("arm", path)).model_dump()
    implied = {"enable_debate", "enable_stage2", "enable_validator"} if in_force["effort"] == "one_call" else set()
    expected = BASE.model_copy(update={**changed, **dict.fromkeys(implied, False)})
    assert in_force == expected.model_dump()
    assert load_condition("plain", path).pipeline == PipelineOverlay()


@pytest.mark.parametrize("effort", ["one_call", "stage1", "adaptive", "full"])
def test_settings_in_force_stay_in_force(effort: Any) -> None:
    condition = load_condition("C1", "v3_0")
    in_force = PipelineSettings(effort=effort).under(condition)
    assert in_force.under(condition) == in_force


@pytest.mark.parametrize("pipeline", [{}, {"effort": "stage1"}, {"effort": "full"}, {"stage1": {"joint": False}}])
def test_seed_rules_keep_the_efforts_that_they_have(tmp_path: Path, pipeline: Any) -> None:
    config = load(tmp_path, {"rules": "seed"}, pipeline)
    assert [condition.rules for condition in config.conditions] == ["seed"]
