"""What an analysis outside experiments uses where nothing is said."""

import json
import uuid
from pathlib import Path

import pytest
from tests.stored_lines import entries_of
from tests.warm_python import run_warm

from episodic_absa import Analyzer
from episodic_absa.analyzer import make_sample

TEXT = "The food was not good, but the service was great."


def test_outside_experiments_the_store_lies_in_the_memory_folder_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Analyzer(condition="C2") as analyzer:
        result = analyzer.analyze(TEXT, uid="u1")
    assert result.store.store_decision == "stored"
    assert list(tmp_path.rglob("*.jsonl")) == [tmp_path / "memory" / "episodic_store.jsonl"]


def test_a_store_that_is_named_is_the_one_that_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Analyzer(condition="C2", store=tmp_path / "mine" / "own.jsonl") as analyzer:
        analyzer.analyze(TEXT, uid="u1")
    assert list(tmp_path.rglob("*.jsonl")) == [tmp_path / "mine" / "own.jsonl"]


def test_the_command_line_stores_and_reads_at_the_same_default(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = run_warm(["-m", "episodic_absa", *arguments], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    output = json.loads(run("analyze", "--condition", "C2", "--json", TEXT))
    assert uuid.UUID(output["uid"].removeprefix("analyze-")).version == 4
    (stored,) = entries_of(tmp_path / "memory" / "episodic_store.jsonl")
    assert json.loads(stored)["provenance"]["source_id"] == output["uid"]
    (listed,) = run("memory", "list", "--json").splitlines()
    assert json.loads(listed) == json.loads(stored)


def test_an_analysis_names_its_sample_by_a_random_uuid_unless_a_uid_is_passed() -> None:
    uids = {make_sample(TEXT).uid for _ in range(3)}
    assert len(uids) == 3
    for uid in uids:
        prefix, _, rest = uid.partition("-")
        assert prefix == "analyze"
        parsed = uuid.UUID(rest)
        assert (parsed.version, str(parsed)) == (4, rest)
    assert make_sample(TEXT, uid="mine").uid == "mine"
