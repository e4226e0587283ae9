"""Every key of an experiment file has its documented meaning and default; everything else is refused by name."""

import traceback
from pathlib import Path
from typing import Any

import pytest
import yaml

from episodic_absa.errors import ConfigError
from episodic_absa.runs.config import ExperimentConfig, evaluated_cells, load_experiment

ROOT = Path(__file__).parents[3]
MINIMAL: dict[str, Any] = {
    "run_id": "demo",
    "data": {"allowed_roots": ["."], "valid_file": "data/valid.csv"},
}


def merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in change.items():
        nested = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if nested else value
    return result


def load(folder: Path, change: dict[str, Any] | None = None) -> ExperimentConfig:
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(merged(MINIMAL, change or {}), allow_unicode=True), encoding="utf-8")
    return load_experiment(path)


def test_a_minimal_experiment_has_the_defaults_of_the_specification(tmp_path: Path) -> None:
    config = load(tmp_path)
    file = config.file
    assert [condition.name for condition in config.conditions] == ["C1"]
    assert (file.backbone.provider, file.backbone.model, file.backbone.max_tokens) == ("embedded", "rules-1", 1024)
    assert (file.experiment.seeds, file.experiment.shuffle) == ((42, 123, 456), False)
    assert (file.experiment.concurrency, file.experiment.speculate_ahead, file.experiment.max_failures) == (8, 4, 20)
    assert (file.episodic_memory.topk, file.episodic_memory.keep_last_n) == (3, 5000)
    assert file.io.slot_memory_name == "DEBATE_CONTEXT__MEMORY"
    assert (str(file.cache.path), file.cache.share) == (".episodic_absa/cache.sqlite", "all")
    assert config.conditions_file.version == "3.0"


@pytest.mark.parametrize(
    ("experiment", "repetitions", "names"),
    [
        ({"seeds": [7, 8]}, [(0, 7), (0, 8)], ["C2__seed7", "C2__seed8"]),
        ({"seeds": [7, 8], "shuffle": True}, [(7, 7), (8, 8)], ["C2__seed7", "C2__seed8"]),
        ({"seeds": [7], "orders": 2}, [(1, 7), (2, 7)], ["C2__order1__seed7", "C2__order2__seed7"]),
        ({"seeds": [7], "orders": [5, 0]}, [(5, 7), (0, 7)], ["C2__order5__seed7", "C2__seed7"]),
    ],
)
def test_every_condition_runs_in_every_order_with_every_seed(
    tmp_path: Path, experiment: dict[str, Any], repetitions: list[tuple[int, int]], names: list[str]
) -> None:
    memory = {"store_path": "{condition}_{order}_{seed}.jsonl", "allow_empty_store": True}
    config = load(tmp_path, {"experiment": {**experiment, "conditions": ["C2"]}, "episodic_memory": memory})
    cells = list(evaluated_cells(config))
    assert [(cell.order, cell.seed) for cell in cells] == repetitions
    stores = [cell.store.name for cell in cells if cell.store]
    assert stores == [f"C2_{order}_{seed}.jsonl" for order, seed in repetitions]
    assert [cell.name for cell in cells] == names


def test_paths_resolve_against_the_config_file_not_the_working_directory(tmp_path: Path) -> None:
    config = load(tmp_path, {"out": "elsewhere"})
    assert config.out_dir == tmp_path.resolve() / "elsewhere" / "demo"
    assert config.resolve(Path("data/valid.csv")) == tmp_path.resolve() / "data" / "valid.csv"


