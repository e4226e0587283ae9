"""What manifest and run_meta tell of a cell, and what they must not claim."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.runs.sealed_files import write_sealed
from tests.runs.served_model import Served
from tests.runs.small_grid import Remembering, outputs_of, run_here, write_experiment

import episodic_absa
from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.runs.config import ExperimentConfig, commit_of, load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.verification import verify

SMALL: dict[str, Any] = {"data": {"limit": 3}}
SHIPPED_CONDITIONS = Path(episodic_absa.__file__).parent / "conditions"
STORED: dict[str, Any] = {"conditions_path": "v1_3", "build": {"split": "train", "condition": "C2_silent"}}


def told(config: ExperimentConfig, cell: str, name: str = MANIFEST) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((config.out_dir / cell / name).read_text("utf-8"))
    return value


def test_the_manifest_names_the_store_that_was_used(tmp_path: Path) -> None:
    config = run_here(write_experiment(tmp_path / "default", **SMALL))
    paths = {cell: told(config, f"{cell}__seed42")["episodic_memory"]["store_path"] for cell in ("C1", "C2", "build")}
    assert paths == {"C1": None, "C2": "episodic_store.jsonl", "build": "episodic_store.jsonl"}
    assert (config.out_dir / "C2__seed42" / "episodic_store.jsonl").exists()
    assert not (config.out_dir / "C1__seed42" / "episodic_store.jsonl").exists()

    placed = {**STORED, "store_path": "kept/{condition}/{seed}.jsonl"}
    config = run_here(write_experiment(tmp_path / "chosen", episodic_memory=placed, **SMALL))
    paths = {cell: told(config, f"{cell}__seed42")["episodic_memory"]["store_path"] for cell in ("C1", "C2", "build")}
    assert paths == {"C1": None, "C2": "kept/C2/42.jsonl", "build": "episodic_store.jsonl"}
    assert (tmp_path / "chosen" / "kept" / "C2" / "42.jsonl").exists()


def test_seed_rules_and_v3_stand_in_one_grid_and_each_manifest_names_its_rules(tmp_path: Path) -> None:
    conditions: dict[str, Any] = yaml.safe_load((SHIPPED_CONDITIONS / "conditions_memory_v1_3.yaml").read_text("utf-8"))
    conditions["conditions"]["C1_v3"] = conditions["conditions"]["C1"] | {"rules": "v3"}
    (tmp_path / "both.yaml").write_text(json.dumps(conditions), "utf-8")
    experiment = write_experiment(
        tmp_path,
        episodic_memory={"conditions_path": "both.yaml", "build": None},
        experiment={"conditions": ["C1", "C1_v3"]},
        **SMALL,
    )
    config = run_here(experiment)
    seed, v3 = (told(config, f"{cell}__seed42") for cell in ("C1", "C1_v3"))
    assert [manifest["conditions"]["flags"]["rules"] for manifest in (seed, v3)] == ["seed", "v3"]
    assert {name.startswith("v3/") for name in seed["prompt_versions"]} == {False}
    assert {name.startswith("v3/") for name in v3["prompt_versions"]} == {True}
    assert seed["cfg_hash"] != v3["cfg_hash"]
    assert [seed[key] for key in ("decision_sha256", "reader_sha256")] == [None, None]
    assert [len(v3[key]) for key in ("decision_sha256", "reader_sha256")] == [64, 64]
    lines = {cell: outputs_of(config.out_dir / f"{cell}__seed42") for cell in ("C1", "C1_v3")}
    assert not any("decision" in line for line in lines["C1"])
    assert all(line["decision"]["candidates"] is not None for line in lines["C1_v3"])
    verified = verify(config.out_dir)
    of_seed = {result.check: result.result for result in verified.cells["C1__seed42"]}
    assert {of_seed[check] for check in ("candidates_decided", "candidates_applied")} == {"not_applicable"}
    checks = [*verified.grid, *(check for cell in verified.cells.values() for check in cell)]
    assert [(check.check, check.detail) for check in checks if check.result == "fail"] == []


def test_each_cell_is_configured_with_its_own_resolved_condition(tmp_path: Path) -> None:
    config = run_here(write_experiment(tmp_path, experiment={"conditions": ["C1", "C3", "C2_eval", "C2"]}, **SMALL))
    cells = ("C1", "C2_silent", "C2_eval_only", "C2")
    canonical = {cell: told(config, f"{cell}__seed42")["cfg_canonical"] for cell in (*cells, "build")}
    assert {cell: resolved["episodic_memory"]["condition"] for cell, resolved in canonical.items()} == {
        **{cell: cell for cell in cells},
        "build": "C2_silent",
    }
    for cell in cells:
        assert {line["meta"]["condition"] for line in outputs_of(config.out_dir / f"{cell}__seed42")} == {cell}


OWN_CONDITIONS = """
version: own
dangerous_advice: block
use_lexical: true
aliases: {}
conditions:
  stage2_reader:
    memory_mode: "on"
    retrieval_execute: true
    injection_mask: false
    store_write: false
    exposed_to_debate: false
    exposed_to_stage2: true
  C1:
    memory_mode: "silent"
    retrieval_execute: true
    injection_mask: true
    store_write: true
    exposed_to_debate: false
    exposed_to_stage2: false
