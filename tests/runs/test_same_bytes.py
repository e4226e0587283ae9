"""How fast, from where and in what order samples finish changes no byte of a result."""

import asyncio
import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.changing_replier import ChangingReplier, erring
from tests.runs.small_grid import (
    CONDITIONS,
    Scrambled,
    exact_bytes,
    outputs_of,
    run_here,
    write_experiment,
)
from tests.stored_lines import entries_of

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.backends.replay import RecordingReplier, ReplayReplier
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.pipeline.composition import MEMORY_FORMS
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.runs.cell_store import export_form
from episodic_absa.runs.config import ExperimentData, evaluated_cells, load_experiment
from episodic_absa.runs.derived.derived_samples import OUTPUTS, OVERRIDE_DEBUG, SCORECARDS
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import RUN_META, STORE
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.serialization.canonical_json import canonical_json

PROGRAM = Path(__file__).with_name("run_grid_process.py")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid whose answers come at once, with concurrency 1: the result all others must equal."""
    folder = tmp_path_factory.mktemp("plain")
    return run_here(write_experiment(folder, experiment={"concurrency": 1})).out_dir


@pytest.mark.parametrize(
    ("seed", "pace"),
    [
        (1, {"concurrency": 1}),
        (3, {"concurrency": 64}),
        (4, {"concurrency": 64, "speculate": True, "speculate_ahead": 1}),
        (6, {"concurrency": 64, "speculate": True, "speculate_ahead": 50}),
        (8, {"concurrency": 1, "speculate": True, "speculate_ahead": 50}),
    ],
)
def test_no_pace_changes_a_byte(plain: Path, tmp_path: Path, seed: int, pace: dict[str, Any]) -> None:
    config = run_here(write_experiment(tmp_path, experiment=pace), Scrambled(seed))
    assert exact_bytes(config.out_dir) == exact_bytes(plain)


def test_these_grids_would_show_a_wrong_order(plain: Path, tmp_path: Path) -> None:
    shown = [
        output for output in outputs_of(plain / "C2__seed42") if output["meta"]["memory"]["prompt_injection_chars"]
    ]
    assert len(shown) >= 8
    pace = {"concurrency": 64, "speculate": True, "speculate_ahead": 50}
    config = run_here(write_experiment(tmp_path, experiment=pace), Scrambled(9))
    speculation = json.loads((config.out_dir / "C2__seed42" / RUN_META).read_text())["speculation"]
    assert speculation["redone_samples"] > 0
    assert speculation["wasted_calls"] > 0


def _one_after_another(config_path: Path, store_folder: Path, start: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The oracle: a plain loop, one sample at a time, memory read and written at once."""
    config = load_experiment(config_path)
    data = ExperimentData(config)
    supervisor = SupervisorAgent(RepairingBackend(EmbeddedReplier()), config.file.pipeline)
    for cell in evaluated_cells(config):
        path = store_folder / f"{cell.name}.jsonl"
        if cell.needs_store:
            shutil.copyfile(start, path)
        outputs, decisions = [], []
        with MemoryStore(path) as store:
            memory = EpisodicOrchestrator(
                cell.condition,
                store,
                settings=config.file.episodic_memory,
                form=MEMORY_FORMS[cell.condition.rules],
            )
            for index, labelled in enumerate(data.samples_of(cell)):
                view = MemoryView(memory, sample_index=index, seed=cell.seed, used_in_eval=True)
                result = asyncio.run(supervisor.run(labelled.sample, view, seed=cell.seed))
                outputs.append(canonical_json({**result.to_output(), "sample_index": index}) + "\n")
                for made in result.override_decisions:
                    line = {"uid": labelled.sample.uid, **made.model_dump()}
                    decisions.append(canonical_json(line) + "\n")
        found = {OUTPUTS: "".join(outputs).encode(), OVERRIDE_DEBUG: "".join(decisions).encode()}
        if cell.needs_store:
            with MemoryStore(path, reads_only=True) as store:
                found[STORE] = b"".join(store.exported_lines(export_form(cell.condition.rules)))
        yield cell.name, found


def test_a_plain_loop_over_the_supervisor_gives_the_same(plain: Path, tmp_path: Path) -> None:
    start = plain / "build__seed42" / STORE
    compared = 0
    for name, expected in _one_after_another(plain.parents[1] / "grid.yaml", tmp_path, start):
        for file, content in expected.items():
            assert (plain / name / file).read_bytes() == content, (name, file)
            compared += 1
    assert compared == 2 * len(CONDITIONS) + 4


