"""Which keys make a cell another one, and which do not."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from tests.runs.small_grid import write_experiment

import episodic_absa.pipeline.gate_reading as gate_reading
from episodic_absa.pipeline.decision import weights
from episodic_absa.reader.weights_folder import MANIFEST, WeightsFolder
from episodic_absa.runs.config import ExperimentData, ExperimentFile, evaluated_cells, load_experiment
from episodic_absa.runs.config import cfg_hash as hashing
from episodic_absa.runs.config.cfg_hash import cfg_hash, sha256_of

PLAIN_MEMORY = {"build": None, "allow_empty_store": True}
# Key -> another value. Together with SAME they name every key of a config.
OTHER: dict[str, Any] = {
    "run_id": "other",
    "backbone.provider": "openai",
    "backbone.model": "another",
    "backbone.base_url": "http://127.0.0.1:1/v1",
    "backbone.temperature": 0.5,
    "backbone.max_tokens": 7,
    "backbone.output": "prompted",
    "backbone.timeout_s": 7,
    "backbone.total_timeout_s": 7,
    "backbone.retry_base_s": 7,
    "backbone.recording": "answers.jsonl",
    "backbone.record": "said.jsonl",
    "data.input_format": "jsonl",
    "data.allowed_roots": ["data", "more"],
    "data.train_file": None,
    "data.valid_file": "data/copy.csv",
    "data.test_file": "data/copy.csv",
    "data.text_column": "review",
    "data.process_split": "train",
    "data.limit": 3,
    "pipeline.enable_stage2": False,
    "pipeline.enable_validator": False,
    "pipeline.reader": False,
    "pipeline.effort": "stage1",
    "pipeline.decision_weights": "weights.yaml",
    "pipeline.votes": 3,
    "pipeline.vote_temperature": 0.5,
    "pipeline.enable_debate": False,
    "pipeline.enable_debate_override": False,
    "pipeline.override_profile": "t1",
    "pipeline.debate_override": {"min_total": 0.9},
    "pipeline.ev_weights": [0.1, 0.2, 0.3, 0.4],
    "pipeline.stage1": {"independent": True},
    "pipeline.debate": {"rounds": 2},
    "pipeline.memory_prompt_injection_chars_cap": 100,
    "io.slot_memory_name": "OTHER_SLOT",
    "episodic_memory.conditions_path": "v1_2",
    "episodic_memory.store_path": "stores/{condition}_{seed}.jsonl",
    "episodic_memory.initial_store": "start.jsonl",
    "episodic_memory.build": {"split": "train", "condition": "C2"},
    "episodic_memory.allow_empty_store": False,
    "episodic_memory.topk": 2,
    "episodic_memory.require_same_language": False,
    "episodic_memory.require_structure_overlap": False,
    "episodic_memory.use_lexical": False,
    "episodic_memory.dangerous_advice": "demote",
    "eval.aspect_column": "target",
    "eval.polarity_column": "label",
    "episodic_memory.firewall": "strict",
    "episodic_memory.selective_storage": False,
    "episodic_memory.referee": True,
    "episodic_memory.keep_last_n": 7,
    "experiment.shuffle": True,
    "cache.share": "condition",
}
SAME: dict[str, Any] = {
    "run_purpose": "paper",
    "out": "elsewhere",
    "eval.gold_jsonl": None,
    "eval.gold_column": "gold",
    "eval.count_backfilled": True,
    "experiment.conditions": ["C2", "C2_silent"],
    "experiment.seeds": [42, 7],
    "experiment.orders": [0, 3],
    "experiment.comparisons": [["C2", "C1"]],
    "experiment.primary_metric": "exact_match",
    "experiment.smallest_effect": 0.02,
    "experiment.strata": ["language"],
    "experiment.concurrency": 3,
    "experiment.engine": "ray",
    "experiment.ray_address": "auto",
    "experiment.speculate": True,
    "experiment.speculate_ahead": 9,
    "experiment.max_failures": 0,
    "cache.path": "other.sqlite",
}
# Another way to write what experiment.conditions says.
SPELLINGS = {"memory", "episodic_memory.condition"}


def _hash(folder: Path, changes: dict[str, Any], *, cell_name: str = "C2__seed42") -> str:
    blocks: dict[str, Any] = {"episodic_memory": dict(PLAIN_MEMORY), "experiment": {"conditions": ["C2"]}}
    for key, value in changes.items():
        block, _, name = key.partition(".")
        if name:
            blocks.setdefault(block, {})[name] = value
        else:
            blocks[block] = value
    path = write_experiment(folder, **blocks)
    (folder / "data" / "copy.csv").write_text(
        (folder / "data" / "valid.csv").read_text("utf-8").replace("valid-", "x-")
    )
    (folder / "start.jsonl").touch()
    (folder / "answers.jsonl").touch()
    (folder / "weights.yaml").write_bytes(weights.SHIPPED_WEIGHTS.read_bytes())
    config = load_experiment(path)
    start = config.file.episodic_memory.initial_store
    cell = next(cell for cell in evaluated_cells(config) if cell.name == cell_name)
    data = _Data(config)
    return cfg_hash(config, cell, data.hashes, sha256_of(config.resolve(start)) if start else None)


class _Data(ExperimentData):
    """Only the hashes of the files; what is in them does not matter here."""

    def __init__(self, config: Any) -> None:
        self.paths = {split: config.resolve(path) for split, path in config.file.data.files.items()}


@pytest.mark.parametrize("key", OTHER)
def test_a_key_that_may_change_a_result_changes_the_hash(tmp_path: Path, key: str) -> None:
    changes = {key: OTHER[key]}
    if key == "backbone.provider":
        changes["backbone.model"] = "some"
    before: dict[str, Any] = {}
    if key == "backbone.model":
        before = {"backbone.provider": "openai", "backbone.model": "some"}
        changes = {**before, **changes}
    if key in ("eval.aspect_column", "eval.polarity_column"):
        before = {"eval.gold_jsonl": None, "eval.aspect_column": "aspect", "eval.polarity_column": "polarity"}
        changes = {**before, **changes}
    if key in ("pipeline.votes", "pipeline.vote_temperature"):
        votes = {"pipeline.votes": 2} if key == "pipeline.vote_temperature" else {}
        before = {"episodic_memory.conditions_path": "v3_0", "pipeline.effort": "one_call", **votes}
        changes = {**before, **changes}
    if key == "backbone.recording":
        changes["backbone.provider"] = "replay"
    assert _hash(tmp_path, before) != _hash(tmp_path, changes)


@pytest.mark.parametrize("key", SAME)
def test_a_key_that_changes_no_result_does_not_change_the_hash(tmp_path: Path, key: str) -> None:
    changes = {key: SAME[key]}
    if key == "experiment.comparisons":
        changes["experiment.conditions"] = ["C2", "C1"]
    if key == "eval.gold_column":
        changes["eval.gold_jsonl"] = None
    if key == "experiment.ray_address":
        changes["experiment.engine"] = "ray"
    assert _hash(tmp_path, {}) == _hash(tmp_path, changes)


def test_condition_order_and_seed_of_the_cell_change_the_hash(tmp_path: Path) -> None:
    both = {"experiment.conditions": ["C2", "C2_silent"], "experiment.orders": [0, 3], "experiment.seeds": [42, 7]}
    stems = ("C2", "C2_silent", "C2__order3", "C2_silent__order3")
    names = [f"{stem}__seed{seed}" for stem in stems for seed in (42, 7)]
    assert len({_hash(tmp_path, both, cell_name=name) for name in names}) == len(names)
    # However the condition is written, the cell is the same.
    written = {"episodic_memory.condition": "C2", "experiment.conditions": None}
    assert _hash(tmp_path, written) == _hash(tmp_path, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prompt_versions", lambda _: {"ate.v1": "0"}),
        ("lexicon_sha256", lambda: "0"),
        ("shipped_fingerprint", lambda _: "0"),
        ("load_catalogue", lambda: SimpleNamespace(sha256="0", v3_sha256="0")),
        ("version", lambda _: "9.9"),
    ],
)
def test_everything_shipped_that_results_depend_on_changes_the_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    before = _hash(tmp_path, {})
    monkeypatch.setattr(hashing, name, value)
    assert _hash(tmp_path, {}) != before


V2 = {"episodic_memory.conditions_path": "v3_0"}
TABLES = (
    (weights, "SHIPPED_WEIGHTS", weights.SHIPPED_WEIGHTS),
    (gate_reading, "SHIPPED_GATES", gate_reading.SHIPPED_GATES),
)


@pytest.mark.parametrize("edited", ["decision_weights.yaml", "gate_rules.yaml", "calibration.json"])
def test_the_tables_and_the_reader_change_the_hash_under_rules_v2_alone(
    edited: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = {"backbone.provider": "openai", "backbone.model": "m"}
    seed = {**model, "episodic_memory.conditions_path": "v1_3"}
    cells = ({**V2, **model}, {**V2, **model, "pipeline.reader": False}, seed)
    before = [_hash(tmp_path, changes) for changes in cells]
    tables = {path.name: (module, name, path) for module, name, path in TABLES}
    is_table = edited in tables
    if is_table:
        module, name, path = tables[edited]
        table = tmp_path / edited
        table.write_bytes(path.read_bytes() + b"# another threshold\n")
        monkeypatch.setattr(module, name, table)
    else:
        shipped, folder = WeightsFolder(), WeightsFolder(tmp_path)
        files = {**shipped.files, edited: "0" * 64}
        (tmp_path / MANIFEST).write_text(json.dumps({"files": files}), "utf-8")
        monkeypatch.setattr(hashing, "reader_fingerprint", lambda: folder.fingerprint)
    after = [_hash(tmp_path, changes) for changes in cells]
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, is_table, False]


def test_the_content_of_every_file_changes_the_hash(tmp_path: Path) -> None:
    config = load_experiment(write_experiment(tmp_path, episodic_memory=PLAIN_MEMORY))
    cell = next(iter(evaluated_cells(config)))
    known = {cfg_hash(config, cell, _Data(config).hashes, None), cfg_hash(config, cell, _Data(config).hashes, "0" * 64)}
    for name in ("train.csv", "valid.csv"):
        with open(tmp_path / "data" / name, "a", encoding="utf-8") as file:
            file.write("more,A review.,en,phone,plain\n")
        known.add(cfg_hash(config, cell, _Data(config).hashes, None))
    allowlist = tmp_path / "allowlist.txt"
    for words in ("one\n", "one\ntwo\n"):
        allowlist.write_text(words)
        known.add(_hash(tmp_path, {"pipeline.stage1": {"allowlist": "allowlist.txt"}}))
    recording = {"backbone.provider": "replay", "backbone.recording": "said.jsonl"}
    for text in ("", "\n"):
        (tmp_path / "said.jsonl").write_text(text)
        known.add(_hash(tmp_path, recording))
    assert len(known) == 8


def _leaves(model: type[BaseModel], place: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = [option for option in (field.annotation, *get_args(field.annotation)) if isinstance(option, type)]
        block = next((option for option in inner if issubclass(option, BaseModel)), None)
        if block is None or place:
            yield place + name
        else:
            yield from _leaves(block, f"{name}.")


def test_the_two_tables_name_every_key() -> None:
    assert set(_leaves(ExperimentFile)) - SPELLINGS == {*OTHER, *SAME}
    assert json.dumps([OTHER, SAME])