def test_an_option_moves_the_results_and_is_recorded_relative_to_the_config_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study").mkdir()
    monkeypatch.chdir(tmp_path)
    config = load(tmp_path / "study").writing_to(Path("moved"))
    assert config.file.out == Path("../moved")
    assert config.out_dir.resolve() == tmp_path.resolve() / "moved" / "demo"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"memory": {"enable": False, "mode": "advisory"}}, ["C1"]),
        ({"memory": {"enable": True}}, ["C2"]),
        ({"memory": {"enable": True, "mode": "silent"}}, ["C2_silent"]),
        ({"episodic_memory": {"condition": "C3"}}, ["C2_silent"]),
        ({"experiment": {"conditions": ["C2", "C1"]}}, ["C2", "C1"]),
        ({"memory": {"enable": True}, "experiment": {"conditions": ["C2"]}}, ["C2"]),
    ],
)
def test_conditions_can_be_named_in_three_ways(tmp_path: Path, change: dict[str, Any], names: list[str]) -> None:
    assert [condition.name for condition in load(tmp_path, change).conditions] == names


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run_id": "a__b"}, '"__"'),
        *(
            ({"run_id": run_id}, "cannot name a directory")
            for run_id in ("", ".", "..", "a/b", "a\\b", "a b", "a\nb", "a\0")
        ),
        ({"backbone": {"provider": "telepathy"}}, "backbone.provider"),
        ({"backbone": {"provider": "openai"}}, "needs a model"),
        ({"backbone": {"provider": "replay"}}, "recording"),
        ({"backbone": {"temprature": 1}}, "unknown key backbone.temprature; choose one of provider"),
        ({"data": {"process_split": "test"}}, "data.test_file is not given"),
        ({"data": {"limit": 0}}, "data.limit"),
        ({"experiment": {"conditions": ["C9"]}}, "unknown condition 'C9'"),
        ({"experiment": {"conditions": []}}, "experiment.conditions is empty"),
        ({"experiment": {"conditions": ["C2", "C2"]}}, "twice"),
        ({"experiment": {"seeds": [1, 1]}}, "seed is given twice"),
        ({"experiment": {"orders": [2, 2]}}, "an order is given twice: 2, 2"),
        ({"experiment": {"orders": 0}}, "experiment.orders: give a number of orders from 1 on, or a list of orders"),
        ({"experiment": {"orders": True}}, "or a list of orders, not true"),
        ({"experiment": {"orders": []}}, "experiment.orders"),
        ({"experiment": {"orders": [-1]}}, "experiment.orders"),
        ({"experiment": {"orders": "many"}}, "experiment.orders"),
        ({"experiment": {"orders": 3, "shuffle": True}}, "orders and shuffle: true both set the order of samples"),
        ({"experiment": {"concurrency": 0}}, "experiment.concurrency"),
        ({"experiment": {"conditions": ["C1"], "comparisons": [["C2", "C1"]]}}, "C2, which is not run"),
        ({"experiment": {"conditions": ["C1"], "comparisons": [["C1", "C1"]]}}, "compares C1 with itself"),
        ({"experiment": {"conditions": ["C2_silent"], "comparisons": [["C3", "C2_silent"]]}}, "C2_silent with itself"),
        ({"memory": {"enable": True, "mode": "loud"}}, "unknown memory.mode 'loud'"),
        ({"memory": {"enable": "yes please"}}, "memory.enable"),
        ({"memory": {"enable": True}, "episodic_memory": {"condition": "C1"}}, "named twice and differ"),
        ({"episodic_memory": {"topk": 4}}, "episodic_memory.topk"),
        ({"episodic_memory": {"firewall": "off"}}, "episodic_memory.firewall"),
        ({"episodic_memory": {"build": {"split": "train"}}}, "data.train_file, which is not given"),
        ({"episodic_memory": {"build": {"split": "valid"}}}, "the split that is evaluated"),
        (
            {"data": {"train_file": "data/t.csv"}, "episodic_memory": {"build": {"condition": "C2_eval_only"}}},
            "stores nothing",
        ),
        ({"episodic_memory": {"build": {}, "initial_store": "s.jsonl"}}, "not both"),
        (
            {"experiment": {"conditions": ["C2"]}, "episodic_memory": {"store_path": "s.jsonl"}},
            "{condition} and {seed}",
        ),
        (
            {
                "experiment": {"conditions": ["C2"], "orders": 2, "seeds": [1]},
                "episodic_memory": {"store_path": "{condition}_{seed}.jsonl"},
            },
            "2 cells would write one store: episodic_memory.store_path must hold {condition}, {order} and {seed}",
        ),
        (
            {"experiment": {"conditions": ["C2"]}, "episodic_memory": {"store_path": "postgresql://db/absa"}},
            "episodic_memory.store_path is the address of a database",
        ),
        (
            {"episodic_memory": {"initial_store": "postgresql://db/absa"}},
            "episodic_memory.initial_store is the address of a database",
        ),
        ({"io": {"slot_memory_name": "text"}}, "already use"),
        ({"pipeline": {"debate": {"order": ["epm", "epm"]}}}, "twice"),
        (
            {"eval": {"gold_jsonl": "g.jsonl", "gold_column": "gold"}},
            "gold is in one place: give gold_jsonl or gold_column",
        ),
        ({"eval": {"aspect_column": "aspect"}}, "aspect_column and polarity_column go together"),
        ({"eval": {"gold_column": "text"}}, "eval.gold_column names the column of the text"),
        ({"eval": {"gold_column": "gold"}, "data": {"input_format": "semeval_xml"}}, "eval.gold_column is for csv"),
        ({"surprise": 1}, "unknown key surprise; choose one of run_id"),
        ({"run_id": "a\u202eb"}, "control, bidi or zero-width"),
        ({"run_id": "a\nb"}, "control, bidi or zero-width"),
        ({"run_id": "../a"}, 'holds "/"'),
        ({"run_id": "가" * 100}, "more than 200 bytes"),
        ({"io": {"slot_memory_name": "SLOT\u200b"}}, "control, bidi or zero-width"),
        ({"data": {"allowed_roots": ["data"]}, "eval": {"gold_jsonl": "g.jsonl"}}, "eval.gold_jsonl"),
        ({"data": {"allowed_roots": ["data"]}, "eval": {"gold_jsonl": "data/../g.jsonl"}}, "eval.gold_jsonl"),
        (
            {"data": {"allowed_roots": ["data"]}, "episodic_memory": {"initial_store": "/etc/passwd"}},
            "episodic_memory.initial_store /etc/passwd lies below none of data.allowed_roots",
        ),
        (
            {
                "data": {"allowed_roots": ["data"]},
                "experiment": {"conditions": ["C2"]},
                "episodic_memory": {"store_path": "stores/{condition}_{seed}.jsonl"},
            },
            "episodic_memory.store_path",
        ),
    ],
)
def test_what_cannot_be_obeyed_is_refused_by_name(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, change)
    assert said in str(refused.value)


