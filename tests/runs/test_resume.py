"""Resuming: whatever was lost or interrupted, the end is the same, or the run is refused."""

import asyncio
import csv
import fcntl
import json
import logging
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import (
    Failing,
    Scrambled,
    exact_bytes,
    outputs_of,
    run_here,
    write_experiment,
)
from tests.stored_lines import entries_of

from episodic_absa.backends.backend import RepairingBackend, Replier, Request
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.cell_run import TooManyFailuresError
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import OUTPUTS, OVERRIDE_DEBUG, SCORECARDS, TRACES
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.run_directory import STORE
from episodic_absa.runs.samples_file import SAMPLES

FILES = (SAMPLES, OUTPUTS, SCORECARDS, TRACES, OVERRIDE_DEBUG, STORE)
PACE = {"conditions": ["C2"], "concurrency": 8, "speculate": True}


def _run_until(path: Path, commits: int, replier: Replier) -> bool:
    """Run and cancel after so many commits; return whether it came to its end."""

    async def run() -> bool:
        seen = 0

        def count(_: GridProgress) -> None:
            nonlocal seen
            seen += 1
            if seen == commits:
                task.cancel()

        progress = GridProgress(on_change=count)
        task = asyncio.ensure_future(
            run_cells(load_experiment(path), progress=progress, backend=RepairingBackend(replier))
        )
        await asyncio.wait([task])
        return not task.cancelled()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    run_here(write_experiment(folder, experiment=PACE))
    return folder


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unfinished")
    assert not _run_until(write_experiment(folder, experiment=PACE), 18, Scrambled(1))
    assert 8 < len(outputs_of(folder / "results" / "grid" / "C2__seed42")) < 16
    return folder


def _copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to, dirs_exist_ok=True)
    return to / "grid.yaml"


def _cell(path: Path, name: str = "C2__seed42") -> Path:
    return path.parent / "results" / "grid" / name


def test_a_grid_that_is_interrupted_again_and_again_ends_alike(tmp_path: Path) -> None:
    expected = exact_bytes(run_here(write_experiment(tmp_path / "whole")).out_dir)
    path = write_experiment(tmp_path / "pieces", experiment={"speculate": True})
    chance, runs = random.Random(5), 1
    while not _run_until(path, chance.randint(1, 20), Scrambled(runs)):
        runs += 1
    assert runs > 3
    assert exact_bytes(path.parent / "results" / "grid") == expected


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("state", ["finished", "unfinished"])
@pytest.mark.parametrize("lost", ["half", "the file"])  # test_every_byte.py cuts records at every byte
def test_a_file_that_lost_its_tail_is_made_whole(
    request: pytest.FixtureRequest,
    finished: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    name: str,
    state: str,
    lost: str,
) -> None:
    path = _copied(request.getfixturevalue(state), tmp_path)
    damaged = _cell(path) / name
    size = damaged.stat().st_size
    assert size > 100
    if lost == "the file":
        damaged.unlink()
    else:
        os.truncate(damaged, size // 2)
    with caplog.at_level(logging.INFO, "episodic_absa.runs"):
        run_here(path, with_tables=False)
    assert exact_bytes(path.parent / "results" / "grid") == exact_bytes(finished / "results" / "grid")
    if name == SAMPLES and state == "finished":
        assert "had lost them" in caplog.text
    manifest = json.loads((_cell(path) / MANIFEST).read_text())
    assert manifest["completed"] is True


def test_a_finished_run_is_left_as_is(finished: Path, tmp_path: Path) -> None:
    path = _copied(finished, tmp_path)
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in _cell(path).iterdir()}
    run_here(path, Failing(lambda _: True))
    assert {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in _cell(path).iterdir()} == before


def test_another_configuration_is_refused_and_explained(finished: Path, tmp_path: Path) -> None:
    _copied(finished, tmp_path)
    path = write_experiment(tmp_path, experiment=PACE, pipeline={"override_profile": "t2"})
    before = exact_bytes(tmp_path / "results" / "grid")
    with pytest.raises(RunDirectoryError, match=r"another configuration.*another run_id"):
        run_here(path)
    assert exact_bytes(tmp_path / "results" / "grid") == before


def test_a_key_outside_the_hash_is_taken_over(unfinished: Path, finished: Path, tmp_path: Path) -> None:
    _copied(unfinished, tmp_path)
    path = write_experiment(tmp_path, experiment={**PACE, "concurrency": 2, "speculate": False}, run_purpose="paper")
    run_here(path)
    assert exact_bytes(tmp_path / "results" / "grid") == exact_bytes(finished / "results" / "grid")
    assert json.loads((_cell(path) / MANIFEST).read_text())["run_purpose"] == "paper"


@pytest.mark.parametrize("text", ["", "{", "[]", None])
def test_an_unreadable_manifest_beside_samples_is_refused(finished: Path, tmp_path: Path, text: str | None) -> None:
    path = _copied(finished, tmp_path)
    manifest = _cell(path) / MANIFEST
    manifest.unlink() if text is None else manifest.write_text(text)
    with pytest.raises(RunDirectoryError, match="no readable manifest"):
        run_here(path)


