"""Files of version 0.1 under this version: a config, a run directory, a store and a cache that 0.1 itself wrote.

`run_of_0_1.tar.gz` holds a small study of our own sentences that commit 4ec1a12 ran with the embedded engine, without
its reports and locks.
"""

import json
import shutil
import tarfile
from pathlib import Path

import pytest
import yaml
from tests.stored_lines import entries_of

from episodic_absa import Analyzer, run_experiment
from episodic_absa.analysis.compared_runs import load_sides
from episodic_absa.analysis.derived_files import derive_tables
from episodic_absa.analysis.finished_run import load_run
from episodic_absa.analysis.paired_comparison import compare_sides
from episodic_absa.backends.cache.answer_file import AnswerFile
from episodic_absa.errors import RunDirectoryError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.store_maintenance import compact_store
from episodic_absa.runs.config.experiment_config import load_experiment
from episodic_absa.verification.preflight import check_experiment
from episodic_absa.verification.verify import verify

ARCHIVE = Path(__file__).with_name("run_of_0_1.tar.gz")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The folder of the study: experiment.yaml, data, results/small and the cache."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


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


def test_its_run_is_verified_as_far_as_this_version_can(study: Path) -> None:
    verified = verify(study / "results" / "small")
    assert verified.failures == ()
    results = {result.check: result for result in verified.cells["C2__seed42"]}
    assert results["samples"].result == results["data_hashes"].result == "pass"
    for check in ("cfg_hash", "package_hashes"):
        assert results[check].result == "not_applicable"
        assert results[check].detail.startswith("the run is of version 0.1, installed is ")


def test_its_run_is_read_compared_and_reported_again(study: Path, caplog: pytest.LogCaptureFixture) -> None:
    small = study / "results" / "small"
    assert {cell.path.name: len(cell.cards) for cell in load_run(small).cells} == {
        "C1__seed42": 3,
        "C2__seed42": 3,
        "build__seed42": 2,
    }
    assert "is of version 0.1, which does not record the order of samples" in caplog.text
    derive_tables(load_run(small))
    assert verify(small).failures == ()
    c2, c1 = load_sides([small / "C2__seed42", small / "C1__seed42"])
    assert compare_sides(c2, c1).metrics


def test_its_run_is_not_continued_and_the_refusal_names_the_version(study: Path) -> None:
    before = contents(study / "results")
    with pytest.raises(RunDirectoryError, match=r"the version of episodic-absa \(the run's has no .*pipeline\.effort"):
        run_experiment(study / "experiment.yaml")
    assert contents(study / "results") == before


def test_its_store_is_read_written_and_upgraded(study: Path) -> None:
    store = study / "store.jsonl"
    shutil.copy(study / "results" / "small" / "C2__seed42" / "episodic_store.jsonl", store)
    assert [json.loads(entry)["schema_version"] for entry in entries_of(store)] == ["1.1"] * 3
    with Analyzer(condition="C2", store=store) as analyzer:
        analyzer.analyze("The screen was not bright but the sound was good.")
    compact_store(store, keep_last_n=100, upgrade=True)
    lines = [json.loads(entry) for entry in entries_of(store)]
    assert {line["schema_version"] for line in lines} == {"1.2"}
    with MemoryStore(store) as opened:
        assert [opened.get(f"epi_{number:06}") is not None for number in (1, 2, 3)] == [True] * 3


def test_its_cache_is_opened(study: Path) -> None:
    AnswerFile(study / ".episodic_absa" / "cache.sqlite").close()