"""


def test_the_memory_obeys_the_condition_of_the_block_unchanged(tmp_path: Path) -> None:
    memory = {"conditions_path": "own.yaml", "build": {"split": "train", "condition": "C1"}}
    names = ["stage2_reader", "C1"]
    path = write_experiment(tmp_path, episodic_memory=memory, experiment={"conditions": names}, data={"limit": 8})
    (tmp_path / "own.yaml").write_text(OWN_CONDITIONS, "utf-8")
    config = run_here(path)
    for name in names:
        cell = config.out_dir / f"{name}__seed42"
        flags = {**yaml.safe_load(OWN_CONDITIONS)["conditions"][name], "name": name}
        assert flags.items() <= told(config, cell.name)["conditions"]["flags"].items()
        metas = [line["meta"]["memory"] for line in outputs_of(cell)]
        for meta in metas:
            recorded = ("condition", "memory_mode", "exposed_to_debate", "exposed_to_stage2", "retrieval_calls")
            assert [meta[key] for key in recorded] == [
                *(name, flags["memory_mode"], flags["exposed_to_debate"], flags["exposed_to_stage2"], 1)
            ]
        assert any(meta["stage2_memory_injected"] for meta in metas) is flags["exposed_to_stage2"]
        assert not any(meta["prompt_injection_chars"] for meta in metas)
        decisions = {line["meta"]["store_skip_reason"] for line in outputs_of(cell)}
        assert ("store_write_disabled" in decisions) is not flags["store_write"]


def test_without_a_memory_block_results_are_those_of_c1(tmp_path: Path) -> None:
    default = {"conditions_path": None}
    with_c1 = run_here(
        write_experiment(tmp_path / "c1", episodic_memory=default, experiment={"conditions": ["C1"]}, **SMALL)
    )
    path = write_experiment(tmp_path / "none", experiment={"conditions": None}, **SMALL)
    bare = {key: value for key, value in json.loads(path.read_text()).items() if key != "episodic_memory"}
    path.write_text(json.dumps(bare), "utf-8")
    without = run_here(path)
    assert [directory.name for directory in without.out_dir.iterdir() if directory.is_dir()] == ["C1__seed42"]
    assert outputs_of(without.out_dir / "C1__seed42") == outputs_of(with_c1.out_dir / "C1__seed42")
    for output in outputs_of(without.out_dir / "C1__seed42"):
        assert output["meta"]["memory"]["retrieval_calls"] == 0
        assert output["meta"]["store_skip_reason"] == "store_write_disabled"
    assert not list(tmp_path.glob("none/**/*store*"))


def test_answers_kept_in_memory_only_are_not_called_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed")
    changes = {**SMALL, "experiment": {"conditions": ["C1", "C2_silent"]}, "episodic_memory": {"build": None}}
    engine = Remembering()
    offline = load_experiment(write_experiment(tmp_path / "offline", **changes))
    asyncio.run(run_cells(offline, backend=RepairingBackend(engine)))
    with Served(engine.texts, delay_s=0.0) as server:
        backbone = {"provider": "openai", "model": "m", "base_url": server.base_url}
        config = load_experiment(write_experiment(tmp_path / "served", backbone=backbone, **changes))
        asyncio.run(run_cells(config, use_cache_file=False))
        # An interruption may lie between: the rest would be asked again, and answered otherwise.
        manifest = {**told(config, "C1__seed42"), "completed": False}
        write_sealed(config.out_dir / "C1__seed42" / MANIFEST, manifest)
        asyncio.run(run_cells(config))
    assert told(config, "C1__seed42")["completed"]
    assert told(config, "C1__seed42")["answers_shared"] is False
    assert told(config, "C2_silent__seed42")["answers_shared"] is False
    (found,) = [result for result in verify(config.out_dir).grid if result.check == "never_shown_agree"]
    assert found.result == "not_applicable"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout_is_named_by_its_commit_and_whether_it_was_changed(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        named = ["-c", "user.name=n", "-c", "user.email=e@example.org", *words]
        return subprocess.run(["git", "-C", tmp_path, *named], capture_output=True, text=True, check=True).stdout  # noqa: S607

    assert commit_of(tmp_path) is None
    git("init", "-q")
    assert commit_of(tmp_path) is None  # no commit yet
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-qm", "first")
    commit = git("rev-parse", "HEAD").strip()
    assert commit_of(tmp_path) == commit
    (tmp_path / "file").write_text("2")
    assert commit_of(tmp_path) == commit + "-dirty"