def test_an_unreadable_manifest_without_samples_is_rebuilt(finished: Path, tmp_path: Path) -> None:
    path = _copied(finished, tmp_path)
    (_cell(path) / MANIFEST).write_text("{")
    (_cell(path) / SAMPLES).write_text("")
    run_here(path)
    assert exact_bytes(tmp_path / "results" / "grid") == exact_bytes(finished / "results" / "grid")


@pytest.mark.parametrize("state", ["finished", "unfinished"])
def test_changed_gold_is_refused(request: pytest.FixtureRequest, tmp_path: Path, state: str) -> None:
    path = _copied(request.getfixturevalue(state), tmp_path)
    gold = tmp_path / "data" / "valid.gold.jsonl"
    gold.write_text("\n".join(gold.read_text("utf-8").splitlines()[1:]) + "\n", "utf-8")
    with pytest.raises(RunDirectoryError, match="another gold file"):
        run_here(path)


def test_a_directory_in_use_is_refused(finished: Path, tmp_path: Path) -> None:
    path = _copied(finished, tmp_path)
    holder = os.open(_cell(path) / ".lock", os.O_RDWR)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(RunDirectoryError, match="another process is running"):
            run_here(path)
    finally:
        os.close(holder)
    run_here(path)


def _about(*places: int, role: str) -> Callable[[Request], bool]:
    """Choose samples by their place, a role of theirs by its name."""
    texts = {TEXTS[place] for place in places}
    return lambda request: request.ask.role == role and request.ask.inputs.text in texts


def _texts() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        write_experiment(Path(folder))
        with open(Path(folder) / "data" / "valid.csv", encoding="utf-8", newline="") as file:
            return [row["text"] for row in csv.DictReader(file)]


TEXTS = _texts()


@pytest.mark.parametrize(("role", "stage"), [("ate", "stage1"), ("epm", "debate"), ("stage2_validator", "stage2")])
def test_a_failing_sample_is_recorded_and_the_grid_goes_on(tmp_path: Path, role: str, stage: str) -> None:
    found = []
    for number, pace in enumerate(({"concurrency": 1}, {"concurrency": 64, "speculate": True, "speculate_ahead": 50})):
        engine = EmbeddedReplier() if number == 0 else Scrambled(3)
        path = write_experiment(tmp_path / str(number), experiment={"conditions": ["C1", "C2"], **pace})
        run_here(path, Failing(_about(2, 9, role=role), engine))
        found.append(exact_bytes(path.parent / "results" / "grid"))
    assert found[0] == found[1]
    for condition in ("C1", "C2"):
        cell = _cell(path, f"{condition}__seed42")
        outputs = outputs_of(cell)
        assert len(outputs) == len(TEXTS)
        failed = [output for output in outputs if output["status"] == "error"]
        assert [output["sample_index"] for output in failed] == [2, 9]
        assert {json.dumps(output["error"]) for output in failed} == {
            json.dumps({"stage": stage, "type": "provider_error"}, sort_keys=True)
        }
        named = {Path(name).name for name, content in exact_bytes(cell.parent).items() if b"SECRET-MESSAGE" in content}
        assert named == {SAMPLES}, "the message of an error stands in records and traces alone"
        assert (cell / TRACES).read_text("utf-8").count("SECRET-MESSAGE") == 2
        cards = [json.loads(line) for line in (cell / SCORECARDS).read_text("utf-8").splitlines()]
        assert [card["status"] for card in cards].count("error") == 2
        assert cards[2]["gold_tuples"] is not None
    sources = [json.loads(line)["provenance"]["source_id"] for line in entries_of(cell / STORE)]
    assert not {outputs[2]["uid"], outputs[9]["uid"]} & set(sources)


def test_too_many_failures_stop_the_run_which_can_go_on(tmp_path: Path) -> None:
    fails = _about(1, 4, 5, role="atsa")
    changes: dict[str, Any] = {"conditions": ["C2"], "concurrency": 4}
    path = write_experiment(tmp_path, experiment={**changes, "max_failures": 1})
    with pytest.raises(TooManyFailuresError, match=r"max_failures.*run again"):
        run_here(path, Failing(fails, Scrambled(2)))
    assert len(outputs_of(_cell(path))) == 5
    run_here(path, Failing(_about(5, role="atsa")))
    outputs = outputs_of(_cell(path))
    # What had failed was run again with the mended backend.
    assert [output["sample_index"] for output in outputs if output["status"] == "error"] == [5]
    whole = write_experiment(tmp_path / "whole", experiment={**changes, "max_failures": 3})
    run_here(whole, Failing(_about(5, role="atsa")))
    for name in (OUTPUTS, STORE, OVERRIDE_DEBUG, SCORECARDS):
        assert (_cell(path) / name).read_bytes() == (_cell(whole) / name).read_bytes()