def test_a_store_may_lie_below_the_folder_that_the_run_writes_to(tmp_path: Path) -> None:
    memory = {"store_path": "results/stores/{condition}_{seed}.jsonl"}
    change = {"data": {"allowed_roots": ["data"]}, "experiment": {"conditions": ["C2"]}, "episodic_memory": memory}
    assert load(tmp_path, change).file.episodic_memory.store_path == memory["store_path"]


def test_a_link_does_not_lead_out_of_the_allowed_roots(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gold.jsonl").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match="allowed_roots"):
        load(tmp_path, {"data": {"allowed_roots": ["data"]}, "eval": {"gold_jsonl": "data/gold.jsonl"}})


@pytest.mark.parametrize("key", ["store", "catalogue"])
def test_files_that_a_condition_names_obey_the_allowed_roots(tmp_path: Path, key: str) -> None:
    conditions = yaml.safe_load((ROOT / "src/episodic_absa/conditions/conditions_memory_v3_0.yaml").read_text("utf-8"))
    conditions["conditions"]["C2"]["advice"] = {"from": "donor", "store": "data/s.jsonl", key: "/etc/passwd"}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(conditions), "utf-8")
    change = {"data": {"allowed_roots": ["data"]}, "experiment": {"conditions": ["C2"]}}
    with pytest.raises(ConfigError, match=f"conditions.C2.advice.{key} /etc/passwd lies below none"):
        load(tmp_path, {**change, "episodic_memory": {"conditions_path": "own.yaml"}})


@pytest.mark.parametrize(
    ("change", "variable"),
    [
        ({"episodic_memory": {"store_path": "postgresql://ann:hidden-1@db/absa"}}, "PGPASSWORD"),
        ({"episodic_memory": {"store_path": "host=db user=ann password=hidden-1"}}, "PGPASSWORD"),
        ({"data": {"valid_file": "https://ann:hidden-1@h/valid.csv"}}, "environment"),
        ({"out": "https://hidden-1@h/results"}, "environment"),
        ({"cache": {"path": "https://h/cache?token=hidden-1"}}, "environment"),
        ({"experiment": {"conditions": ["https://ann:hidden-1@h"]}}, "environment"),
        ({"memory": {"https": {"x": ["http://ann:hidden-1@h"]}}}, "environment"),
        ({"backbone": {"provider": "openai", "model": "m", "base_url": "http://a:hidden-1@h/v1"}}, "OPENAI_BASE_URL"),
        ({"backbone": {"provider": "anthropic", "model": "m", "base_url": "http://a:hidden-1@h"}}, "ANTHROPIC_API_KEY"),
        ({"backbone": {"provider": "google", "model": "m", "base_url": "http://h?key=hidden-1"}}, "GOOGLE_API_KEY"),
    ],
)
def test_a_credential_in_a_configuration_is_refused_and_never_quoted(
    tmp_path: Path, change: dict[str, Any], variable: str
) -> None:
    with pytest.raises(ConfigError, match=variable) as refused:
        load(tmp_path, change)
    assert "hidden" not in "".join(traceback.format_exception(refused.value))


def test_a_missing_key_and_a_file_that_is_no_mapping_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text("run_id: demo\n")
    with pytest.raises(ConfigError, match="data is missing"):
        load_experiment(path)
    path.write_text("- run_id\n")
    with pytest.raises(ConfigError, match="mapping"):
        load_experiment(path)


def test_default_comparisons_leave_out_pairs_that_are_not_run(tmp_path: Path) -> None:
    config = load(tmp_path, {"experiment": {"conditions": ["C1", "C2"]}})
    assert config.comparisons == (("C2", "C1"),)