def test_a_sample_retrieves_only_what_earlier_samples_committed(tmp_path: Path) -> None:
    pace = {"concurrency": 64, "speculate": True, "speculate_ahead": 50}
    config = run_here(write_experiment(tmp_path, experiment=pace), Scrambled(10))
    built = entries_of(config.out_dir / "build__seed42" / STORE)
    for condition in CONDITIONS[1:]:
        known = {json.loads(line)["episode_id"] for line in built}
        retrieved = set()
        for output in outputs_of(config.out_dir / f"{condition}__seed42"):
            ids = set(output["meta"]["memory"]["retrieved_ids"])
            assert ids <= known
            retrieved |= ids
            known |= {output["meta"]["episode_id"]} - {None}
        assert retrieved


def test_a_failure_on_a_wrong_guess_is_no_failure(tmp_path: Path) -> None:
    recording = tmp_path / "answers.jsonl"
    alone = {"conditions": ["C2"]}
    path = write_experiment(tmp_path / "recorded", experiment=alone)
    recorded = run_here(path, RecordingReplier(EmbeddedReplier(), recording)).out_dir
    pace = {**alone, "concurrency": 64, "speculate": True, "speculate_ahead": 50}
    # The recording holds no prompt that shows the memory of a wrong moment: asking one fails.
    replier = Scrambled(11, replier=ReplayReplier(recording))
    config = run_here(write_experiment(tmp_path / "replayed", experiment=pace), replier)
    # Who answers stands in the records, and a replay is somebody else: what follows from the answers is equal.
    found, expected = (
        {name: content for name, content in exact_bytes(out).items() if not name.endswith((SAMPLES, SCORECARDS))}
        for out in (config.out_dir, recorded)
    )
    assert found == expected
    meta = json.loads((config.out_dir / "C2__seed42" / RUN_META).read_text())
    assert meta["speculation"]["redone_samples"] > 0


def test_a_recording_of_the_engine_replays_with_the_same_reader_under_rules_v3(tmp_path: Path) -> None:
    recording = tmp_path / "answers.jsonl"
    v3: dict[str, Any] = {
        "experiment": {"conditions": ["C1"]},
        "episodic_memory": {"conditions_path": "v3_0", "build": None},
    }
    path = write_experiment(tmp_path / "recorded", **v3)
    with open(path.parent / "data" / "valid.csv", encoding="utf-8", newline="") as rows:
        errors = {row["text"]: row["text"].split()[0] for row in csv.DictReader(rows)}
    engine = ChangingReplier(erring(errors), is_its_own_reader=True)
    recorded = outputs_of(run_here(path, RecordingReplier(engine, recording)).out_dir / "C1__seed42")
    replayed = outputs_of(
        run_here(write_experiment(tmp_path / "replayed", **v3), ReplayReplier(recording)).out_dir / "C1__seed42"
    )
    assert replayed == recorded
    # The reader would speak about some of these candidates.
    candidates = [candidate for output in recorded for candidate in output["decision"]["candidates"]]
    witnesses = [witness for candidate in candidates for witness in candidate["witnesses"]]
    assert witnesses
    assert not any(witness["who"] == "reader" and witness["p"] for witness in witnesses)


def test_no_working_directory_and_no_hash_seed_changes_a_byte(plain: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = write_experiment(tmp_path / "there")
    # The plain grid was run here, with the seed of this process, which is random unless the environment names it.
    other_seed = "4242" if os.environ.get("PYTHONHASHSEED") != "4242" else "0"
    done = subprocess.run(
        [sys.executable, str(PROGRAM), os.path.relpath(path, elsewhere)],
        cwd=elsewhere,
        env={**os.environ, "PYTHONHASHSEED": other_seed},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.endswith(b"done\n"), done.stderr.decode()
    assert exact_bytes(path.parent / "results" / "grid") == exact_bytes(plain)
    assert list(elsewhere.iterdir()) == []


def test_a_shuffled_grid_is_as_repeatable(tmp_path: Path) -> None:
    found = []
    for number, replier in enumerate((None, Scrambled(13))):
        changes = {"shuffle": True, "seeds": [1, 2], "conditions": ["C2"], "concurrency": 1 + 63 * number}
        found.append(
            exact_bytes(run_here(write_experiment(tmp_path / str(number), experiment=changes), replier).out_dir)
        )
    assert found[0] == found[1]
    orders = [
        [json.loads(line)["uid"] for line in found[0][f"C2__seed{seed}/{OUTPUTS}"].splitlines()] for seed in (1, 2)
    ]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def test_no_clock_and_no_cache_hit_stands_outside_traces_and_run_meta(plain: Path) -> None:
    told = {
        key
        for content in exact_bytes(plain).values()
        for line in content.splitlines()
        for key in _keys(json.loads(line))
    }
    for manifest in plain.glob(f"*/{MANIFEST}"):
        told |= set(_keys(json.loads(manifest.read_text("utf-8"))))
    marks = ("latency", "cached", "cache_hit", "started", "ended", "timestamp", "time", "seconds", "date", "host")
    assert {key for key in told if any(mark in key.lower().split("_") for mark in marks)} <= {"timeout_s"}
