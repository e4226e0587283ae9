"""Files of older versions under this one: configs, run directories, stores and a cache that those versions wrote.

The archives hold a small study of our own sentences that version 0.1 and version 0.2 ran with the embedded engine,
without its reports and locks.
"""

import json
import shutil
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from tests.stored_lines import entries_of

from episodic_absa import Analyzer, run_experiment
from episodic_absa.backends.cache.answer_file import AnswerFile
from episodic_absa.cli.app import main
from episodic_absa.errors import RunDirectoryError
from episodic_absa.memory import MemoryStore
from episodic_absa.runs.config import load_experiment
from episodic_absa.verification import check_experiment

HERE = Path(__file__).parent


def unpacked(version: str, folder: Path) -> Path:
    """The folder of a study: experiment.yaml, data and results/small."""
    with tarfile.open(HERE / f"run_of_{version.replace('.', '_')}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The study that version 0.1 ran, with its cache."""
    return unpacked("0.1", tmp_path)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_its_config_is_valid_and_follows_rules_v3_unless_it_names_older_conditions(study: Path) -> None:
    path = study / "experiment.yaml"
    assert not check_experiment(path).has_errors
    assert {condition.rules for condition in load_experiment(path).conditions} == {"v3"}
    document = yaml.safe_load(path.read_text("utf-8"))
    document["episodic_memory"]["conditions_path"] = "v1_2"
    path.write_text(yaml.safe_dump(document), "utf-8")
    assert not check_experiment(path).has_errors
    assert {condition.rules for condition in load_experiment(path).conditions} == {"seed"}


COMMANDS = {
    "run": ("run", "experiment.yaml"),
    "report": ("report", "results/small"),
    "report of a cell": ("report", "results/small/C2__seed42"),
    "report --rebuild": ("report", "results/small", "--rebuild"),
    "export": ("report", "results/small", "--export", "figures"),
    "compare": ("compare", "results/small", "C2", "C1"),
    "compare two cells": ("compare", "results/small/C2__seed42", "results/small/C1__seed42"),
    "verify": ("verify", "results/small"),
    "verify a cell": ("verify", "results/small/C2__seed42"),
    "explain": ("verify", "results/small", "--explain", "calls"),
    "certificate": ("verify", "results/small", "--certificate"),
    "principles": ("principles", "results/small"),
    "feedback": ("feedback", "results/small/C2__seed42", "v1", "right"),
}


@pytest.mark.parametrize("version", ["0.1", "0.2"])
@pytest.mark.parametrize("command", COMMANDS)
def test_its_run_is_refused_by_the_version_that_reads_it_and_stays_as_it_is(
    version: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = unpacked(version, tmp_path)
    before = contents(study / "results")
    monkeypatch.chdir(study)
    monkeypatch.setattr(sys, "argv", ["episodic-absa", *COMMANDS[command]])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"was written by version {version} of episodic-absa, and this version does not read it" in told
    assert f"read it with version {version}, or run the experiment again with another run_id" in told
    assert contents(study / "results") == before


def test_a_run_of_an_older_version_without_its_manifest_is_refused_too(tmp_path: Path) -> None:
    study = unpacked("0.2", tmp_path)
    for manifest in study.rglob("manifest.json"):
        manifest.unlink()
    before = contents(study / "results")
    with pytest.raises(RunDirectoryError, match=r"was written by version 0\.1 or 0\.2 of episodic-absa"):
        run_experiment(study / "experiment.yaml")
    assert contents(study / "results") == before


def test_its_store_is_imported_and_written_in_the_new_schema(study: Path) -> None:
    store = study / "store.jsonl"
    shutil.copy(study / "results" / "small" / "C2__seed42" / "episodic_store.jsonl", store)
    assert [json.loads(entry)["schema_version"] for entry in entries_of(store)] == ["1.1"] * 3
    with Analyzer(condition="C2", store=store) as analyzer:
        analyzer.analyze("The screen was not bright but the sound was good.")
    lines = [json.loads(entry) for entry in entries_of(store)]
    assert {line["schema_version"] for line in lines} == {"1.3"}
    with MemoryStore(store) as opened:
        assert [opened.get(f"epi_{number:06}") is not None for number in (1, 2, 3)] == [True] * 3


def test_its_cache_is_opened(study: Path) -> None:
    AnswerFile(study / ".episodic_absa" / "cache.sqlite").close()
