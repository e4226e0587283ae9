"""Where each cell's memory begins, and which beginnings are refused."""

import csv
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import Failing, exact_bytes, outputs_of, run_here, write_experiment
from tests.stored_lines import entries_of, rewrite

from episodic_absa.errors import ConfigError, MemoryStoreError, RunDirectoryError
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import STORE
from episodic_absa.runs.samples_file import SAMPLES

ELSEWHERE = "stores/{condition}_{seed}.jsonl"


@pytest.fixture(scope="module")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a few episodes."""
    path = write_experiment(tmp_path_factory.mktemp("episodes"), experiment={"conditions": ["C2_silent"]})
    return run_here(path).out_dir / "build__seed42" / STORE


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def texts_of(folder: Path) -> dict[str, str]:
    """Text -> split."""
    found: dict[str, str] = {}
    for split in ("train", "valid"):
        with open(folder / "data" / f"{split}.csv", encoding="utf-8", newline="") as file:
            found |= {row["text"]: split for row in csv.DictReader(file)}
    return found


def _grid(folder: Path, conditions: list[str], experiment: dict[str, Any] | None = None, **memory: Any) -> Path:
    return write_experiment(
        folder, experiment={"conditions": conditions, **(experiment or {})}, episodic_memory={"build": None, **memory}
    )


def test_the_initial_store_is_copied_and_stays_as_it_is(tmp_path: Path, episodes: Path) -> None:
    initial = tmp_path / "initial.jsonl"
    shutil.copyfile(episodes, initial)
    before, stamp = initial.read_bytes(), initial.stat().st_mtime_ns
    config = run_here(_grid(tmp_path, ["C1", "C2", "C2_frozen"], initial_store="initial.jsonl"))
    assert (initial.read_bytes(), initial.stat().st_mtime_ns) == (before, stamp)
    for condition in ("C2", "C2_frozen"):
        cell = config.out_dir / f"{condition}__seed42"
        manifest = json.loads((cell / MANIFEST).read_text())["episodic_memory"]
        assert manifest["initial_store_sha256"] == _sha256(initial)
        grown = (cell / STORE).read_bytes()
        assert grown.startswith(before)
        assert (len(grown) > len(before)) == (condition == "C2")
    assert not list((config.out_dir / "C1__seed42").glob("*store*"))


def test_a_changed_initial_store_is_another_configuration(tmp_path: Path, episodes: Path) -> None:
    shutil.copyfile(episodes, tmp_path / "initial.jsonl")
    path = _grid(tmp_path, ["C2"], initial_store="initial.jsonl")
    run_here(path)
    lines = episodes.read_bytes().splitlines(keepends=True)
    (tmp_path / "initial.jsonl").write_bytes(b"".join(lines[:-1]))
    with pytest.raises(RunDirectoryError, match="another configuration"):
        run_here(path)


def test_a_store_is_built_once_per_seed_and_copied(tmp_path: Path) -> None:
    config = run_here(write_experiment(tmp_path, experiment={"seeds": [1, 2]}))
    names = {path.name for path in config.out_dir.iterdir()}
    assert {name for name in names if name.startswith("build")} == {"build__seed1", "build__seed2"}
    for seed in (1, 2):
        built = config.out_dir / f"build__seed{seed}" / STORE
        for condition in ("C2", "C2_silent", "C2_eval_only", "C2_frozen"):
            cell = config.out_dir / f"{condition}__seed{seed}"
            assert (cell / STORE).read_bytes().startswith(built.read_bytes())
            assert json.loads((cell / MANIFEST).read_text())["episodic_memory"]["build_store_sha256"] == _sha256(built)
        assert not (config.out_dir / f"C1__seed{seed}" / STORE).exists()
        entries = [json.loads(line)["provenance"] for line in entries_of(built)]
        assert {(entry["created_from_split"], entry["used_in_eval"], entry["seed"]) for entry in entries} == {
            ("train", False, seed)
        }


def test_no_store_is_built_where_nobody_uses_it(tmp_path: Path) -> None:
    config = run_here(write_experiment(tmp_path, experiment={"conditions": ["C1"]}))
    assert [path.name for path in config.out_dir.iterdir() if path.is_dir()] == ["C1__seed42"]


def test_a_build_that_found_nothing_worth_storing_is_an_empty_beginning(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, experiment={"conditions": ["C2", "C2_frozen"]})
    config = run_here(path, Failing(lambda request: texts_of(tmp_path)[request.ask.inputs.text] == "train"))
    assert (config.out_dir / "build__seed42" / STORE).read_bytes() == b""
    assert len(outputs_of(config.out_dir / "C2_frozen__seed42")) == 16
    run_here(path, Failing(lambda _: True))  # finished: asks nothing


def test_a_condition_that_only_reads_needs_something_to_read(tmp_path: Path) -> None:
    for condition in ("C2_frozen", "C2_eval_only"):
        with pytest.raises(ConfigError, match=r"empty at the start.*allow_empty_store") as caught:
            run_here(_grid(tmp_path / condition, [condition]))
        assert caught.value.key == "episodic_memory.allow_empty_store"
        assert not (tmp_path / condition / "results").exists()
    (tmp_path / "nothing.jsonl").touch()
    with pytest.raises(ConfigError, match="empty at the start"):
        run_here(_grid(tmp_path, ["C2_frozen"], initial_store="nothing.jsonl"))
    config = run_here(_grid(tmp_path / "allowed", ["C2_frozen"], allow_empty_store=True))
    assert len(outputs_of(config.out_dir / "C2_frozen__seed42")) == 16


def test_a_filled_store_path_is_something_to_read(tmp_path: Path, episodes: Path) -> None:
    (tmp_path / "stores").mkdir()
    shutil.copyfile(episodes, tmp_path / "stores" / "C2_frozen_42.jsonl")
    config = run_here(_grid(tmp_path, ["C2_frozen"], store_path=ELSEWHERE))
    retrieved = [output["meta"]["memory"]["retrieved_k"] for output in outputs_of(config.out_dir / "C2_frozen__seed42")]
    assert any(retrieved)
    assert (tmp_path / "stores" / "C2_frozen_42.jsonl").read_bytes() == episodes.read_bytes()


def test_no_cell_reads_the_store_that_another_writes(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="share one store"):
        run_here(_grid(tmp_path, ["C2", "C2_frozen"], store_path="s.jsonl", allow_empty_store=True))


def ids_of(store: Path) -> list[str]:
    return [json.loads(line)["episode_id"] for line in entries_of(store)]


def _elsewhere(folder: Path, episodes: Path) -> tuple[Path, Path, Path]:
    """A finished run whose store lay elsewhere and was not empty before."""
    (folder / "stores").mkdir(parents=True)
    store = folder / "stores" / "C2_42.jsonl"
    shutil.copyfile(episodes, store)
    path = _grid(folder, ["C2"], store_path=ELSEWHERE)
    cell = run_here(path).out_dir / "C2__seed42"
    assert ids_of(store)[: len(ids_of(episodes))] == ids_of(episodes)
    assert len(ids_of(store)) > len(ids_of(episodes))
    return path, cell, store


@pytest.mark.parametrize("left", [0, 5])
def test_a_store_elsewhere_gets_what_a_cell_adds_when_it_is_finished_and_once(
    tmp_path: Path, episodes: Path, left: int
) -> None:
    path, cell, store = _elsewhere(tmp_path, episodes)
    expected, stored = exact_bytes(cell.parent), store.read_bytes()
    samples = (cell / SAMPLES).read_bytes().splitlines(keepends=True)
    for published in (episodes.read_bytes(), stored):  # killed before, and after it was published
        (cell / SAMPLES).write_bytes(b"".join(samples[: left + 1]))
        rewrite(store, published.splitlines())
        run_here(path)
        assert exact_bytes(cell.parent) == expected
        assert store.read_bytes() == stored


def test_a_store_elsewhere_that_lost_its_beginning_is_refused(tmp_path: Path, episodes: Path) -> None:
    path, cell, store = _elsewhere(tmp_path, episodes)
    lines = entries_of(store)
    (cell / SAMPLES).write_bytes(b"".join((cell / SAMPLES).read_bytes().splitlines(keepends=True)[:3]))
    with open(store, "ab") as file:
        file.write(b"{}\n")
    with pytest.raises(MemoryStoreError, match="somebody changed it"):
        run_here(path)
    rewrite(store, lines[1:])
    with pytest.raises(RunDirectoryError, match="no longer holds what"):
        run_here(path)


def test_a_beginning_never_replaces_a_store_that_holds_something(tmp_path: Path, episodes: Path) -> None:
    (tmp_path / "stores").mkdir()
    store = tmp_path / "stores" / "C2_42.jsonl"
    held = b"".join(episodes.read_bytes().splitlines(keepends=True)[:-1])
    store.write_bytes(held)
    shutil.copyfile(episodes, tmp_path / "initial.jsonl")
    with pytest.raises(RunDirectoryError, match="already holds episodes"):
        run_here(_grid(tmp_path, ["C2"], store_path=ELSEWHERE, initial_store="initial.jsonl"))
    assert store.read_bytes() == held


def test_a_copy_that_was_made_before_a_kill_is_taken_as_the_beginning(tmp_path: Path, episodes: Path) -> None:
    shutil.copyfile(episodes, tmp_path / "initial.jsonl")
    path = _grid(tmp_path, ["C2"], store_path=ELSEWHERE, initial_store="initial.jsonl")
    cell = run_here(path).out_dir / "C2__seed42"
    store = tmp_path / "stores" / "C2_42.jsonl"
    expected, stored = exact_bytes(cell.parent), store.read_bytes()
    assert ids_of(store)[: len(ids_of(episodes))] == ids_of(episodes)
    (cell / SAMPLES).write_bytes(b"")
    rewrite(store, entries_of(episodes))
    run_here(path)
    assert exact_bytes(cell.parent) == expected
    assert store.read_bytes() == stored
